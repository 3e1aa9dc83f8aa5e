#pragma once
/// @file
/// Completion of split-phase operations, and barriers.

#include "viaduct/splitc/detail/checked_calls.hpp"

namespace viaduct::splitc {

/// Blocks until all gets and puts of this process are complete: values of gets are here, and values
/// of puts are in place and seen by every process that synchronises with this one afterwards. A
/// full fence. <unistd.h> declares a function of this name too: where both are visible write
/// splitc::sync().
void sync();
/// Whether sync() would return at once.  Progress: a poll point.
[[nodiscard]] bool is_sync();

// Checked sources have them from detail/checked_calls.hpp.
#if !(VIADUCT_CHECKED + 0)
/// Collective. Blocks until every process has made the call, polling meanwhile. A full fence. A
/// barrier completes no gets, puts or stores.  Cost: log2(PROCS) rounds of one line each.
void barrier();
/// The first half of a barrier: says that this process has arrived. Between the two halves a
/// process may do anything except make other collective calls or return from splitc_main.
/// Collective. Never waits for a process to arrive. Where messages carry the barrier (path message,
/// other hosts) waits for the first connection to a process and for credits, polling meanwhile.
void barrier_notify();
#endif
/// The second half: blocks until all processes have come.  Collective. Progress: polls meanwhile.
void barrier_wait();
/// Whether barrier_wait() would return at once.  Progress: a poll point. Waits as barrier_notify()
/// does, and no longer.
[[nodiscard]] bool barrier_try();

/// A poll point and nothing else: handles the messages that have come.  Waits for no other program,
/// and for the device only while it copies blocks of other hosts. Cost: as a light poll (two loads)
/// when none has.
void poll();

namespace detail {

/// Whether any two processes of the job share no memory (docs/splitc.md).
[[nodiscard]] bool any_off_node();
/// For waits that must not poll: moves sent messages on, and handles none that have come.
void post_backlog();

}  // namespace detail

}  // namespace viaduct::splitc
