#pragma once
// How operations wait.

#include <atomic>

#include "splitc/src/served.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/settings.hpp"

namespace viaduct::splitc::detail {

/// Shows a wait to other processes, for hang reports.
class Waiting {
 public:
  explicit Waiting(Job& job) noexcept
      : job_(job), record_(job.record(job.rank())), start_(monotonic_ns()) {
    record_.last_poll_ns.store(start_, std::memory_order_relaxed);
    record_.wait_depth.store(0, std::memory_order_relaxed);
  }
  /// In what a wait of Active Messages asks, that wait goes on afterwards.
  ~Waiting() {
    record_.activity.store(outer_activity_, std::memory_order_relaxed);
    record_.operation.store(outer_operation_, std::memory_order_relaxed);
    record_.waits_for_peer.store(outer_peer_, std::memory_order_relaxed);
    record_.wait_depth.store(outer_depth_, std::memory_order_relaxed);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void show(const char* operation, std::uint32_t process,
            Activity activity = Activity::waiting_message) noexcept {
    record_.operation.store(operation, std::memory_order_relaxed);
    record_.waits_for_peer.store(process < kNobody ? process : RankRecord::kNoPeer,
                                 std::memory_order_relaxed);
    record_.activity.store(activity, std::memory_order_relaxed);
  }
  void before_sleep() noexcept {
    record_.last_poll_ns.store(monotonic_ns(), std::memory_order_relaxed);
    job_.report_long_wait(start_);
  }

 private:
  Job& job_;
  RankRecord& record_;
  std::uint64_t start_;
  Activity outer_activity_ = record_.activity.load(std::memory_order_relaxed);
  const char* outer_operation_ = record_.operation.load(std::memory_order_relaxed);
  std::uint32_t outer_peer_ = record_.waits_for_peer.load(std::memory_order_relaxed);
  std::uint32_t outer_depth_ = record_.wait_depth.load(std::memory_order_relaxed);
};

template <class Done>
void Machine::Impl::wait(const char* operation, std::uint32_t process, Done&& done,
                         Activity activity) {
  bool finished = false;  // done() may act: it is not asked again after it has said yes
  const auto ask = [&] { return finished || (finished = done()); };
  constexpr std::uint32_t kEagerLooks = 16;  // before the record is written at all
  if (ask()) return;
  check_may_wait(operation);
  for (std::uint32_t i = 0; i < kEagerLooks; ++i) {
    poll_now();
    if (ask()) return;
  }
  Waiting waiting(job);
  waiting.show(operation, process, activity);
  Backoff backoff(job.wait_policy());
  Backoff::Stage stage = Backoff::Stage::spun;
  for (std::uint32_t looks = 1; !ask(); ++looks) {
    if (poll_now(stage != Backoff::Stage::spun || looks % 8 == 0) != 0) backoff.reset();
    if (ask()) return;
    stage = backoff.next();
    if (stage == Backoff::Stage::spun && looks % 64 != 0) continue;
    if (job.life_epoch() != 0) {
      if (ask()) return;  // what a process that is lost now had done before
      check_lost(operation, process);
    }
    if (broken != kNobody) check_broken(operation, process);
    if (stage != Backoff::Stage::block_now) continue;
    waiting.before_sleep();
    const std::int64_t report = job.settings().hang_report_ns;
    // No doorbell rings when check_broken()'s grace is over, nor for nonsense.
    std::int64_t longest = any_off_node ? 100'000'000 : 1'000'000'000;
    if (report != 0 && report < longest) longest = report;
    if (publish_withheld()) engine->block(*served, longest, ask);
  }
}

}  // namespace viaduct::splitc::detail
