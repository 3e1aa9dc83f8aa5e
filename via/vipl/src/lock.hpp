#pragma once
/// @file
/// The lock of VIPL's calls. In a process of one thread the short ways (fast.hpp) take none. While
/// one thread of several alone calls, the lock costs two plain stores: that thread owns it. The
/// first call of another thread revokes that for good, by an expedited memory barrier, and from
/// then on a mutex is taken. So a program of one thread pays for no locked instruction, and a
/// program of many is safe.

#include <atomic>
#include <cstdint>
#include <mutex>

namespace viaduct::via::vipl {

/// Whether this thread owns the process' lock. Initial-exec, so that no call finds the word.
extern constinit thread_local bool owns_lock [[gnu::tls_model("initial-exec")]];

/// There is one in a process.
class Lock {
 public:
  /// Not recursive.  @return whether the caller has it without the mutex; false: it does not have
  /// it.
  [[nodiscard, gnu::always_inline]] bool enter_alone() noexcept {
    if (!owns_lock) [[unlikely]]
      return false;
    inside_.store(1, std::memory_order_relaxed);
    // The compiler keeps the order; the revoking thread's barrier makes the processor keep it.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!shared_.load(std::memory_order_relaxed)) [[likely]]
      return true;
    leave_alone();
    return false;
  }
  [[gnu::always_inline]] void leave_alone() noexcept {
    inside_.store(0, std::memory_order_release);
  }
  /// Not recursive.  @return the argument of leave(): whether the lock was taken without the mutex.
  [[nodiscard]] bool enter() noexcept { return enter_alone() || enter_slow(); }
  void leave(bool alone) noexcept {
    if (alone) [[likely]]
      leave_alone();
    else
      mutex_.unlock();
  }
  /// Whether more than one thread has called.
  [[nodiscard]] bool is_shared() const noexcept { return shared_.load(std::memory_order_relaxed); }

 private:
  [[gnu::cold, gnu::noinline]] bool enter_slow() noexcept;

  std::atomic<std::uint32_t> inside_{0};  // the owner holds the lock
  std::atomic<bool> shared_{false};
  bool has_owner_ = false;  // under the mutex
  std::mutex mutex_;
};

}  // namespace viaduct::via::vipl
