#include "viaduct/runtime/clock.hpp"

#include <cpuid.h>
#include <ctime>

namespace viaduct {
namespace {

// The counter read between two reads of the clock; the pair with the least time between them is the
// least disturbed.
struct Sample {
  std::uint64_t ns;
  std::uint64_t ticks;
};

Sample sample() noexcept {
  Sample best{0, 0};
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t ticks = ticks_now();
    const std::uint64_t after = monotonic_ns();
    if (after - before < least) {
      least = after - before;
      best = {before + (after - before) / 2, ticks};
    }
  }
  return best;
}

double calibrate() noexcept {
  constexpr std::uint64_t kCalibrationNs = 2'000'000;
  const Sample first = sample();
  while (monotonic_ns() - first.ns < kCalibrationNs) {
  }
  const Sample last = sample();
  return static_cast<double>(last.ticks - first.ticks) / static_cast<double>(last.ns - first.ns);
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

double ticks_per_ns() noexcept {
  static const double rate = calibrate();
  return rate;
}

bool has_invariant_tsc() noexcept {
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantTsc = 1U << 8U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
}

}  // namespace viaduct
