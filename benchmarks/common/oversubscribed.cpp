#include "benchmarks/common/oversubscribed.hpp"

#include <sched.h>
#include <atomic>
#include <vector>

#include "benchmarks/common/forked.hpp"
#include "benchmarks/common/statistics.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::bench {
namespace {

struct PairLines {
  struct alignas(kDestructivePairBytes) Word {
    AtomicWord<std::uint32_t> value;
  };
  Word to[2];  // by receiver
  alignas(kDestructivePairBytes) std::uint64_t round_trips;
  double elapsed_ns;
};

constexpr std::uint32_t kStop = 0xffffffff;

// Waits until the word is no longer `old`; returns the new value.
std::uint32_t await_change(const AtomicWord<std::uint32_t>& word, std::uint32_t old,
                           PairWait wait) noexcept {
  for (;;) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (seen != old) return seen;
    if (wait == PairWait::yield) {
      sched_yield();
    } else {
      futex_wait(word, old, -1);
    }
  }
}

void send(AtomicWord<std::uint32_t>& word, std::uint32_t value, PairWait wait) noexcept {
  word.store(value, std::memory_order_release);
  if (wait == PairWait::futex) futex_wake(word, 1);
}

void lead(PairLines& pair, PairWait wait, std::uint64_t window_ns) noexcept {
  const std::uint64_t start = monotonic_ns();
  std::uint32_t trip = 0;
  std::uint64_t now = start;
  for (; now - start < window_ns; now = monotonic_ns()) {
    send(pair.to[1].value, trip + 1, wait);
    await_change(pair.to[0].value, trip, wait);
    ++trip;
  }
  pair.elapsed_ns = static_cast<double>(now - start);
  pair.round_trips = trip;
  send(pair.to[1].value, kStop, wait);
}

void follow(PairLines& pair, PairWait wait) noexcept {
  for (std::uint32_t seen = 0;;) {
    seen = await_change(pair.to[1].value, seen, wait);
    if (seen == kStop) return;
    send(pair.to[0].value, seen, wait);
  }
}

}  // namespace

double oversubscribed_rtt_ns(std::uint32_t ranks, PairWait wait, std::uint32_t window_ms) {
  const std::uint32_t pairs = ranks / 2;
  const MappedMemory memory = map_shared(pairs * sizeof(PairLines));
  auto* const lines = reinterpret_cast<PairLines*>(memory.get());
  run_forked(2 * pairs, "the oversubscribed ping-pong", [&](std::uint32_t number) {
    PairLines& pair = lines[number / 2];
    if (number % 2 == 0) {
      lead(pair, wait, std::uint64_t{window_ms} * 1'000'000);
    } else {
      follow(pair, wait);
    }
  });
  std::vector<double> round_trips;
  for (std::uint32_t pair = 0; pair < pairs; ++pair)
    round_trips.push_back(lines[pair].elapsed_ns / static_cast<double>(lines[pair].round_trips));
  return median(round_trips);
}

}  // namespace viaduct::bench
