#pragma once
// The lock of a rank's parallel bundles, whatever their contexts.
//
// A short call (a poll that finds plain messages, a short request with room) takes its bundle's
// gate alone, so that threads with a bundle each do not contend. Every other call takes the calls'
// lock: it closes all gates, waits until no thread is behind one, and has the NIC and all parallel
// bundles to itself. A handler that runs behind its bundle's gate and makes such a call parks its
// bundle first: other calls then pass it by, except calls into that bundle, which wait for the
// handler's end and serve their thread's other bundles. A call that waits releases the lock
// meanwhile, and parks every bundle whose handler it has left in the middle.
//
// A gate that one thread alone has used for a while is reserved for that thread, which then goes in
// and out by plain stores. The thread that closes such a gate makes up for the fence that they lack
// (membarrier_process()), and takes the reservation away when the owner has made too few short
// calls to make up for that barrier. tests/model/gate.pml is the protocol's model.

#include <sched.h>
#include <time.h>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "viaduct/am/detail/gate.hpp"
#include "viaduct/runtime/atomic.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::am {

using detail::Gate;
class SharedCalls;

/// Waits between two looks at a word that another thread is to change: spins, yields, then sleeps.
class Looks {
 public:
  void next() noexcept {
    constexpr std::uint32_t kSpins = 256;
    constexpr std::uint32_t kYields = 64;
    ++count_;
    if (count_ < kSpins) {
      __builtin_ia32_pause();
    } else if (count_ < kSpins + kYields) {
      ::sched_yield();
    } else {
      const timespec a_while{0, 50'000};
      nanosleep(&a_while, nullptr);
    }
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  std::uint32_t count_ = 0;
};

namespace detail {

/// A thread's record. Records outlive their threads, because gates name them.
struct alignas(64) CallingThread {
  /// The gate that the thread is behind, or that it has parked.
  AtomicWord<Gate*> inside = nullptr;
  bool by_state = false;          // Gate::state says so, too
  std::uint32_t pauses = 0;       // that the thread is in
  bool holds = false;             // the lock
  bool is_taken = false;          // by a thread; under the lock of all records
  CallingThread* next = nullptr;  // of all records
};
extern constinit CallingThread no_thread;
extern constinit thread_local CallingThread* calling_thread [[gnu::tls_model("initial-exec")]];

}  // namespace detail

class SharedCalls {
 public:
  /// Short calls of one thread that make up for a barrier: each saves a locked instruction, about 7
  /// ns; a barrier takes up to 16 us of two threads.
  static constexpr std::uint32_t kWorthReserving = 4096;
  /// @p reserve_after: so many short calls of one thread reserve a gate, where the kernel allows
  /// it; 0: none do.
  explicit SharedCalls(std::uint32_t reserve_after = kWorthReserving) noexcept;
  /// @return the lock of @p job's rank.  Throws std::bad_alloc. Cost: a lock.
  [[nodiscard]] static std::shared_ptr<SharedCalls> of(Job& job);

  /// Takes the lock for a call into the bundle of @p called (null: into none); the holder may take
  /// it again.  Blocks while other threads are in calls.  @return false, and the lock is not taken
  /// (again): a handler of that bundle waits in another thread. Its wait may be for what the caller
  /// has to serve, so the caller serves its other bundles and gives way (give_way()) before it
  /// comes again. True where @p called is null.
  bool enter(Gate* called) noexcept;
  /// The same without waiting for other long calls.  @return false: a thread is in one, or in a
  /// handler of that bundle.
  [[nodiscard]] bool try_enter(Gate* called) noexcept;
  void leave() noexcept;
  /// The same for a group of calls that never wait: until leave_group(), the holder's calls into a
  /// bundle do not wait for a handler that waits in another thread.  Blocks as enter().
  void enter_group() noexcept;
  void leave_group() noexcept;
  /// @return whether a handler of the bundle of @p gate waits in another thread.  Precondition: the
  /// calling thread holds the lock.
  [[nodiscard]] static bool is_parked_elsewhere(const Gate& gate) noexcept {
    return is_parked(gate) && gate.parker.load(kRelaxed) != detail::calling_thread;
  }
  /// @return whether the calling thread holds the lock.
  [[nodiscard]] bool is_held() const noexcept {
    return holder_.load(kRelaxed) == detail::calling_thread;
  }
  /// @return whether the calling thread is behind @p gate, or has the lock and no handler of
  /// another thread has parked the bundle.  Cost: some loads.
  [[nodiscard]] bool is_mine(const Gate& gate) const noexcept {
    const detail::CallingThread* const me = detail::calling_thread;
    if (me->inside.load(kRelaxed) == &gate) return true;
    if (is_held()) return !is_parked_elsewhere(gate);
    return gate.state.load() == Gate::kParked && gate.parker.load(kRelaxed) == me;
  }
  /// @return whether another thread waits for the lock.  Cost: a load.
  [[nodiscard]] bool is_wanted() const noexcept { return waiting_.load(kRelaxed) != 0; }

  /// The state of the lock that resume() restores after a wait.
  struct Pause {
    std::uint32_t depth = 0;
    std::uint32_t groups = 0;
  };
  /// Releases the lock, however often it was taken, and parks the bundles whose handlers this
  /// thread runs until resume(). Pauses may be nested.  Precondition: the lock is held.
  [[nodiscard]] Pause pause() noexcept;
  /// Takes the lock again for the bundle of @p called.  @return as enter().
  bool resume(const Pause& pause, Gate* called) noexcept;
  /// The next of @p looks for the end of a handler in another thread. That thread needs the lock,
  /// so this one releases the lock meanwhile if it has it.
  void give_way(Looks& looks) noexcept;

  /// Goes behind @p gate for a short call.  Cost: no locked instruction where the gate is reserved
  /// for the thread, else one.  @return false: the caller takes the lock instead, since its thread
  /// is in a call already, or other threads' calls last long.
  [[nodiscard]] bool try_pass(Gate& gate) noexcept {
    detail::CallingThread& me = *detail::calling_thread;
    if (gate.owner.load(kRelaxed) == &me && me.inside.load(kRelaxed) == nullptr &&
        try_reserved(gate, me)) [[likely]]
      return true;
    return try_pass_slow(gate);
  }
  [[gnu::always_inline]] void go_out(Gate& gate) noexcept {
    detail::CallingThread& me = *detail::calling_thread;
    if (me.by_state) [[unlikely]] {
      me.by_state = false;
      gate.state.store(Gate::kOpen, kRelease);
    }
    me.inside.store(nullptr, kRelease);
  }

  /// A handler of the bundle of @p gate runs while @p depth and @p depth_base, which last as long
  /// as the gate, differ; null: none ever does.
  void add(Gate& gate, const std::uint32_t* depth = nullptr,
           const std::uint32_t* depth_base = nullptr);
  void remove(Gate& gate) noexcept;

  /// @return whether the next long call of the thread that is behind @p gate reserves it.
  [[nodiscard]] bool would_reserve(const Gate& gate) const noexcept {
    return reserve_after_ != 0 && gate.streak >= reserve_after_ &&
           gate.owner.load(kRelaxed) == nullptr;
  }

 private:
  /// try_pass() of the thread for which the gate was reserved a moment ago, and which is behind
  /// none.
  [[nodiscard]] bool try_reserved(Gate& gate, detail::CallingThread& me) const noexcept {
    me.inside.store(&gate, kRelaxed);
    // The compiler keeps the order; the barrier of a thread that closes makes the processor keep
    // it.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (closed_.load(kAcquire) == 0 && gate.owner.load(kRelaxed) == &me) [[likely]] {
      ++gate.streak;
      return true;
    }
    me.inside.store(nullptr, kRelease);
    return false;
  }
  [[nodiscard]] static bool is_parked(const Gate& gate) noexcept;
  [[nodiscard]] static bool is_behind(const detail::CallingThread* thread,
                                      const Gate& gate) noexcept;
  [[nodiscard]] bool clear(const Gate* called) noexcept;
  void decide_owner(Gate& gate, const Gate* called) const noexcept;
  [[nodiscard, gnu::noinline]] bool try_pass_slow(Gate& gate) noexcept;
  [[nodiscard]] bool enter_again(const Gate* called) noexcept;
  [[nodiscard]] bool lock(Gate* called) noexcept;
  void lock_in_turn() noexcept;
  void park() noexcept;
  void hold(detail::CallingThread& me, std::uint32_t depth) noexcept;
  void put_down() noexcept;
  void return_inside() noexcept;

  std::mutex mutex_;
  AtomicWord<std::uint32_t> closed_ = 0;  // 1: the lock is held
  const std::uint32_t reserve_after_;     // 0: never
  AtomicWord<const detail::CallingThread*> holder_ = nullptr;
  std::uint32_t depth_ = 0;   // how often the holder has taken it
  std::uint32_t groups_ = 0;  // of the holder, that have not ended
  // A thread that makes one call after the other leaves a turn to those that wait.
  AtomicWord<std::uint32_t> waiting_ = 0;
  AtomicWord<const void*> last_ = nullptr;  // the thread that has had the lock last
  std::vector<Gate*> gates_;                // under the lock
};

}  // namespace viaduct::am
