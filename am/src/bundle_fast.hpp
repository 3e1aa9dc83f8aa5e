#pragma once
// The gate of a parallel bundle, for short calls.

#include "am/src/context_shared.hpp"

namespace viaduct::am {

class Bundle::Passed {
 public:
  [[gnu::always_inline]] explicit Passed(Bundle& bundle) noexcept : bundle_(bundle) {
    if (!bundle.has_short_calls_) return;
    passed_ = bundle.calls_->try_pass(bundle.gate_);
    // In a forked child a handler seems to run.
    if (passed_ && bundle.slow_ != bundle.depth_base_) [[unlikely]] {
      bundle.calls_->go_out(bundle.gate_);
      passed_ = false;
    }
  }
  [[gnu::always_inline]] ~Passed() {
    if (passed_) bundle_.calls_->go_out(bundle_.gate_);
  }
  Passed(const Passed&) = delete;
  Passed& operator=(const Passed&) = delete;
  /// Whether the thread is behind the gate, and no handler of the bundle runs.
  explicit operator bool() const noexcept { return passed_; }

 private:
  Bundle& bundle_;
  bool passed_ = false;
};

}  // namespace viaduct::am
