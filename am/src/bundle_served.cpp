#include <pthread.h>

#include "am/src/context_shared.hpp"

namespace viaduct::am {

void Bundle::Served::take_over() noexcept {
  const CallsLock lock(bundle_.dispatcher_.context.shared_->calls);
  const std::lock_guard function_lock(function_mutex_);
  open_inline_paths();
  come_home();
}

/// The inline calls take their guarded paths, as while the bundle sleeps, and those stop the
/// program. A parallel bundle stays as it is: other threads use it.
void Bundle::Served::begin_function() noexcept {
  const std::lock_guard lock(function_mutex_);
  if (is_parallel() || !is_home() || bundle_.dispatcher_.slow != 0) return;
  raised_ = RunningHandler::kAsleep;
  bundle_.dispatcher_.slow = bundle_.dispatcher_.slow + raised_;
  bundle_.dispatcher_.depth_base += raised_;
}

void Bundle::Served::end_function() noexcept {
  const std::lock_guard lock(function_mutex_);
  open_inline_paths();
}

/// With function_mutex_.
void Bundle::Served::open_inline_paths() noexcept {
  if (raised_ == 0) return;
  bundle_.dispatcher_.slow = bundle_.dispatcher_.slow - raised_;
  bundle_.dispatcher_.depth_base -= raised_;
  raised_ = 0;
}

bool Bundle::Served::try_lock() noexcept {
  SharedCalls& calls = bundle_.dispatcher_.context.shared_->calls;
  if (!calls.try_enter(gate())) return false;
  if (is_parallel()) return true;
  const auto me = std::uintptr_t{pthread_self()};
  const std::uintptr_t there = bundle_.user_.load(kRelaxed);
  if (!is_home() || (there != 0 && there != me)) {
    calls.leave();
    return false;
  }
  entered_ = there == 0;
  if (entered_) {
    bundle_.user_call_.store("a wait elsewhere", kRelaxed);
    bundle_.user_.store(me, kRelaxed);
  }
  return true;
}

void Bundle::Served::unlock() noexcept {
  if (entered_) bundle_.user_.store(0, kRelaxed);
  entered_ = false;
  if (is_parallel()) bundle_.wake_others();
  bundle_.dispatcher_.context.shared_->calls.leave();
}

/// A handler of the bundle that runs goes on first.
std::uint32_t Bundle::Served::serve(via::channel::Run run) noexcept {
  if (bundle_.dispatcher_.runs_handler()) return 0;
  return bundle_.dispatcher_.poll(run == via::channel::Run::all);
}

bool Bundle::Served::runs_handler() noexcept {
  const bool is_mine = !is_parallel() || bundle_.calls_->is_mine(bundle_.gate_);
  return is_mine && bundle_.dispatcher_.runs_handler();
}

}  // namespace viaduct::am
