#pragma once
/// @file
/// The yardstick of barriers: bare processes that meet again and again, by a counter in shared
/// memory.

#include <cstdint>

namespace viaduct::bench {

/// How a bare process waits for the others: looks without a pause, which needs a core for each;
/// looks again after each sched_yield; sleeps in a barrier of the C library, which is a futex.
enum class BarrierWait : std::uint8_t { spin, yield, futex };

/// Forks @p count plain processes, unpinned, which meet for @p window_ms. @return the time of one
/// barrier in ns.
///
/// Blocks      for the window; the caller sleeps meanwhile.  Throws Error when a process cannot be
/// forked or does not end well.
[[nodiscard]] double bare_barrier_ns(std::uint32_t count, BarrierWait wait,
                                     std::uint32_t window_ms = 50);

}  // namespace viaduct::bench
