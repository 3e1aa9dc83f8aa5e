#pragma once
// The gate of a parallel bundle, for short calls.

#include "am/src/context_shared.hpp"

namespace viaduct::am {

class Bundle::Passed {
 public:
  explicit Passed(Bundle& bundle) noexcept;
  ~Passed();
  Passed(const Passed&) = delete;
  Passed& operator=(const Passed&) = delete;
  /// Whether the thread is behind the gate, and no handler of the bundle runs.
  explicit operator bool() const noexcept { return passed_; }

 private:
  Bundle& bundle_;
  bool passed_ = false;
};

}  // namespace viaduct::am
