#pragma once
// How operations wait.

#include "runtime/clock.hpp"
#include "splitc/src/parts.hpp"

namespace viaduct::splitc::detail {

/// The loss of no process ends the wait.
inline constexpr std::uint32_t kNobody = kAnyone - 1;

template <class Done>
void Machine::Parts::wait(const char* operation, std::uint32_t process, Done&& done) {
  RankRecord& record = job.record(job.rank());
  bool finished = false;  // done() may act: it is not asked again after it has said yes
  const auto ask = [&] { return finished || (finished = done()); };
  constexpr std::uint32_t kEagerLooks = 16;  // before the record is written at all
  for (std::uint32_t i = 0; i < kEagerLooks; ++i) {
    if (ask()) return;
    poll_now();
  }
  const std::uint64_t start = monotonic_ns();
  record.operation.store(operation, std::memory_order_relaxed);
  record.waits_for_peer.store(process < kNobody ? process : RankRecord::kNoPeer,
                              std::memory_order_relaxed);
  record.last_poll_ns.store(start, std::memory_order_relaxed);
  record.activity.store(Activity::waiting_message, std::memory_order_relaxed);
  struct Restore {
    RankRecord& record;
    ~Restore() { record.activity.store(Activity::computing, std::memory_order_relaxed); }
  } const restore{record};
  Backoff backoff(job.wait_policy());
  for (std::uint32_t looks = 1; !ask(); ++looks) {
    if (poll_now() != 0) backoff.reset();
    if (ask()) return;
    const Backoff::Stage stage = backoff.next();
    if (stage == Backoff::Stage::spun && looks % 64 != 0) continue;
    if (job.life_epoch() != 0) {
      if (ask()) return;  // what a process that is lost now had done before
      check_lost(operation, process);
    }
    if (stage != Backoff::Stage::block_now) continue;
    record.last_poll_ns.store(monotonic_ns(), std::memory_order_relaxed);
    job.report_long_wait(start);
    publish_dirty(true);
    const std::int64_t report = job.settings().hang_report_ns;
    queue->block(report != 0 ? report : -1, ask);
  }
}

}  // namespace viaduct::splitc::detail
