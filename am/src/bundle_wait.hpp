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
    if (bundle_.calls_ != nullptr) bundle_.calls_->enter(&bundle_.gate_);
  }
  ~Exclusive() {
    if (bundle_.calls_ != nullptr) bundle_.calls_->leave();
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  Bundle& bundle_;
};

/// Puts a parallel bundle's lock down while its thread has nothing to do.
class Bundle::WaitPause final : public via::channel::SleepLocks {
 public:
  explicit WaitPause(Bundle& bundle) noexcept : bundle_(bundle) {}
  void before_kernel() noexcept override {
    if (bundle_.calls_ == nullptr || !bundle_.calls_->is_held()) return;
    bundle_.wake_others();
    paused_ = bundle_.calls_->pause(bundle_.dispatcher_.runs_handler() ? &bundle_.gate_ : nullptr);
  }
  void after_kernel() noexcept override {
    if (paused_.depth != 0) bundle_.calls_->resume(paused_, &bundle_.gate_);
    paused_.depth = 0;
  }

 private:
  Bundle& bundle_;
  SharedCalls::Pause paused_;
};

/// Takes a parallel bundle's lock; handlers have it already and may take it again. Stops a forked
/// child, and a second thread in a sequential bundle.
class Bundle::Lock {
 public:
  Lock(Bundle& bundle, const char* call) noexcept : bundle_(bundle) {
    if (bundle_.dispatcher_.context.job().in_forked_child())
      bundle_.stop_caller(call);  // before the lock: its holder is not here
    if (bundle_.threads_ == Threads::parallel)
      bundle_.calls_->enter(&bundle_.gate_);
    else
      enter(call);
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
};

/// The same, and stops the program when the caller is a handler, or a function that Split-C's
/// atomic() runs.
class Bundle::Guard {
 public:
  Guard(Bundle& bundle, const char* call) noexcept : lock_(bundle, call) {
    if (bundle.dispatcher_.runs_handler() || bundle.served_->engine().runs_function())
      bundle.stop_caller(call);
  }

 private:
  Lock lock_;
};

/// Sleepers look for nonsense so often: no doorbell tells of it.
inline constexpr std::int64_t kLookNs = 1'000'000'000;

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
  const auto ask = [&] { return finished || (finished = done()); };
  Backoff backoff(job.wait_policy());
  Backoff::Stage stage = Backoff::Stage::spun;
  via::channel::Engine& engine = served_->engine();
  Status status = Status::ok;
  for (std::uint32_t looks = 1;; ++looks) {
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
      WaitPause pause(*this);
      if (n == 0) pause.before_kernel();
      stage = backoff.next();
      pause.after_kernel();
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
      if (report != 0 && (limit < 0 || limit > report)) limit = report;
      const std::int64_t most = reply_wait == nullptr ? kLookNs : reply_wait->most_ns();
      if (limit < 0 || limit > most) limit = most;
      block(limit, ask);
    }
  }
  return status;
}

}  // namespace viaduct::am
