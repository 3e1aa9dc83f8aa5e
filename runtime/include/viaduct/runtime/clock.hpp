#pragma once
/// @file
/// Time for spinning and for benchmarks: the invariant time-stamp counter where the CPU has one.

#include <cstdint>

namespace viaduct {

/// Ticks of the time-stamp counter; not serialising.  Cost: about 20 cycles.
[[nodiscard]] inline std::uint64_t ticks_now() noexcept { return __builtin_ia32_rdtsc(); }

/// CLOCK_MONOTONIC in nanoseconds.  Cost: one vDSO call.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

/// Ticks per nanosecond, calibrated once per process against CLOCK_MONOTONIC.  Blocks about 2 ms
/// the first time, spinning.  Call from any thread.
[[nodiscard]] double ticks_per_ns() noexcept;

/// @return whether the CPU says that its time-stamp counter is invariant (constant rate, never
/// stops).
[[nodiscard]] bool has_invariant_tsc() noexcept;

}  // namespace viaduct
