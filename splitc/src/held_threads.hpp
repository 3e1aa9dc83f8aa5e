#pragma once
// Holding the other threads of this process.

#include <sys/types.h>
#include <array>
#include <csignal>
#include <cstddef>

namespace viaduct::splitc::detail {

/// While this object lives, all other threads of the process stand still in a handler of SIGURG:
/// nothing but the object's own thread writes to the process' memory. The objects of this class
/// follow one another. A held thread may hold any lock, that of malloc too: between construction
/// and destruction the owner makes system calls and takes no lock. A system call that a held thread
/// waited in ends with EINTR or goes on, as after any signal.
class HeldThreads {
 public:
  /// Waits until all other threads are held, for 2 s at most. Where a thread blocks SIGURG for more
  /// than 0.1 s, no thread is held.  Cost: some system calls, one more for each thread.
  HeldThreads() noexcept;
  /// Lets the threads go, and gives SIGURG its earlier action.
  ~HeldThreads();
  HeldThreads(const HeldThreads&) = delete;
  HeldThreads& operator=(const HeldThreads&) = delete;

  /// @return whether no other thread runs.
  [[nodiscard]] bool all() const noexcept { return all_; }
  /// @return how many threads the process has, this one among them; 0: that is not known.
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }

  static constexpr std::size_t kMostThreads = 256;
  /// Numbers of threads, as the kernel has them.
  struct Threads {
    std::array<pid_t, kMostThreads> id;
    std::size_t count = 0;
    bool are_known = false;
  };

 private:
  [[nodiscard]] bool hold() noexcept;
  [[nodiscard]] bool signal(const Threads& threads, Threads& signalled) noexcept;

  struct sigaction before_ {};
  bool has_handler_ = false;
  bool all_ = false;
  std::size_t threads_ = 0;
};

}  // namespace viaduct::splitc::detail
