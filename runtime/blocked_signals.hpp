#pragma once
/// @file
/// Threads of the library's own take no signals, which are for the program's threads.

#include <signal.h>

namespace viaduct {

/// While it lives, the calling thread takes no signals, and a thread that it starts never does.
class BlockedSignals {
 public:
  /// Never waits.
  BlockedSignals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace viaduct
