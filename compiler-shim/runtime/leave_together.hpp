#pragma once
// After a collective call: no process goes on before all have stopped polling.

namespace viaduct {
class Job;
}

namespace viaduct::shim {

/// Collective; once, before the first leave_together().
void prepare_to_leave_together(Job& job);

/// A second barrier that does not poll. A process ends the collective call before it when it knows
/// that all have arrived; others may still wait in that call, and poll. Stores that the first
/// process makes from then on must not be delivered to them there: they would arrive before the end
/// of a call after which they were sent. Programs rely on that order: a buffer is read after a
/// barrier and written to by others after the next one, and stores to it are delivered where its
/// owner polls.
///
/// Blocks      until all have ended the call before; polls nothing, so nothing is delivered.
/// Errors      throws Error naming @p operation when a process is lost.
/// Cost        log2(PROCS) rounds of one line each; where processes share no memory, the job's
///             barrier.
void leave_together(const char* operation);

}  // namespace viaduct::shim
