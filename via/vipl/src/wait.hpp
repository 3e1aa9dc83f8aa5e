#pragma once
/// @file
/// Waiting for events that progress of the port brings.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "via/vipl/src/library.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::via::vipl {

/// Naps between the looks of a thread that has no doorbell: each longer than the last, up to a
/// limit.
class Naps {
 public:
  void take(std::uint64_t deadline_ns) {
    using std::chrono::nanoseconds;
    const std::uint64_t now = monotonic_ns();
    if (now < deadline_ns)
      std::this_thread::sleep_for(nanoseconds(std::min(deadline_ns - now, next_ns_)));
    next_ns_ = std::min(next_ns_ * 2, kLongestNs);
  }
  void reset() noexcept { next_ns_ = kShortestNs; }

 private:
  static constexpr std::uint64_t kShortestNs = 20'000;
  static constexpr std::uint64_t kLongestNs = 1'000'000;
  std::uint64_t next_ns_ = kShortestNs;
};

/// Calls look(Port&) under the lock until it answers something else than VIP_NOT_DONE, and
/// at_end(Port&) when the time is over; between two looks the lock is free.
template <class Look, class AtEnd>
VIP_RETURN wait_for(std::uint64_t deadline_ns, Look look, AtEnd at_end) noexcept {
  Naps naps;
  WaitPolicy policy;
  {
    const Guard guard;
    if (guard->port == nullptr) return VIP_INVALID_PARAMETER;
    policy = guard->port->job().wait_policy();
  }
  Backoff backoff(policy);
  for (;;) {
    VIP_RETURN answer = call([&](Port& port) {
      port.progress();
      return look(port);
    });
    if (answer != VIP_NOT_DONE) return answer;
    if (monotonic_ns() >= deadline_ns) return call(at_end);
    if (backoff.next() == Backoff::Stage::block_now) naps.take(deadline_ns);
  }
}

}  // namespace viaduct::via::vipl
