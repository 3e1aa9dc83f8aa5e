#include "viaduct/via/shm/sleep.hpp"

#include <atomic>

#include "via/shm/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/shm/poll_set.hpp"

namespace viaduct::via::shm {

/// Order: raise the flag, set all channels aside, barrier, look once more, wait. A sender stores
/// its message first and looks at the flag and at its channel's notify word afterwards: at least
/// one of the two sides sees the other.
void sleep(Job& job, Watched& watched, const Sleep& how) noexcept {
  RankRecord& record = job.record(job.rank());
  const std::uint32_t seen = record.doorbell.load();
  record.sleeping.fetch_add(1);
  const auto each = [&watched](auto&& f) {
    for (Watched* at = &watched; at != nullptr; at = at->next) f(*at);
  };
  const auto each_queue = [&each](auto&& f) {
    each([&](Watched& w) {
      if (w.queue != nullptr) f(*w.queue);
    });
  };
  bool with_queues = false;
  each_queue([&](PollSet& queue) {
    with_queues = true;
    queue.set_all_aside();
  });
  bool quiet = true;
  bool capped = how.capped;
  each([&](Watched& w) {
    if (w.nic->arm_remote()) quiet = false;
  });
  // The sender of a control message reads the flag after a locked store: no barrier is needed here.
  const bool ordered = !with_queues || (job.membarrier_works() && membarrier_global());
  if (!ordered) std::atomic_thread_fence(std::memory_order_seq_cst);
  each([&](Watched& w) { capped = capped || w.nic->busy(); });
  constexpr std::int64_t kCapNs = 1'000'000;
  std::int64_t timeout_ns = how.timeout_ns;
  if ((!ordered || capped) && (timeout_ns < 0 || timeout_ns > kCapNs)) {
    timeout_ns = kCapNs;
    watched.nic->count(kCappedSleeps);
  }
  watched.nic->count(kSleeps);
  each([&](Watched& w) {
    const bool calm = w.queue != nullptr
                          ? !w.queue->look_for_nonsense() && !w.queue->anything_there()
                          : w.nic->is_quiet();
    if (!calm) quiet = false;
  });
  if (quiet && how.done != nullptr && *how.done && (*how.done)()) quiet = false;
  each_queue([&](PollSet& queue) {
    if (queue.hot_count_ != 0) quiet = false;   // the calls above may have polled
    queue.tick_ |= PollSet::kHousekeeping - 1;  // the next poll looks at control messages, losses
  });
  if (quiet) {
    each_queue([](PollSet& queue) { queue.sleepers_.fetch_add(1); });
    if (how.locks != nullptr) how.locks->before_kernel();
    futex_wait(record.doorbell, seen, timeout_ns);
    if (how.locks != nullptr) how.locks->after_kernel();
    each_queue([](PollSet& queue) { queue.sleepers_.fetch_sub(1); });
  } else {
    each_queue([](PollSet& queue) { queue.ring_for_missed(); });
  }
  record.sleeping.fetch_sub(1);
}

}  // namespace viaduct::via::shm
