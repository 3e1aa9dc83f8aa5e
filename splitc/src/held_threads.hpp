#pragma once
// Holding the other threads of this process.

#include <sys/types.h>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "splitc/src/blocked_signals.hpp"

namespace viaduct::splitc::detail {

/// While this object lives, all other threads of the process stand still in a handler of SIGURG:
/// nothing but the object's own thread writes to the process' memory. The objects of this class
/// follow one another. A held thread may hold any lock, that of malloc too: between construction
/// and destruction the owner makes system calls and takes no lock. A system call that a held thread
/// waited in ends with EINTR or goes on, as after any signal. The owner blocks all signals: its
/// handlers run after the destruction. A SIGURG that is the program's own goes to the program's
/// handler, after the destruction or shortly before it.
class HeldThreads {
 public:
  static constexpr std::uint64_t kPatienceNs = 2'000'000'000;
  // A new thread blocks all signals until it runs. The thread sanitizer's thread always does.
#ifdef __SANITIZE_THREAD__
  static constexpr std::uint64_t kBlockedNs = 0;
#else
  static constexpr std::uint64_t kBlockedNs = 100'000'000;
#endif

  /// Waits until all other threads are held, for 2 s at most. Where a thread blocks SIGURG for more
  /// than @p blocked_ns, no thread is held.  Cost: some system calls, one more for each thread.
  explicit HeldThreads(std::uint64_t blocked_ns = kBlockedNs) noexcept;
  /// Lets the threads go, gives SIGURG its earlier action and the owner its earlier signals.
  ~HeldThreads();
  HeldThreads(const HeldThreads&) = delete;
  HeldThreads& operator=(const HeldThreads&) = delete;

  /// @return whether no other thread runs.
  [[nodiscard]] bool all() const noexcept { return all_; }
  /// @return how many threads the process has, this one among them; 0: that is not known.
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  /// @return the number of a thread that blocks SIGURG; 0: there is none, or all are held.
  [[nodiscard]] pid_t unheld() const noexcept { return all_ ? 0 : unheld_; }

  static constexpr std::size_t kMostThreads = 256;
  /// Numbers of threads, as the kernel has them.
  struct Threads {
    std::array<pid_t, kMostThreads> id;
    std::size_t count = 0;
    bool are_known = false;
  };

 private:
  [[nodiscard]] bool hold(std::uint64_t blocked_ns) noexcept;
  [[nodiscard]] bool signal(const Threads& threads, Threads& signalled) noexcept;

  SignalMask mask_before_;
  bool has_handler_ = false;
  bool all_ = false;
  std::size_t threads_ = 0;
  pid_t unheld_ = 0;
};

}  // namespace viaduct::splitc::detail
