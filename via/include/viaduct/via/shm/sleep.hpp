#pragma once
/// @file
/// The one place where a rank blocks in the kernel.

#include <cstdint>
#include <functional>

namespace viaduct {
class Job;
}

namespace viaduct::via::shm {

class Nic;
class PollSet;

/// Events that a sleeping rank must not miss: the control messages of a NIC, and, unless `queue` is
/// null, the arrivals of a poll set of that NIC. Several of them form a list.
struct Watched {
  Nic* nic = nullptr;
  PollSet* queue = nullptr;
  Watched* next = nullptr;
};

/// The locks under which a sleeper looks at its queues, and which it must not hold in the kernel.
class SleepLocks {
 public:
  virtual void before_kernel() noexcept = 0;
  virtual void after_kernel() noexcept = 0;

 protected:
  ~SleepLocks() = default;
};

struct Sleep {
  std::int64_t timeout_ns = -1;                 ///< negative: no limit
  const std::function<bool()>* done = nullptr;  ///< asked after the flag has been raised
  SleepLocks* locks = nullptr;
  bool capped = false;  ///< something may come that rings no doorbell: 1 ms at most
};

/// Blocks until a sender rings the rank's doorbell, a control message comes, a rank is lost, or the
/// time is over. Returns at once when one of @p watched has something, or when `done` says so:
/// `done` is asked after the flag has been raised that makes others ring. The caller has polled all
/// of @p watched and found nothing.
///
/// Call from   the thread to which all of @p watched belong.
/// Cost        a futex system call; with queues a membarrier besides.
void sleep(Job& job, Watched& watched, const Sleep& how) noexcept;

}  // namespace viaduct::via::shm
