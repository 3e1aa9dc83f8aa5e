#pragma once
// Blocking all signals of a thread for a while.

#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>

namespace viaduct::splitc::detail {

/// The signals that a thread blocks, one bit each, as the kernel has them. The C library's own
/// functions leave out the signals that the library keeps for itself: cancellation and set*id().
using SignalMask = std::uint64_t;

/// Sets this thread's mask and answers what it was. Cost: a system call, nothing else.
inline SignalMask set_blocked_signals(SignalMask mask) noexcept {
  SignalMask before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

/// No handler runs in this thread until the answer is given to set_blocked_signals(). Signals that
/// come meanwhile wait.
[[nodiscard]] inline SignalMask block_all_signals() noexcept {
  return set_blocked_signals(~SignalMask{0});
}

}  // namespace viaduct::splitc::detail
