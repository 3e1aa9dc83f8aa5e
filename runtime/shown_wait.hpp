#pragma once
/// @file
/// A wait that other processes can see, for hang reports.

#include <cstdint>

#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace viaduct {

/// While this object lives, the rank's record tells of its wait. The destructor restores the
/// earlier text: a wait in a handler, or in a function that another wait calls, ends before that
/// one.
class ShownWait {
 public:
  /// Never blocks. @p depth: handlers that run now.
  explicit ShownWait(Job& job, std::uint32_t depth = 0) noexcept
      : job_(job), record_(job.record(job.rank())), start_ns_(monotonic_ns()) {
    record_.last_poll_ns.store(start_ns_, kRelaxed);
    record_.wait_depth.store(depth, kRelaxed);
  }
  ~ShownWait() {
    record_.wait_depth.store(outer_depth_, kRelaxed);
    record_.activity.store(outer_activity_, kRelaxed);
    record_.operation.store(outer_operation_, kRelaxed);
    record_.waits_for_peer.store(outer_peer_, kRelaxed);
  }
  ShownWait(const ShownWait&) = delete;
  ShownWait& operator=(const ShownWait&) = delete;

  /// Tells the operation that waits, and the peer that it waits for: a rank, or
  /// RankRecord::kNoPeer.  Never blocks. Cost: three stores.
  void show(const char* operation, std::uint32_t peer, Activity activity) noexcept {
    record_.operation.store(operation, kRelaxed);
    record_.waits_for_peer.store(peer, kRelaxed);
    record_.activity.store(activity, kRelaxed);
  }
  /// Says that the rank polls still, and reports a wait that has lasted long.  Never blocks.
  void before_sleep() noexcept {
    record_.last_poll_ns.store(monotonic_ns(), kRelaxed);
    job_.report_long_wait(start_ns_);
  }
  /// @return when the wait has begun.
  [[nodiscard]] std::uint64_t start_ns() const noexcept { return start_ns_; }

 private:
  Job& job_;
  RankRecord& record_;
  std::uint64_t start_ns_;
  Activity outer_activity_ = record_.activity.load(kRelaxed);
  const char* outer_operation_ = record_.operation.load(kRelaxed);
  std::uint32_t outer_peer_ = record_.waits_for_peer.load(kRelaxed);
  std::uint32_t outer_depth_ = record_.wait_depth.load(kRelaxed);
};

}  // namespace viaduct
