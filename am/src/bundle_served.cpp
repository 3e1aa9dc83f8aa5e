#include <pthread.h>

#include "am/src/context_shared.hpp"

namespace viaduct::am {

void Bundle::Served::take_over() noexcept {
  const CallsLock lock(bundle_.context_.shared_->calls);
  const std::lock_guard function_lock(function_mutex_);
  open_inline_paths();
  come_home();
}

/// The inline calls take their guarded paths, as while the bundle sleeps, and those stop the
/// program. A parallel bundle stays as it is: other threads use it.
void Bundle::Served::begin_function() noexcept {
  const std::lock_guard lock(function_mutex_);
  if (is_parallel() || !is_home() || bundle_.slow_ != 0) return;
  raised_ = RunningHandler::kAsleep;
  bundle_.slow_ = bundle_.slow_ + raised_;
  bundle_.depth_base_ += raised_;
}

void Bundle::Served::end_function() noexcept {
  const std::lock_guard lock(function_mutex_);
  open_inline_paths();
}

/// With function_mutex_.
void Bundle::Served::open_inline_paths() noexcept {
  if (raised_ == 0) return;
  bundle_.slow_ = bundle_.slow_ - raised_;
  bundle_.depth_base_ -= raised_;
  raised_ = 0;
}

bool Bundle::Served::try_lock() noexcept {
  SharedCalls& calls = bundle_.context_.shared_->calls;
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
  bundle_.context_.shared_->calls.leave();
}

/// A handler of the bundle that runs goes on first.
std::uint32_t Bundle::Served::serve(via::channel::Run run) noexcept {
  if (bundle_.slow_ != bundle_.depth_base_) return 0;
  return bundle_.poll_open(run == via::channel::Run::all ? Run::all : Run::replies);
}

bool Bundle::Served::runs_handler() noexcept {
  if (!is_parallel()) return bundle_.slow_ != bundle_.depth_base_;
  SharedCalls& calls = bundle_.context_.shared_->calls;
  if (!calls.try_enter(gate())) return false;  // another thread's
  const bool runs = bundle_.slow_ != bundle_.depth_base_;
  calls.leave();
  return runs;
}

}  // namespace viaduct::am
