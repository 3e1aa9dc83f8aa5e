#include "am/src/shared_calls.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "runtime/one_of_rank.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::am {

using detail::calling_thread;
using detail::CallingThread;
using detail::no_thread;

namespace {

constinit std::mutex records_mutex;
// Enough for most programs, so that no call fails for want of memory.
constexpr std::size_t kStaticRecords = 256;
constinit std::array<CallingThread, kStaticRecords> static_records;
constinit std::size_t static_records_used = 0;
constinit CallingThread* records = nullptr;

/// At a thread's end.
void free_record(void* record) noexcept {
  auto& mine = *static_cast<CallingThread*>(record);
  calling_thread = &no_thread;
  if (mine.holds || mine.inside.load() != nullptr) return;
  const std::lock_guard lock(records_mutex);
  mine.is_taken = false;
}

/// A record for the calling thread. The end of the thread is told by a key of POSIX, for which
/// glibc needs no memory, as it does for an object with a destructor.
[[gnu::cold, gnu::noinline]] CallingThread& begin() noexcept {
  const std::lock_guard lock(records_mutex);
  static pthread_key_t key;
  static const bool has_key = ::pthread_key_create(&key, free_record) == 0;
  CallingThread* mine = records;
  while (mine != nullptr && mine->is_taken) mine = mine->next;
  if (mine == nullptr) {
    mine = static_records_used < kStaticRecords ? &static_records[static_records_used++]
                                                : new CallingThread;
    mine->next = records;
    records = mine;
  }
  mine->is_taken = true;
  calling_thread = mine;
  if (has_key) (void)::pthread_setspecific(key, mine);
  return *mine;
}

/// The calling thread's record.
CallingThread& self() noexcept {
  CallingThread* const mine = calling_thread;
  return mine != &no_thread ? *mine : begin();
}

}  // namespace

constinit CallingThread detail::no_thread;
constinit thread_local CallingThread* detail::calling_thread [[gnu::tls_model("initial-exec")]] =
    &detail::no_thread;

SharedCalls::SharedCalls(std::uint32_t reserve_after) noexcept
    : reserve_after_(membarrier_register_process() ? reserve_after : 0) {}

std::shared_ptr<SharedCalls> SharedCalls::of(Job& job) {
  return one_of_rank<SharedCalls>(job, [] { return std::make_shared<SharedCalls>(); });
}

/// Whether @p thread, for which the gate is reserved, is behind it. Order: behind a barrier.
bool SharedCalls::is_behind(const CallingThread* thread, const Gate& gate) noexcept {
  return thread != nullptr && thread != calling_thread && thread->inside.load(kAcquire) == &gate;
}

/// Waits until no thread is behind a gate. False: a handler of the called bundle is parked there.
bool SharedCalls::clear(const Gate* called) noexcept {
  const CallingThread* const me = calling_thread;
  if (called != nullptr && is_parked_elsewhere(*called)) return false;
  const auto is_others = [me](const Gate* gate) {
    const CallingThread* const owner = gate->owner.load(kRelaxed);
    return owner != nullptr && owner != me;
  };
  if (std::any_of(gates_.begin(), gates_.end(), is_others)) membarrier_process();
  for (Gate* const gate : gates_) {
    for (Looks looks;; looks.next()) {
      if (gate->state.load() == Gate::kParked) {
        if (gate == called && is_parked_elsewhere(*gate)) return false;
        break;
      }
      if (gate->state.load() != Gate::kOpen || is_behind(gate->owner.load(kRelaxed), *gate))
        continue;
      decide_owner(*gate, called);
      break;
    }
  }
  return true;
}

/// Decides for which thread a gate is reserved from now on. No thread is behind it, and the lock is
/// held.
void SharedCalls::decide_owner(Gate& gate, const Gate* called) const noexcept {
  const CallingThread* const me = calling_thread;
  if (gate.user == me && &gate == called) {
    if (reserve_after_ != 0 && gate.streak >= reserve_after_) gate.owner.store(me, kRelaxed);
    return;
  }
  if (gate.user == me) return;
  if (&gate == called || gate.streak < reserve_after_) gate.owner.store(nullptr, kRelaxed);
  if (&gate == called) gate.user = me;
  gate.streak = 0;
}

/// A mutex alone goes to the thread that has just released it, since the others have yet to wake.
void SharedCalls::lock_in_turn() noexcept {
  constexpr std::uint32_t kLooks = 340;  // a millisecond
  const CallingThread* const me = calling_thread;
  for (Looks looks;
       looks.count() < kLooks && waiting_.load(kRelaxed) != 0 && last_.load(kRelaxed) == me;)
    looks.next();
  waiting_.fetch_add(1);
  mutex_.lock();
  waiting_.fetch_sub(1);
  last_.store(me, kRelaxed);
}

bool SharedCalls::lock(Gate* called) noexcept {
  lock_in_turn();
  closed_.store(1);
  if (clear(called)) return true;
  closed_.store(0);
  mutex_.unlock();
  return false;
}

/// Parks the bundle of a handler that makes a long call, unless it is parked. Unless this thread is
/// behind the gate by its state (by_state), the state may show another thread for a moment. That
/// thread has come too late, will see so, and will open the gate again. Neither mark may overwrite
/// the other.
void SharedCalls::park() noexcept {
  CallingThread& me = *calling_thread;
  Gate* const gate = me.inside.load(kRelaxed);
  if (gate == nullptr || gate->state.load() == Gate::kParked) return;
  gate->parker.store(&me, kRelaxed);
  gate->pause = 0;
  std::uint32_t expected = me.by_state ? Gate::kInside : Gate::kOpen;
  for (Looks looks; !gate->state.compare_exchange_strong(expected, Gate::kParked); looks.next())
    expected = Gate::kOpen;
  me.by_state = true;
}

/// Whether a handler has parked the bundle of @p gate. The calling thread has the lock, so that the
/// state shows a thread for a moment only: one that comes too late, or the one that has parked the
/// bundle and tries to go back behind the gate.
bool SharedCalls::is_parked(const Gate& gate) noexcept {
  for (Looks looks;; looks.next()) {
    const std::uint32_t state = gate.state.load();
    if (state != Gate::kInside) return state == Gate::kParked;
  }
}

/// The calling thread has taken the lock.
void SharedCalls::hold(CallingThread& me, std::uint32_t depth) noexcept {
  me.holds = true;
  holder_.store(&me, kRelaxed);
  depth_ = depth;
}

void SharedCalls::put_down() noexcept {
  calling_thread->holds = false;
  holder_.store(nullptr, kRelaxed);
  closed_.store(0);
  mutex_.unlock();
}

/// The holder's next call.
bool SharedCalls::enter_again(const Gate* called) noexcept {
  if (called != nullptr && groups_ == 0 && is_parked_elsewhere(*called)) return false;
  ++depth_;
  return true;
}

bool SharedCalls::enter(Gate* called) noexcept {
  CallingThread& me = self();
  if (is_held()) return enter_again(called);
  park();
  if (!lock(called)) {
    return_inside();
    return false;
  }
  hold(me, 1);
  return true;
}

bool SharedCalls::try_enter(Gate* called) noexcept {
  CallingThread& me = self();
  if (is_held()) return enter_again(called);
  if (!mutex_.try_lock()) return false;
  park();
  closed_.store(1);
  hold(me, 1);
  if (clear(called)) return true;
  leave();
  return false;
}

void SharedCalls::enter_group() noexcept {
  (void)enter(nullptr);
  ++groups_;
}

void SharedCalls::leave_group() noexcept {
  --groups_;
  leave();
}

void SharedCalls::leave() noexcept {
  if (--depth_ != 0) return;
  put_down();
  return_inside();
}

/// Goes back behind the gate that park() has parked, but never while another thread holds the lock.
/// In a pause the bundle stays parked: its handler goes on behind the pause alone.
void SharedCalls::return_inside() noexcept {
  Gate* const gate = calling_thread->inside.load(kRelaxed);
  if (gate == nullptr || calling_thread->pauses != 0) return;
  for (Looks looks;; looks.next()) {
    gate->state.store(Gate::kInside);
    if (closed_.load() == 0) return;
    gate->state.store(Gate::kParked);
  }
}

/// A bundle that is not parked, and whose handler runs, is this thread's: no other thread has the
/// lock or is behind a gate. Its gate is reserved for no thread from now on, since the owner of a
/// reservation does not look at the state.
SharedCalls::Pause SharedCalls::pause() noexcept {
  CallingThread& me = *calling_thread;
  ++me.pauses;
  for (Gate* const gate : gates_) {
    if (!gate->runs_handler() || is_parked(*gate)) continue;
    gate->owner.store(nullptr, kRelaxed);
    gate->parker.store(&me, kRelaxed);
    gate->pause = me.pauses;
    std::uint32_t expected = Gate::kOpen;
    for (Looks looks; !gate->state.compare_exchange_strong(expected, Gate::kParked); looks.next())
      expected = Gate::kOpen;  // it shows a thread for a moment that has come too late
  }
  const Pause pause{depth_, std::exchange(groups_, 0)};
  put_down();
  return pause;
}

bool SharedCalls::resume(const Pause& pause, Gate* called) noexcept {
  CallingThread& me = *calling_thread;
  if (!lock(called)) return false;
  hold(me, pause.depth);
  groups_ = pause.groups;
  for (Gate* const gate : gates_) {
    const bool is_mine = gate->state.load() == Gate::kParked && gate->parker.load(kRelaxed) == &me;
    if (is_mine && gate->pause == me.pauses) gate->state.store(Gate::kOpen);
  }
  --me.pauses;
  return true;
}

void SharedCalls::give_way(Looks& looks) noexcept {
  if (!is_held()) return looks.next();
  const Pause paused = pause();
  looks.next();
  (void)resume(paused, nullptr);
}

bool SharedCalls::try_pass_slow(Gate& gate) noexcept {
  constexpr std::uint32_t kLooks = 300;
  CallingThread& me = self();
  if (me.inside.load(kRelaxed) != nullptr || is_held()) return false;
  for (Looks looks; looks.count() < kLooks; looks.next()) {
    if (closed_.load() != 0) continue;
    const CallingThread* const owner = gate.owner.load(kRelaxed);
    if (owner == &me && try_reserved(gate, me)) return true;
    if (owner == &me) continue;
    if (owner != nullptr) return false;  // a long call takes it from the owner
    std::uint32_t now = Gate::kOpen;
    if (!gate.state.compare_exchange_strong(now, Gate::kInside)) continue;
    if (closed_.load() == 0 && gate.owner.load(kRelaxed) == nullptr) {
      me.inside.store(&gate, kRelaxed);
      me.by_state = true;
      if (gate.user != &me) gate.streak = 0;
      gate.user = &me;
      ++gate.streak;
      return true;
    }
    gate.state.store(Gate::kOpen);
  }
  return false;
}

void SharedCalls::add(Gate& gate, const std::uint32_t* depth, const std::uint32_t* depth_base) {
  gate.depth = depth;
  gate.depth_base = depth_base;
  gates_.push_back(&gate);
}

void SharedCalls::remove(Gate& gate) noexcept { std::erase(gates_, &gate); }

}  // namespace viaduct::am
