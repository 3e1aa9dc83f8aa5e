#include "benchmarks/common/pair.hpp"

#include <immintrin.h>
#include <sched.h>
#include <algorithm>
#include <bit>

#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::bench {

Pair::Pair(PairPage* page, Role role) noexcept
    : page_(page),
      role_(role),
      encounters_(
          page->arrived[static_cast<std::size_t>(role)].value.load(std::memory_order_relaxed)),
      ticks_sent_(page->ping.value.load(std::memory_order_relaxed)) {}

void Pair::meet() noexcept {
  constexpr int kSpins = 2'000;
  constexpr int kYields = 50;
  const auto mine = static_cast<std::size_t>(role_);
  AtomicWord<std::uint32_t>& theirs = page_->arrived[1 - mine].value;
  ++encounters_;
  page_->arrived[mine].value.store(encounters_, std::memory_order_release);
  futex_wake(page_->arrived[mine].value, 1);
  for (int looks = 0;; ++looks) {
    const std::uint32_t seen = theirs.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(seen - encounters_) >= 0) return;
    if (progress_) {
      progress_();
      sched_yield();
    } else if (looks < kSpins) {
      _mm_pause();
    } else if (looks < kSpins + kYields) {
      sched_yield();
    } else {
      futex_wait(theirs, seen, -1);
    }
  }
}

double Pair::exchange(double mine) noexcept {
  const auto me = static_cast<std::size_t>(role_);
  page_->told[me].value.store(std::bit_cast<std::uint64_t>(mine), std::memory_order_relaxed);
  meet();
  const auto other = page_->told[1 - me].value.load(std::memory_order_relaxed);
  meet();  // no rank writes its next value before the other has read this one
  return std::bit_cast<double>(other);
}

double Pair::from_sender(double mine) noexcept {
  const double theirs = exchange(mine);
  return is_sender() ? mine : theirs;
}

double Pair::idle_code_ns() noexcept {
  constexpr int kTurns = 5'000;  // some 60 us
  meet();
  const Stopwatch watch;
  for (int turn = 0; turn < kTurns; ++turn) asm volatile(".rept 200\n nop\n .endr");
  const double mine = watch.elapsed_ns() / kTurns;
  return std::max(mine, exchange(mine));
}

std::uint64_t Pair::busy_divisor() noexcept {
  constexpr std::uint64_t kTrips = 50'000;  // so many that other programs have their turns
  constexpr double kUsualNs = 250;          // between cores that are far from each other
  constexpr double kBusyNs = 1'000;         // longer than between any two cores without other load
  constexpr double kMost = 1'000;
  const double mean = hand_over_ns(kTrips);
  return mean < kBusyNs ? 1 : static_cast<std::uint64_t>(std::min(kMost, mean / kUsualNs));
}

double Pair::hand_over_ns(std::uint64_t round_trips) noexcept {
  std::atomic<std::uint64_t>& ping = page_->ping.value;
  std::atomic<std::uint64_t>& pong = page_->pong.value;
  const std::uint64_t first = ticks_sent_ + 1;
  const std::uint64_t last = ticks_sent_ + round_trips;
  ticks_sent_ = last;
  meet();
  const Stopwatch watch;
  if (is_sender()) {
    for (std::uint64_t tick = first; tick <= last; ++tick) {
      ping.store(tick, std::memory_order_release);
      while (pong.load(std::memory_order_acquire) != tick) {
      }
    }
  } else {
    for (std::uint64_t tick = first; tick <= last; ++tick) {
      while (ping.load(std::memory_order_acquire) != tick) {
      }
      pong.store(tick, std::memory_order_release);
    }
  }
  return from_sender(watch.elapsed_ns() / static_cast<double>(2 * round_trips));
}

}  // namespace viaduct::bench
