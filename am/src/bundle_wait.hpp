#pragma once
// How a bundle waits, for the calls that do.

#include <pthread.h>
#include <cstdint>

#include "am/src/context_shared.hpp"
#include "am/src/standstill.hpp"
#include "runtime/shown_wait.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/settings.hpp"

namespace viaduct::am {

/// Takes a parallel bundle's lock for calls of handlers; a thread that has the lock takes it again.
class Bundle::Exclusive {
 public:
  explicit Exclusive(Bundle& bundle) noexcept : bundle_(bundle) {
    entered_ = bundle_.calls_ != nullptr && bundle_.calls_->enter(&bundle_.gate_);  // its own
  }
  ~Exclusive() {
    if (entered_) bundle_.calls_->leave();
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  Bundle& bundle_;
  bool entered_ = false;
};

/// Comes back into a parallel bundle by @p come_in, which answers false while a handler of the
/// bundle waits in another thread. That handler may wait for room that another bundle of this
/// thread gives, so this thread serves its others meanwhile. False: @p until, in monotonic_ns(),
/// has come first.
template <class ComeIn>
bool Bundle::come_in_until(Run run, std::uint64_t until, ComeIn&& come_in) noexcept {
  SharedCalls& calls = dispatcher_.context.shared_->calls;
  for (Looks looks; !come_in(&gate_); calls.give_way(looks)) {
    if (monotonic_ns() >= until) {
      calls.give_way(looks);   // a program may ask again and again
      (void)come_in(nullptr);  // for the way out alone
      return false;
    }
    (void)served_->serve_others(run);
  }
  return true;
}

/// Puts the calls' lock down, if the thread has it, while the thread has nothing to do, or where
/// another thread has waited for the lock for long.
class Bundle::WaitPause final : public via::channel::SleepLocks {
 public:
  WaitPause(Bundle& bundle, Run run, std::uint64_t until) noexcept
      : bundle_(bundle),
        calls_(bundle.dispatcher_.context.shared_->calls),
        run_(run),
        until_(until) {}
  /// Comes back into @p bundle, of which another thread may run a handler since this thread's wait
  /// has run functions that paused, too: a predicate, or handlers of other bundles.  @return
  /// Status::timeout: as is_in_time().
  static Status come_back(Bundle& bundle, Run run, std::uint64_t until) noexcept {
    if (bundle.calls_ == nullptr || !SharedCalls::is_parked_elsewhere(bundle.gate_))
      return Status::ok;
    WaitPause pause(bundle, run, until);
    pause.before_kernel();
    pause.after_kernel();
    return pause.is_in_time() ? Status::ok : Status::timeout;
  }
  /// After a look of a wait that has found @p n messages. @p wanted_since: when another thread was
  /// first seen to wait for the lock; 0: none was.
  void after_look(std::uint32_t n, std::uint64_t& wanted_since) noexcept {
    if (n != 0 && !is_turn_over(wanted_since) && come_back(bundle_, run_, until_) == Status::ok)
      return;
    wanted_since = 0;
    before_kernel();
  }
  void before_kernel() noexcept override {
    if (!calls_.is_held()) return;
    bundle_.wake_others();
    paused_ = calls_.pause();
  }
  void after_kernel() noexcept override {
    if (paused_.depth == 0) return;
    const auto resume = [this](Gate* gate) { return calls_.resume(paused_, gate); };
    in_time_ = bundle_.come_in_until(run_, until_, resume);
    paused_.depth = 0;
  }
  /// @return false: the time was over before the thread could come back into the bundle. It has the
  /// lock, and may do nothing in the bundle but leave it.
  [[nodiscard]] bool is_in_time() const noexcept { return in_time_; }

 private:
  [[nodiscard]] bool is_turn_over(std::uint64_t& wanted_since) const noexcept {
    constexpr std::uint64_t kTurnNs = 100'000;
    if (bundle_.calls_ == nullptr || !calls_.is_wanted()) return false;
    const std::uint64_t now = monotonic_ns();
    if (wanted_since == 0) wanted_since = now;
    return now - wanted_since >= kTurnNs;
  }

  Bundle& bundle_;
  SharedCalls& calls_;
  const Run run_;
  const std::uint64_t until_;
  bool in_time_ = true;
  SharedCalls::Pause paused_;
};

/// When a wait of @p timeout_ns (negative: without end) that begins now is over, in monotonic_ns().
inline std::uint64_t end_of_wait(std::int64_t timeout_ns) noexcept {
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  if (timeout_ns < 0) return kNever;
  return timeout_ns == 0 ? 0 : monotonic_ns() + static_cast<std::uint64_t>(timeout_ns);
}

/// Takes a parallel bundle's lock; handlers have it already and may take it again. Stops a forked
/// child, and a second thread in a sequential bundle.
class Bundle::Lock {
 public:
  Lock(Bundle& bundle, const char* call, std::int64_t timeout_ns = -1) noexcept : bundle_(bundle) {
    if (bundle_.dispatcher_.context.job().in_forked_child())
      bundle_.stop_caller(call);  // before the lock: its holder is not here
    if (bundle_.threads_ != Threads::parallel) {
      enter(call);
      return;
    }
    const auto come_in = [this](Gate* gate) { return bundle_.calls_->enter(gate); };
    if (!come_in(&bundle_.gate_)) [[unlikely]]
      in_time_ = bundle_.come_in_until(Run::replies, end_of_wait(timeout_ns), come_in);
  }
  ~Lock() {
    if (bundle_.threads_ != Threads::parallel) {
      if (outermost_) bundle_.user_.store(0, kRelaxed);
      return;
    }
    bundle_.wake_others();
    bundle_.calls_->leave();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// @return as WaitPause::is_in_time(). True without a limit.
  [[nodiscard]] bool is_in_time() const noexcept { return in_time_; }

 private:
  /// No exchange: two threads that come in the same moment may both get in, and one of them is
  /// stopped at its next call.
  void enter(const char* call) noexcept {
    static_assert(sizeof(pthread_t) == sizeof(std::uintptr_t));
    const auto me = std::uintptr_t{pthread_self()};
    if (!bundle_.served_->is_home()) bundle_.served_->take_over();
    const std::uintptr_t there = bundle_.user_.load(kRelaxed);
    if (there == me) return;
    if (there != 0) bundle_.stop_second_thread(call);
    outermost_ = true;
    bundle_.user_call_.store(call, kRelaxed);
    bundle_.user_.store(me, kRelaxed);
  }

  Bundle& bundle_;
  bool outermost_ = false;
  bool in_time_ = true;
};

/// The same, and stops the program when the caller is a handler, or a function that Split-C's
/// atomic() runs.
class Bundle::Guard {
 public:
  Guard(Bundle& bundle, const char* call, std::int64_t timeout_ns = -1) noexcept
      : lock_(bundle, call, timeout_ns) {
    if (!is_in_time()) return;
    if (bundle.dispatcher_.runs_handler() || bundle.served_->engine().runs_function())
      bundle.stop_caller(call);
  }
  /// @return as Lock::is_in_time().
  [[nodiscard]] bool is_in_time() const noexcept { return lock_.is_in_time(); }

 private:
  Lock lock_;
};

/// Sleepers look for nonsense so often: no doorbell tells of it.
inline constexpr std::int64_t kLookNs = 1'000'000'000;

/// A @p limit that is negative is none.
inline void shorten(std::int64_t& limit, std::int64_t most) noexcept {
  if (limit < 0 || limit > most) limit = most;
}

/// Polls, then spins, yields, blocks, until done() or the time is over. With @p handled the wait
/// also ends when that count (the messages handled) is no longer zero. Serves the thread's other
/// clients when the engine's word says that something has come for one, each 8th time, behind a
/// poll of a stream, and whenever it does not spin.
template <class Done>
Status Bundle::wait_loop(Activity activity, const char* operation, std::uint32_t peer, Run run,
                         std::int64_t timeout_ns, Done&& done, std::uint32_t* handled,
                         ReplyWait* reply_wait) noexcept {
  if (handled != nullptr && *handled != 0) return Status::ok;
  Job& job = dispatcher_.context.job();
  ShownWait shown(job, dispatcher_.slow - dispatcher_.depth_base);
  shown.show(operation, peer, activity);
  bool finished = false;  // done() may act: it is not asked again after it has said yes
  Backoff backoff(job.wait_policy());
  Backoff::Stage stage = Backoff::Stage::spun;
  via::channel::Engine& engine = served_->engine();
  const std::uint64_t until = end_of_wait(timeout_ns);
  Status status = WaitPause::come_back(*this, run, until);
  const auto is_finished = [&] { return finished || (finished = done()); };
  const auto ask = [&] {
    status = WaitPause::come_back(*this, run, until);
    return status == Status::ok && is_finished();
  };
  std::uint64_t wanted_since = 0;
  for (std::uint32_t looks = 1; status == Status::ok; ++looks) {
    std::uint32_t n = dispatcher_.poll(run == Run::all);
    if (handled != nullptr && (*handled += n) != 0) break;
    if (ask()) break;
    if (!engine.is_alone() && (stage != Backoff::Stage::spun || engine.asks() ||
                               n > detail::Dispatcher::kBatch || ++waited_looks_ % 8 == 0)) {
      n += served_->serve_others(run);
      if (ask()) break;
    }
    if (n != 0) backoff.reset();
    {
      WaitPause pause(*this, run, until);
      pause.after_look(n, wanted_since);
      stage = backoff.next();
      pause.after_kernel();
      if (!pause.is_in_time()) status = Status::timeout;
    }
    if (stage == Backoff::Stage::spun && looks % 64 != 0) continue;
    const std::uint64_t now = monotonic_ns();
    const auto waited = static_cast<std::int64_t>(now - shown.start_ns());
    if (reply_wait != nullptr) reply_wait->look(now);
    if (timeout_ns >= 0 && waited >= timeout_ns) {
      status = Status::timeout;
      break;
    }
    if (stage == Backoff::Stage::block_now) {
      shown.before_sleep();
      std::int64_t limit = timeout_ns < 0 ? -1 : timeout_ns - waited;
      const std::int64_t report = job.settings().hang_report_ns;  // to come back to it
      if (report != 0) shorten(limit, report);
      shorten(limit, reply_wait == nullptr ? kLookNs : reply_wait->most_ns());
      if (!block(run, until, limit, is_finished)) status = Status::timeout;
    }
  }
  return finished ? Status::ok : status;
}

}  // namespace viaduct::am
