#pragma once
// How the rank's engine serves Split-C.

#include "splitc/src/machine_impl.hpp"

namespace viaduct::splitc::detail {

/// Serving Split-C never waits for another program, and runs no code that could, so that every wait
/// of the thread serves it (a block of another host is waited for until the device has copied it),
/// except inside a function that atomic() has brought here: no other work may interrupt such a
/// function.
class Machine::Impl::Served final : public via::channel::Client {
 public:
  explicit Served(Impl& impl) : Client(*impl.nic, *impl.group, Kind::passive), impl_(impl) {
    impl.engine->add(*this);
    impl.engine->watch(true);
  }
  ~Served() {
    impl_.engine->watch(false);
    impl_.engine->remove(*this);
  }

 private:
  static bool in_function() noexcept { return hot.machine == nullptr; }
  void unlock() noexcept override {
    if (!in_function()) impl_.refresh_watch();
  }
  std::uint32_t serve(via::channel::Run) noexcept override {
    return in_function() ? 0 : impl_.poll_own();
  }
  bool before_sleep() noexcept override { return impl_.publish_withheld(); }

  Impl& impl_;
};

}  // namespace viaduct::splitc::detail
