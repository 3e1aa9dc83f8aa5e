#pragma once
/// @file
/// Waiting without burning a core that a peer needs: spin, then yield, then block on a shared
/// futex.

#include <cstdint>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct {

/// How long each stage of a wait lasts. Chosen by Job from the number of ranks on the host against
/// the cores they may run on, or by VIADUCT_SPIN_NS and VIADUCT_YIELDS.
struct WaitPolicy {
  std::uint64_t spin_ticks = 0;  ///< 0 when ranks outnumber cores
  std::uint32_t yields = 0;      ///< sched_yield calls between spinning and blocking
};

/// One wait's progress through the stages. Construct it when a wait begins, call next() after every
/// unsuccessful look.
class Backoff {
 public:
  enum class Stage : std::uint8_t { spun, yielded, block_now };

  /// A wait that begins now.  Never blocks.
  explicit Backoff(const WaitPolicy& policy) noexcept : policy_(policy) {}

  /// Spins a little, or yields the core once, or says that it is time to block (and does nothing
  /// itself).  @return what it has done. Cost: the first 64 calls read no clock.
  Stage next() noexcept {
    if (spins_ < kFreeSpins) {
      ++spins_;
      if (policy_.spin_ticks != 0) return Stage::spun;
    }
    return slow_next();
  }

  /// Starts over, after something arrived.  Never blocks.
  void reset() noexcept {
    spins_ = 0;
    yields_ = 0;
    started_ = 0;
  }

 private:
  static constexpr std::uint32_t kFreeSpins = 64;  // looks before the clock is read at all
  [[gnu::noinline]] Stage slow_next() noexcept;

  WaitPolicy policy_;
  std::uint32_t spins_ = 0;
  std::uint32_t yields_ = 0;
  std::uint64_t started_ = 0;
};

/// For calls that look once, and that programs call in loops. Such a loop would keep the core from
/// the rank that the program waits for, until the kernel takes the core away after some
/// milliseconds.
class IdleLooks {
 public:
  /// Looks of a rank that waits by @p policy.
  explicit IdleLooks(const WaitPolicy& policy) noexcept
      : mask_(policy.spin_ticks == 0 ? kCrowded - 1 : kAlone - 1) {}

  /// Behind a look in vain.  Never blocks.  Cost: a pause of the core, some 10 ns. Every 16,384th
  /// call yields the core once, and every 64th call where ranks outnumber cores.
  void pause() noexcept {
    __builtin_ia32_pause();
    const std::uint32_t looks = looks_.load(kRelaxed) + 1;
    looks_.store(looks, kRelaxed);
    if ((looks & mask_) == 0) [[unlikely]]
      yield();
  }

 private:
  static constexpr std::uint32_t kCrowded = 64;
  static constexpr std::uint32_t kAlone = 16384;  // other programs may want the core
  [[gnu::noinline]] static void yield() noexcept;

  AtomicWord<std::uint32_t> looks_ = 0;  // threads may count at once, and lose a count
  std::uint32_t mask_;
};

/// Blocks until @p look() is true, or @p timeout_ns (negative: no limit) is over. The call spins
/// and yields, and then calls @p sleep with the nanoseconds that are left (negative: no limit),
/// which blocks and may return at any time.  @return false: the time is over.
template <class Look, class Sleep>
bool look_until(const WaitPolicy& policy, std::int64_t timeout_ns, Look&& look, Sleep&& sleep) {
  const std::uint64_t start = monotonic_ns();
  Backoff backoff(policy);
  for (;;) {
    if (look()) return true;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    if (timeout_ns >= 0 && waited >= timeout_ns) return false;
    if (backoff.next() == Backoff::Stage::block_now)
      sleep(timeout_ns < 0 ? std::int64_t{-1} : timeout_ns - waited);
  }
}

/// Blocks while *word == expected, at most timeout_ns (negative: no limit). The futex is shared
/// between processes. Returns false on time-out; true on a wake-up, a changed word or a signal (the
/// caller looks again).
bool futex_wait(const AtomicWord<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t timeout_ns) noexcept;

/// Wakes up to @p count waiters on @p word, in all processes.  Cost: a system call.
void futex_wake(AtomicWord<std::uint32_t>& word, int count) noexcept;

/// Registers this process for expedited global memory barriers. Every process that may send to one
/// that sleeps must have called it before its first send; Job does.  @return false where the kernel
/// or seccomp refuses it.
bool membarrier_register() noexcept;

/// Runs a full memory barrier on every running thread of every registered process.  Cost: about
/// 16 us while a peer runs, so it is paid once per block.  @return false where refused: then sleeps
/// are capped at 1 ms.
bool membarrier_global() noexcept;

/// Registers this process for barriers among its own threads, with the first call.  @return false
/// where the kernel or seccomp refuses it, and under the thread sanitizer, which does not know such
/// barriers: then a fence or a locked instruction is to be used instead.
bool membarrier_register_process() noexcept;

/// Runs a full memory barrier on every running thread of this process, each between two of its
/// instructions. Behind its barrier such a thread sees the caller's writes from before the call;
/// behind the call, the caller sees the thread's writes from before its barrier. Precondition:
/// membarrier_register_process() has answered true.
/// Cost: a system call; about 1 to 16 us while other threads run on other cores.
void membarrier_process() noexcept;

}  // namespace viaduct
