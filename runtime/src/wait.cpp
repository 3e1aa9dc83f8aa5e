#include "viaduct/runtime/wait.hpp"

#include <emmintrin.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <ctime>

#include "runtime/sanitizers.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace viaduct {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "it is handed to the kernel as a futex");

Backoff::Stage Backoff::slow_next() noexcept {
  if (policy_.spin_ticks != 0) {
    const std::uint64_t now = ticks_now();
    if (started_ == 0) started_ = now;
    if (now - started_ < policy_.spin_ticks) {
      _mm_pause();
      return Stage::spun;
    }
  }
  if (yields_ < policy_.yields) {
    ++yields_;
    ::sched_yield();
    return Stage::yielded;
  }
  return Stage::block_now;
}

void IdleLooks::yield() noexcept { ::sched_yield(); }

bool futex_wait(const AtomicWord<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t timeout_ns) noexcept {
  timespec limit{};
  if (timeout_ns >= 0) {
    limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  }
  const long result =
      ::syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), FUTEX_WAIT, expected,
                timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

void futex_wake(AtomicWord<std::uint32_t>& word, int count) noexcept {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, count, nullptr, nullptr,
            0);
}

void ring_doorbell(RankRecord& record) noexcept {
  record.doorbell.fetch_add(1, std::memory_order_seq_cst);
  constexpr int kAll = 0x7fffffff;
  futex_wake(record.doorbell, kAll);
}

bool membarrier_register() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool membarrier_global() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool membarrier_register_process() noexcept {
  // The thread sanitizer does not see the barrier.
  static const bool works =
      !kThreadSanitizer &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return works;
}

void membarrier_process() noexcept {
  (void)::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace viaduct
