// A Job's barrier and its report of long waits.

#include <fmt/format.h>
#include <atomic>
#include <ctime>
#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/hang_report.hpp"
#include "runtime/job_end.hpp"
#include "runtime/shown_wait.hpp"
#include "runtime/src/job_impl.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/settings.hpp"

namespace viaduct {
namespace {

/// The ranks of this host that are in a handler, which a rank that waits may be waiting for: they
/// cannot tell of it themselves.
std::string others_in_handlers(Job& job, std::uint64_t now_ns) {
  constexpr std::uint32_t kMost = 4;
  std::string text;
  for (std::uint32_t i = 0, told = 0; i < job.size() && told < kMost; ++i) {
    const RankRecord& other = job.record(Rank{i});
    if (Rank{i} == job.rank() || !job.same_host(Rank{i}) ||
        other.state.load(std::memory_order_acquire) != RankState::running)
      continue;
    const HandlerNow handler = handler_of(other);
    if (handler.name.empty()) continue;
    text += "; meanwhile " + hang_line(other, i, operation_of(other), now_ns, handler);
    ++told;
  }
  return text;
}

}  // namespace

std::uint32_t Job::barrier_arrive() noexcept {
  if (in_forked_child())
    violate_contract(errors::forked_child,
                     "a barrier was called in a child that a rank forked: only the rank may");
  const std::uint32_t ticket = ++barriers_;
  arrive_at_barrier(*page_, impl_->shape(), rank_, ticket);
  if (hosts() > 1) impl_->job_bootstrap->tell_barrier(ticket);
  return ticket;
}

/// While no rank is lost the count of arrivals is exact: no rank arrives at a round before the
/// previous one is over. After a loss the count may be wrong (a rank may have been killed between
/// its ticket and the count, and survivors go on to other rounds), and the tickets alone decide.
/// They decide alike for all survivors: a lost rank's ticket does not change any more.
Status Job::barrier_done(std::uint32_t ticket) noexcept {
  // Compared by their distance, which survives the counter's overflow.
  const auto behind = [ticket](std::uint32_t theirs) {
    return static_cast<std::int32_t>(theirs - ticket) < 0;
  };
  const bool open = !behind(page_->barrier_round.load(std::memory_order_acquire));
  const bool some_end = page_->finalizing.load(std::memory_order_acquire) != 0;
  if (life_epoch() == 0 && (open || !some_end)) return open ? Status::ok : Status::retry;
  bool all_here = true;
  for (std::uint32_t i = 0; i < size_; ++i) {
    const auto& theirs = record(Rank{i}).barrier_ticket;
    if (!behind(theirs.load(std::memory_order_acquire))) continue;
    all_here = false;
    const bool ends = record(Rank{i}).finalizing.load(std::memory_order_acquire) != 0;
    if ((!ends && !is_lost(Rank{i})) || !behind(theirs.load(std::memory_order_acquire))) continue;
    if (ends) report_deserter(i);
    return Status::peer_lost;
  }
  return all_here ? Status::ok : Status::retry;
}

void Job::report_deserter(std::uint32_t rank) const noexcept {
  try {
    log_->write(LogLevel::error,
                fmt::format("a barrier waits for rank {}, which has ended its job: all ranks must "
                            "come to the same barriers",
                            rank));
  } catch (const std::exception&) {  // no memory for a report
  }
}

/// Tells ranks that wait for this one in a barrier that it will not come. Once: the count of such
/// ranks is the page's.
void Job::announce_end() noexcept {
  if (record(rank_).finalizing.load() != 0) return;
  viaduct::announce_end(*page_, impl_->shape(), rank_);
  if (hosts() > 1) impl_->job_bootstrap->tell_ending();
}

void JobEnd::announce(Job& job) noexcept { job.announce_end(); }

bool JobEnd::is_everyones(const Job& job) noexcept {
  for (std::uint32_t rank = 0; rank < job.size(); ++rank)
    if (job.page_->record(Rank{rank}).finalizing.load(std::memory_order_acquire) == 0 &&
        !job.is_lost(Rank{rank}))
      return false;
  return true;
}

void JobEnd::await_all(Job& job, const std::function<void()>& serve) noexcept {
  constexpr timespec kAWhile{0, 200'000};
  ShownWait shown(job);
  shown.show(kEndingJob, RankRecord::kNoPeer, Activity::barrier);
  for (announce(job); !is_everyones(job); nanosleep(&kAWhile, nullptr)) {
    serve();
    shown.before_sleep();
  }
}

void JobEnd::finalize(Job& job) noexcept { job.finalize(); }

void Job::tell_port(bool down) noexcept {
  note_port(*page_, rank_, down);
  if (hosts() > 1) impl_->job_bootstrap->tell_port(down);
}

void Job::report_long_wait(std::uint64_t since_ns) noexcept {
  if (settings_->hang_report_ns == 0 || reported_wait_ns_ == since_ns) return;
  const std::uint64_t now = monotonic_ns();
  if (now - since_ns < static_cast<std::uint64_t>(settings_->hang_report_ns)) return;
  reported_wait_ns_ = since_ns;
  try {
    const char* const operation = record(rank_).operation.load(std::memory_order_relaxed);
    const std::string line =
        hang_line(record(rank_), index(rank_), operation != nullptr ? operation : "", now, {},
                  gathering_of(*page_, impl_->shape().ranks, index(rank_)));
    log_->write(LogLevel::error, fmt::format("a wait has lasted {:.1f} s: {}{}",
                                             static_cast<double>(now - since_ns) * 1e-9, line,
                                             others_in_handlers(*this, now)));
  } catch (const std::exception&) {  // no memory for a report
  }
}

}  // namespace viaduct
