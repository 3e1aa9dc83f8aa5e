#pragma once
/// @file
/// The yardstick of oversubscription: bare processes that ping-pong in pairs, more of them than
/// there are cores.

#include <cstdint>

namespace viaduct::bench {

/// How a bare process waits for its partner: looks again after each sched_yield, or sleeps on a
/// futex.
enum class PairWait : std::uint8_t { yield, futex };

/// Forks @p ranks plain processes (an even number), unpinned, over an anonymous shared map; ranks/2
/// pairs ping-pong at once through a line each way for @p window_ms. A pair's round trip is the
/// window divided by the number of its round trips; the median over the pairs is returned, in ns.
///
/// Blocks      for the window; the caller sleeps meanwhile, and so must every other rank of its
/// job. Throws Error when a process cannot be forked or does not end well.
[[nodiscard]] double oversubscribed_rtt_ns(std::uint32_t ranks, PairWait wait,
                                           std::uint32_t window_ms = 100);

}  // namespace viaduct::bench
