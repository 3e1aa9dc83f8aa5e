#pragma once
/// @file
/// The lock of VIPL's calls. While one thread alone calls, it costs two plain stores: that thread
/// owns the lock. The first call of another thread revokes that for good, by an expedited memory
/// barrier, and from then on a mutex is taken. So a program of one thread pays for no locked
/// instruction, and a program of many is safe.

#include <atomic>
#include <cstdint>
#include <mutex>

namespace viaduct::via::vipl {

class Lock {
 public:
  /// Not recursive.  @return what leave() wants to know: whether it was had without the mutex.
  [[nodiscard]] bool enter() noexcept {
    if (owner_.load(std::memory_order_relaxed) == me()) [[likely]] {
      inside_.store(1, std::memory_order_relaxed);
      // The compiler keeps the order; the revoking thread's barrier makes the processor keep it.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (!shared_.load(std::memory_order_relaxed)) [[likely]]
        return true;
      inside_.store(0, std::memory_order_release);
    }
    return enter_slow();
  }
  void leave(bool alone) noexcept {
    if (alone) [[likely]]
      inside_.store(0, std::memory_order_release);
    else
      mutex_.unlock();
  }
  /// Whether more than one thread has called.
  [[nodiscard]] bool is_shared() const noexcept { return shared_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] static const void* me() noexcept {
    static thread_local char token;
    return &token;
  }
  [[gnu::cold, gnu::noinline]] bool enter_slow() noexcept;

  std::atomic<const void*> owner_{nullptr};
  std::atomic<std::uint32_t> inside_{0};  // the owner holds the lock
  std::atomic<bool> shared_{false};
  std::mutex mutex_;
};

}  // namespace viaduct::via::vipl
