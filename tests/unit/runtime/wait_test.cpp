// Waiting: the stages of a wait, futexes between processes, the clock behind them.

#include "viaduct/runtime/wait.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <new>

#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace {

using viaduct::Backoff;
using Stage = Backoff::Stage;
using Word = viaduct::AtomicWord<std::uint32_t>;

/// Words that a forked child shares.
class SharedWords {
 public:
  SharedWords()
      : words_(static_cast<Word*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedWords() { ::munmap(words_, 4096); }
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;
  Word& operator[](int i) const { return words_[i]; }

 private:
  Word* words_;
};

template <typename Body>
pid_t in_child(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  return pid;
}

int exit_code(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Spins, and gives the core away when that takes long.
template <typename Condition>
void until(Condition condition) {
  for (int i = 0; !condition(); ++i)
    if (i >= 1000) ::sched_yield();
}

TEST(Backoff, WithoutCoresItYieldsThenBlocks) {
  Backoff backoff({0, 5});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(backoff.next(), Stage::yielded);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(backoff.next(), Stage::block_now);
  backoff.reset();
  EXPECT_EQ(backoff.next(), Stage::yielded);
}

TEST(Backoff, SpinsForItsTimeThenYieldsThenBlocks) {
  constexpr double kNs = 2e6;
  const auto ticks = static_cast<std::uint64_t>(kNs * viaduct::ticks_per_ns());
  Backoff backoff({ticks, 2});
  const std::uint64_t started = viaduct::ticks_now();
  Stage stage = Stage::spun;
  while (stage == Stage::spun) stage = backoff.next();
  EXPECT_GE(viaduct::ticks_now() - started, ticks);
  EXPECT_EQ(stage, Stage::yielded);
  EXPECT_EQ(backoff.next(), Stage::yielded);
  EXPECT_EQ(backoff.next(), Stage::block_now);
}

TEST(Backoff, ZeroPolicyBlocksAtOnce) {
  Backoff backoff({0, 0});
  EXPECT_EQ(backoff.next(), Stage::block_now);
}

TEST(Futex, TimesOut) {
  const SharedWords words;
  const std::uint64_t before = viaduct::monotonic_ns();
  EXPECT_FALSE(viaduct::futex_wait(words[0], 0, 3'000'000));
  EXPECT_GE(viaduct::monotonic_ns() - before, 3'000'000U);
  EXPECT_FALSE(viaduct::futex_wait(words[0], 0, 0));
}

TEST(Futex, ChangedWordDoesNotBlock) {
  const SharedWords words;
  words[0].store(1);
  EXPECT_TRUE(viaduct::futex_wait(words[0], 0, -1));
}

TEST(Futex, SignalEndsAWait) {
  const SharedWords words;
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval soon{};
  soon.it_value.tv_usec = 10'000;
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_TRUE(viaduct::futex_wait(words[0], 0, -1));
}

/// Two processes hand a number to and fro, each asleep meanwhile: a wake-up lost would hang, which
/// the limit shows.
TEST(Futex, WakesAcrossProcesses) {
  constexpr std::uint32_t kRounds = 500;
  constexpr std::int64_t kLimitNs = 60'000'000'000;
  const SharedWords words;
  const auto wait_for = [&](Word& word, std::uint32_t value) {
    for (std::uint32_t now = 0; (now = word.load()) != value;) {
      if (!viaduct::futex_wait(word, now, kLimitNs)) return false;
    }
    return true;
  };
  const pid_t child = in_child([&] {
    for (std::uint32_t i = 1; i <= kRounds; ++i) {
      if (!wait_for(words[0], i)) return 1;
      words[1].store(i);
      viaduct::futex_wake(words[1], 1);
    }
    return 0;
  });
  for (std::uint32_t i = 1; i <= kRounds; ++i) {
    words[0].store(i);
    viaduct::futex_wake(words[0], 1);
    ASSERT_TRUE(wait_for(words[1], i)) << "round " << i;
  }
  EXPECT_EQ(exit_code(child), 0);
}

TEST(Doorbell, RingsASleeperInAnotherProcess) {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const record = new (page) viaduct::RankRecord{};
  const pid_t child = in_child([&] {
    while (record->doorbell.load() == 0) {
      if (!viaduct::futex_wait(record->doorbell, 0, 20'000'000'000)) return 1;
    }
    return 0;
  });
  viaduct::ring_doorbell(*record);
  EXPECT_EQ(record->doorbell.load(), 1U);
  EXPECT_EQ(exit_code(child), 0);
  ::munmap(page, 4096);
}

/// The sleeper's side has the barrier, the sender's side has none: what the design of waiting rests
/// on. A lost wake-up is a sleeper that neither saw the message nor was seen asleep. As many rounds
/// as a second has room for, within bounds: where other processes take the cores, a round may take
/// the time that the kernel gives each of them.
TEST(Membarrier, NoWakeUpIsLostWithoutAFenceAtTheSender) {
  if (!viaduct::membarrier_register()) GTEST_SKIP() << "membarrier is refused here";
  constexpr std::uint32_t kRounds = 20'000;
  constexpr std::uint32_t kFewest = 100;
  constexpr std::uint32_t kEnd = ~std::uint32_t{0};
  const SharedWords words;
  Word& message = words[0];
  Word& sleeping = words[64];
  Word& turn = words[128];
  Word& seen = words[192];
  const pid_t child = in_child([&] {
    viaduct::membarrier_register();
    for (std::uint32_t i = 1;; ++i) {
      until([&] {
        const std::uint32_t now = turn.load(std::memory_order_acquire);
        return now == i || now == kEnd;
      });
      if (turn.load(std::memory_order_acquire) == kEnd) return 0;
      message.store(i, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // program order only
      seen.store(2 * i + sleeping.load(std::memory_order_relaxed), std::memory_order_release);
    }
  });
  const std::uint64_t start = viaduct::monotonic_ns();
  const auto is_more = [start](std::uint32_t round) {
    return round <= kFewest ||
           (round <= kRounds && viaduct::monotonic_ns() - start < 1'000'000'000);
  };
  for (std::uint32_t i = 1; is_more(i); ++i) {
    sleeping.store(0, std::memory_order_relaxed);
    turn.store(i, std::memory_order_release);
    sleeping.store(1, std::memory_order_relaxed);
    ASSERT_TRUE(viaduct::membarrier_global());
    const bool message_seen = message.load(std::memory_order_relaxed) == i;
    std::uint32_t answer = 0;
    until([&] { return (answer = seen.load(std::memory_order_acquire)) / 2 == i; });
    ASSERT_TRUE(message_seen || answer % 2 == 1) << "lost in round " << i;
  }
  turn.store(kEnd, std::memory_order_release);
  EXPECT_EQ(exit_code(child), 0);
}

TEST(Clock, TicksAndNanosecondsAgree) {
  if (!viaduct::has_invariant_tsc()) GTEST_SKIP() << "no invariant time-stamp counter";
  const double rate = viaduct::ticks_per_ns();
  EXPECT_GT(rate, 0.1);
  EXPECT_LT(rate, 20);
  // Each reading of the counter lies between two of the clock, however long the process was kept
  // from its core in between.
  const std::uint64_t first = viaduct::monotonic_ns();
  const std::uint64_t ticks = viaduct::ticks_now();
  const std::uint64_t start = viaduct::monotonic_ns();
  while (viaduct::monotonic_ns() - start < 20'000'000) {
  }
  const std::uint64_t end = viaduct::monotonic_ns();
  const auto elapsed = static_cast<double>(viaduct::ticks_now() - ticks);
  const std::uint64_t last = viaduct::monotonic_ns();
  EXPECT_GE(elapsed, rate * 0.98 * static_cast<double>(end - start));
  EXPECT_LE(elapsed, rate * 1.02 * static_cast<double>(last - first));
}

}  // namespace
