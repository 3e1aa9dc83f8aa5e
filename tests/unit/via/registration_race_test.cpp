// The registration cache while other threads map and unmap, and at random.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/via/page_holder.hpp"
#include "via/registration_cache.hpp"
#include "via/src/mapping_monitor.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via {
namespace {

using testing::map_pages;
using testing::page_bytes;
using testing::PageHolder;
using testing::stamp;

constexpr std::size_t kPages = 1;
constexpr std::uint64_t kTimeNs = 1'500'000'000;  // of each test, or longer on a busy machine:
constexpr std::uint64_t kLeastConfirmed = 10;     // until more than so many have been confirmed

struct Tally {
  std::atomic<std::uint64_t> stale_and_confirmed{0}, stale{0}, confirmed{0}, wrong{0}, hits{0};
};

/// Maps, asks, unmaps: the kernel gives the same addresses to all threads in turn, also while a
/// munmap() of one of them has not returned.
void map_and_ask(bool exact, Tally& tally) {
  PageHolder::Log log;
  RegistrationCache cache(std::make_unique<PageHolder>(log), {64 * page_bytes(), 16});
  const std::uint64_t start = monotonic_ns();
  while (monotonic_ns() - start < kTimeNs || (!exact && tally.confirmed <= kLeastConfirmed)) {
    std::byte* const pages = map_pages(kPages);
    const std::size_t bytes = kPages * page_bytes();
    if (exact) {
      const auto pin = cache.get(pages, bytes);
      if (!log.holder->holds(pin.key(), pages, bytes)) ++tally.wrong;
    } else {
      const auto pin = cache.get_early(pages, bytes);
      if (pin) {
        const bool good = log.holder->holds(pin.key(), pages, bytes);
        const bool confirmed = cache.confirm(pin);
        if (!good) ++tally.stale;
        if (confirmed) ++tally.confirmed;
        if (!good && confirmed) ++tally.stale_and_confirmed;
      }
    }
    ::munmap(pages, bytes);
  }
  tally.hits += cache.counters().hits;
}

/// The thread that reads the kernel's events is late: as on a busy machine.
void slow_down_monitor() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    sched_param lowest{};
    if (name == "viaduct-maps")
      ::sched_setscheduler(std::stoi(task.path().filename().string()), SCHED_IDLE, &lowest);
  }
}

void run(bool exact, Tally& tally) {
  const auto monitor = MappingMonitor::shared();
  slow_down_monitor();
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&] { map_and_ask(exact, tally); });
  for (std::thread& thread : threads) thread.join();
}

class RegistrationRace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string problem = RegistrationCache::probe(); !problem.empty())
      GTEST_SKIP() << problem;
  }
};

TEST_F(RegistrationRace, WhatIsConfirmedIsWhatIsThere) {
  Tally tally;
  run(false, tally);
  EXPECT_EQ(tally.stale_and_confirmed, 0U);
  RecordProperty("stale_unconfirmed", std::to_string(tally.stale));
  std::printf("%lu confirmed, %lu stale ones found out\n", tally.confirmed.load(),
              tally.stale.load());
}

TEST_F(RegistrationRace, ExactOnesAreWhatIsThere) {
  Tally tally;
  run(true, tally);
  EXPECT_EQ(tally.wrong, 0U);
}

/// Others free memory under malloc's locks all the time, which waits for the reading thread.
TEST_F(RegistrationRace, AllocatorsThatTrimDoNotBlock) {
  const auto allocate = [](std::size_t bytes) {
    std::unique_ptr<std::byte, decltype(&std::free)> block(
        static_cast<std::byte*>(std::malloc(bytes)), &std::free);
    stamp(block.get(), bytes);
    return block;
  };
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int t = 0; t < 2; ++t)
    others.emplace_back([&] {
      while (!stop) {
        std::vector<decltype(allocate(1))> blocks;
        for (std::size_t i = 1; i < 20; ++i) blocks.push_back(allocate(i * 5 * page_bytes()));
      }
    });
  PageHolder::Log log;
  log.keep_pages = false;
  RegistrationCache cache(std::make_unique<PageHolder>(log), {4096 * page_bytes(), 64});
  const std::uint64_t start = monotonic_ns();
  for (std::size_t i = 0; i < 10 || monotonic_ns() - start < kTimeNs; ++i) {
    const std::size_t bytes = (8 + i % 60) * page_bytes();
    const auto block = allocate(bytes);
    EXPECT_TRUE(cache.get(block.get(), bytes));
  }
  stop = true;
  for (std::thread& thread : others) thread.join();
  EXPECT_FALSE(log.released_in_use);
}

/// Also run with a kernel that refuses userfaultfd (CMakeLists.txt).
TEST(RegistrationUnwatched, NothingIsCachedWhereTheKernelDoesNotTell) {
  PageHolder::Log log;
  RegistrationCache cache(std::make_unique<PageHolder>(log), {64 * page_bytes(), 16});
  std::byte* const pages = map_pages(4);
  const bool works = cache.caches();
  EXPECT_EQ(works, cache.problem().empty());
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(static_cast<bool>(cache.get_early(pages, 4 * page_bytes())), works);
    const auto pin = cache.get(pages, 4 * page_bytes());
    EXPECT_TRUE(cache.confirm(pin));
    EXPECT_EQ(log.enrolled, works ? 1 : i);
    EXPECT_EQ(log.bytes, 4 * page_bytes());
  }
  EXPECT_EQ(log.bytes, works ? 4 * page_bytes() : 0);
  ::munmap(pages, 4 * page_bytes());
}

/// Random operations on an arena of addresses; a model knows what is mapped and writable.
class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {
    base_ = static_cast<std::byte*>(::mmap(nullptr, kArena * page_bytes(), PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    log_.read_only = [this](const std::byte* at, std::size_t bytes) {
      for (std::size_t i = 0; i < bytes / page_bytes(); ++i)
        if (state_[index_of(at) + i] == State::read_only) return true;
      return false;
    };
    cache_ = std::make_unique<RegistrationCache>(
        std::make_unique<PageHolder>(log_), RegistrationCache::Limits{kLimit * page_bytes(), 12});
  }
  ~Random() {
    pins_.clear();
    cache_.reset();
    ::munmap(base_, kArena * page_bytes());
  }

  void step() {
    const std::size_t at = below(kArena);
    const std::size_t count = 1 + below(std::min<std::size_t>(10, kArena - at));
    switch (below(12)) {
      case 0:
        return set(at, count, State::writable, [&] { map_pages(count, page(at)); });
      case 1:
        return set(at, count, State::none, [&] {
          (void)::mmap(page(at), count * page_bytes(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        });
      case 2:
        if (!all(at, count, State::writable)) return;
        (void)::madvise(page(at), count * page_bytes(), MADV_DONTNEED);
        return stamp(page(at), count * page_bytes());
      case 3:
        if (all(at, count, State::writable))
          set(at, count, State::read_only,
              [&] { (void)::mprotect(page(at), count * page_bytes(), PROT_READ); });
        return;
      case 4:
        if (all(at, count, State::read_only))
          set(at, count, State::writable,
              [&] { (void)::mprotect(page(at), count * page_bytes(), PROT_READ | PROT_WRITE); });
        return;
      case 5:
        return move(at, count);
      case 6:
        if (!pins_.empty()) {
          const auto which = pins_.begin() + static_cast<std::ptrdiff_t>(below(pins_.size()));
          log_.in_use.erase(which->second);
          pins_.erase(which);
        }
        return;
      default:
        return ask(at, count);
    }
  }

  void check() const {
    EXPECT_LE(log_.bytes, kLimit * page_bytes());
    EXPECT_EQ(log_.bytes, cache_->counters().pinned_bytes);
    EXPECT_FALSE(log_.released_in_use);
  }
  [[nodiscard]] const RegistrationCache::Counters& counters() const { return cache_->counters(); }
  std::uint64_t good = 0, bad = 0, empty = 0;

 private:
  enum class State : std::uint8_t { none, read_only, writable };
  static constexpr std::size_t kArena = 48;
  static constexpr std::size_t kLimit = 40;

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  [[nodiscard]] std::byte* page(std::size_t at) const { return base_ + at * page_bytes(); }
  [[nodiscard]] std::size_t index_of(const std::byte* at) const {
    return static_cast<std::size_t>(at - base_) / page_bytes();
  }
  [[nodiscard]] bool all(std::size_t at, std::size_t count, State state) const {
    for (std::size_t i = at; i < at + count; ++i)
      if (state_[i] != state) return false;
    return true;
  }
  template <class Do>
  void set(std::size_t at, std::size_t count, State state, const Do& what) {
    what();
    for (std::size_t i = at; i < at + count; ++i) state_[i] = state;
  }

  void move(std::size_t at, std::size_t count) {
    const std::size_t to = below(kArena - count + 1);
    if (!all(at, count, State::writable) || (to < at + count && at < to + count)) return;
    // Of one mapping only; what divides them is the kernel's affair.
    if (::mremap(page(at), count * page_bytes(), count * page_bytes(),
                 MREMAP_MAYMOVE | MREMAP_FIXED, page(to)) == MAP_FAILED) {
      // It may have unmapped the place it was to go to, and moved some of several mappings.
      set(at, count, State::none, [&] { reserve(at, count); });
      return set(to, count, State::none, [&] { reserve(to, count); });
    }
    set(at, count, State::none, [&] { reserve(at, count); });
    for (std::size_t i = to; i < to + count; ++i) state_[i] = State::writable;
  }
  void reserve(std::size_t at, std::size_t count) {
    (void)::mmap(page(at), count * page_bytes(), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  }

  void ask(std::size_t at, std::size_t count) {
    bool mapped = true;
    bool writable = true;
    for (std::size_t i = at; i < at + count; ++i) {
      mapped = mapped && state_[i] != State::none;
      writable = writable && state_[i] == State::writable;
    }
    if (!mapped) return;
    const std::size_t bytes = count * page_bytes();
    const std::byte* const source = page(at);
    const bool exact = below(2) == 0;
    RegistrationCache::Pin pin;
    try {
      if (below(2) == 0)
        pin = exact ? cache_->get(source, bytes) : cache_->get_early(source, bytes);
      else if (writable)
        pin = exact ? cache_->get(page(at), bytes) : cache_->get_early(page(at), bytes);
      else
        return;
    } catch (const Error&) {  // what is in use leaves no room
    }
    if (!pin) {
      EXPECT_FALSE(pins_.empty()) << "there was room";
      ++empty;
      return;
    }
    ++(log_.holder->holds(pin.key(), page(at), bytes) ? good : bad);
    if (below(4) == 0) {
      const std::uint32_t key = pin.key();
      if (log_.in_use.insert(key).second) pins_.emplace_back(std::move(pin), key);
    }
  }

  std::mt19937_64 random_;
  std::byte* base_;
  std::array<State, kArena> state_{};
  PageHolder::Log log_;
  std::unique_ptr<RegistrationCache> cache_;
  std::vector<std::pair<RegistrationCache::Pin, std::uint32_t>> pins_;
};

TEST_F(RegistrationRace, RandomOperationsAgainstAModel) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (int i = 0; i < 1500; ++i) {
      random.step();
      random.check();
      ASSERT_EQ(random.bad, 0U) << "after " << i << " steps";
    }
    EXPECT_GT(random.good, 50U);
    EXPECT_GT(random.counters().hits, 5U);
    EXPECT_GT(random.counters().invalidations, 5U);
  }
}

}  // namespace
}  // namespace viaduct::via
