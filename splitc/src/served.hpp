#pragma once
// How the rank's engine serves Split-C.

#include "splitc/src/parts.hpp"

namespace viaduct::splitc::detail {

/// What Split-C serves never waits and runs no code that could, so that it is served everywhere:
/// but for a function that atomic() has brought here, which nothing may interrupt.
class Machine::Parts::Served final : public via::channel::Client {
 public:
  explicit Served(Parts& parts) : Client(*parts.nic, *parts.queue, Kind::passive), parts_(parts) {
    parts.engine->add(*this);
    parts.engine->watch(true);
  }
  ~Served() {
    parts_.engine->watch(false);
    parts_.engine->remove(*this);
  }

 private:
  static bool in_function() noexcept { return hot.machine == nullptr; }
  void unlock() noexcept override {
    if (!in_function()) parts_.refresh_watch();
  }
  std::uint32_t serve(via::channel::Run) noexcept override {
    return in_function() ? 0 : parts_.poll_own();
  }
  bool before_sleep() noexcept override { return parts_.publish_withheld(); }

  Parts& parts_;
};

}  // namespace viaduct::splitc::detail
