#include "via/vipl/src/lock.hpp"

#include <chrono>
#include <thread>

#include "viaduct/runtime/wait.hpp"

namespace viaduct::via::vipl {

constinit thread_local bool owns_lock [[gnu::tls_model("initial-exec")]] = false;

bool Lock::enter_slow() noexcept {
  mutex_.lock();
  if (shared_.load(std::memory_order_relaxed)) return false;
  if (!has_owner_ && membarrier_register_process()) {
    inside_.store(1, std::memory_order_relaxed);
    has_owner_ = owns_lock = true;
    mutex_.unlock();
    return true;
  }
  shared_.store(true, std::memory_order_relaxed);
  if (!has_owner_) return false;
  membarrier_process();
  // The owner leaves soon: no call waits inside for longer than kSliceNs.
  while (inside_.load(std::memory_order_acquire) != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  return false;
}

}  // namespace viaduct::via::vipl
