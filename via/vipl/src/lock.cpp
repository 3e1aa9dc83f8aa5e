#include "via/vipl/src/lock.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <chrono>
#include <thread>

namespace viaduct::via::vipl {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kSeesBarriers = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kSeesBarriers = false;
#else
constexpr bool kSeesBarriers = true;
#endif
#else
constexpr bool kSeesBarriers = true;
#endif

/// Whether revoke_barrier() works in this process. The thread sanitizer does not model it.
bool has_barrier() noexcept {
  static const bool has =
      kSeesBarriers &&
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return has;
}

/// Every thread of the process has a full barrier behind what it has done so far.
void revoke_barrier() noexcept {
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace

bool Lock::enter_slow() noexcept {
  mutex_.lock();
  if (shared_.load(std::memory_order_relaxed)) return false;
  if (owner_.load(std::memory_order_relaxed) == nullptr && has_barrier()) {
    inside_.store(1, std::memory_order_relaxed);
    owner_.store(me(), std::memory_order_relaxed);
    mutex_.unlock();
    return true;
  }
  shared_.store(true, std::memory_order_relaxed);
  if (owner_.load(std::memory_order_relaxed) == nullptr) return false;
  revoke_barrier();
  // The owner leaves soon: no call waits inside for longer than kSliceNs.
  while (inside_.load(std::memory_order_acquire) != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  return false;
}

}  // namespace viaduct::via::vipl
