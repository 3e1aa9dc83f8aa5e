// A Job's barrier and its report of long waits.

#include <fmt/format.h>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/hang_report.hpp"
#include "runtime/job.hpp"

namespace viaduct {

std::uint32_t Job::barrier_arrive() noexcept {
  if (in_forked_child())
    violate_contract("a barrier was called in a child that a rank forked: only the rank may");
  const std::uint32_t ticket = ++barriers_;
  record(rank_).barrier_ticket.store(ticket, std::memory_order_release);
  if (page_->barrier_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != size_) return ticket;
  // The last to arrive opens the next round. Nobody can arrive at that before the round below says
  // so.
  page_->barrier_arrived.store(0, std::memory_order_relaxed);
  page_->barrier_round.store(ticket, std::memory_order_seq_cst);
  // Both sequentially consistent, as a pair: the round is out before the flags are read. The
  // sleeper has the counterpart between raising its flag and its last look.
  for (std::uint32_t i = 0; i < size_; ++i) {
    RankRecord& other = record(Rank{i});
    if (other.sleeping.load(std::memory_order_seq_cst) != 0) ring_doorbell(other);
  }
  return ticket;
}

Status Job::barrier_done(std::uint32_t ticket) noexcept {
  // Rounds are compared by their distance, which survives the counter's overflow.
  const auto done = [&] {
    return static_cast<std::int32_t>(page_->barrier_round.load(std::memory_order_acquire) -
                                     ticket) >= 0;
  };
  if (done()) return Status::ok;
  if (life_epoch() == 0) return Status::retry;
  for (std::uint32_t i = 0; i < size_; ++i) {
    const std::uint32_t theirs = record(Rank{i}).barrier_ticket.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(theirs - ticket) < 0 && is_lost(Rank{i})) {
      return done() ? Status::ok : Status::peer_lost;
    }
  }
  return Status::retry;
}

void Job::report_long_wait(std::uint64_t since_ns) noexcept {
  if (settings_.hang_report_ns == 0 || reported_wait_ns_ == since_ns) return;
  const std::uint64_t now = monotonic_ns();
  if (now - since_ns < static_cast<std::uint64_t>(settings_.hang_report_ns)) return;
  reported_wait_ns_ = since_ns;
  try {
    const char* const operation = record(rank_).operation.load(std::memory_order_relaxed);
    const std::string line =
        hang_line(record(rank_), index(rank_), operation != nullptr ? operation : "", now);
    log_.write(LogLevel::error, fmt::format("a wait has lasted {:.1f} s: {}",
                                            static_cast<double>(now - since_ns) * 1e-9, line));
  } catch (const std::exception&) {  // no memory for a report
  }
}

}  // namespace viaduct
