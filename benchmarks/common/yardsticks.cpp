#include "benchmarks/common/yardsticks.hpp"

#include <cstring>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardstick_block.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::bench {
namespace {

void copy_plainly(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace

const char* to_string(RingLayout layout) noexcept {
  switch (layout) {
    case RingLayout::mark_first:
      return "mark_first";
    case RingLayout::mark_last:
      return "mark_last";
    case RingLayout::spread:
      return "spread";
  }
  return "unknown";
}

std::uint64_t sum_words(const std::byte* data, std::size_t bytes) noexcept {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
  std::uint64_t sums[4] = {};  // four chains, so that the loads are the limit and not the additions
  std::size_t at = 0;
  for (const std::size_t count = bytes / sizeof(std::uint64_t); at + 4 <= count; at += 4) {
    for (std::size_t chain = 0; chain < 4; ++chain) sums[chain] += words[at + chain];
  }
  for (; at < bytes / sizeof(std::uint64_t); ++at) sums[0] += words[at];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::size_t Yardsticks::block_bytes() noexcept { return sizeof(Block); }

Yardsticks::Yardsticks(std::byte* block, Role role)
    : block_(reinterpret_cast<Block*>(block)), pair_(&block_->page, role) {
  if (role != Role::sender) return;
  bulk_source_ = filled_source(kBulkBytes);
  medium_sources_ = filled_source(kMediumSources * kMediumBytes);
}

Yardsticks::~Yardsticks() = default;

std::byte* Yardsticks::bulk_target() const noexcept { return block_->bulk; }

// Word i is i, so that a missing, doubled or displaced part changes the sum.
std::unique_ptr<std::byte[]> Yardsticks::filled_source(std::size_t bytes) {
  auto source = std::make_unique<std::byte[]>(bytes);
  for (std::uint64_t word = 0; word < bytes / sizeof word; ++word) {
    std::memcpy(source.get() + word * sizeof word, &word, sizeof word);
  }
  return source;
}

// Both ranks call it: the peer with the sum that it found, the sender with the one that it sent.
void Yardsticks::check_sum(std::uint64_t mine, std::uint64_t expected, const char* what) {
  constexpr std::uint64_t kExactInDouble = (std::uint64_t{1} << 50) - 1;
  const std::uint64_t value = (pair_.is_sender() ? expected : mine) & kExactInDouble;
  const double theirs = pair_.exchange(static_cast<double>(value));
  if (theirs == static_cast<double>(value)) return;
  throw std::runtime_error(
      fmt::format("the yardstick {} lost data on the way: sums {} and {}", what, value, theirs));
}

double Yardsticks::hand_over_ns(std::uint64_t round_trips) {
  return pair_.hand_over_ns(round_trips);
}

double Yardsticks::copy_gbs(const CopyPlan& plan) {
  std::atomic<std::uint64_t>& flag = block_->page.ping.value;
  std::atomic<std::uint64_t>& answer = block_->page.pong.value;
  const CopyPlan::Copy copy = plan.copy != nullptr ? plan.copy : copy_plainly;
  // The flags count down from the top, away from the ping-pong's numbers, and end where they began.
  pair_.meet();
  const std::uint64_t old_flag = flag.load(std::memory_order_relaxed);
  std::uint64_t sum = 0;
  double copying_ns = 0;
  double all_ns = 0;
  for (std::uint32_t round = 0; round < plan.copies; ++round) {
    const std::uint64_t mark = ~std::uint64_t{round};
    if (pair_.is_sender()) {
      const Stopwatch watch;
      copy(plan.target, plan.source, plan.bytes);
      copying_ns += watch.elapsed_ns();
      flag.store(mark, std::memory_order_release);
      while (answer.load(std::memory_order_acquire) != mark) {
      }
      all_ns += watch.elapsed_ns();
    } else {
      while (flag.load(std::memory_order_acquire) != mark) {
      }
      if (plan.with_sum || round == 0) sum = sum_words(plan.target, plan.bytes);
      answer.store(mark, std::memory_order_release);
    }
  }
  pair_.meet();
  if (pair_.is_sender()) {
    flag.store(old_flag, std::memory_order_relaxed);
    answer.store(old_flag, std::memory_order_relaxed);
  }
  check_sum(sum, pair_.is_sender() ? sum_words(plan.source, plan.bytes) : 0, "copy");
  const double total = static_cast<double>(plan.bytes) * plan.copies;
  return pair_.from_sender(total / (plan.with_sum ? all_ns : copying_ns));
}

double Yardsticks::memcpy_1m_gbs(bool with_sum) {
  CopyPlan plan;
  plan.target = bulk_target();
  plan.source = bulk_source();
  plan.bytes = std::size_t{1} << 20;
  plan.with_sum = with_sum;
  plan.copies = 16;
  return copy_gbs(plan);
}

double Yardsticks::memcpy_64m_gbs(bool with_sum) {
  CopyPlan plan;
  plan.target = bulk_target();
  plan.source = bulk_source();
  plan.bytes = kBulkBytes;
  plan.with_sum = with_sum;
  return copy_gbs(plan);
}

double Yardsticks::futex_wake_ns(std::uint32_t messages) {
  constexpr double kIdleNs = 1.1e6;
  const auto me = static_cast<std::size_t>(pair_.role());
  AtomicWord<std::uint32_t>& mine = block_->page.wake[me].value;
  AtomicWord<std::uint32_t>& theirs = block_->page.wake[1 - me].value;
  std::uint32_t received = mine.load(std::memory_order_relaxed);  // before anything can be sent
  pair_.meet();
  const auto await_one = [&] {
    while (mine.load(std::memory_order_acquire) == received) futex_wait(mine, received, -1);
    ++received;
  };
  const auto send_one = [&] {
    theirs.fetch_add(1, std::memory_order_release);
    futex_wake(theirs, 1);
  };
  std::vector<double> halves;
  for (std::uint32_t message = 0; message < messages; ++message) {
    if (!pair_.is_sender()) {
      await_one();
      send_one();
      continue;
    }
    const Stopwatch idle;
    while (idle.elapsed_ns() < kIdleNs) {
    }
    const Stopwatch watch;
    send_one();
    await_one();
    halves.push_back(watch.elapsed_ns() / 2);
  }
  return pair_.from_sender(median(halves));
}

}  // namespace viaduct::bench
