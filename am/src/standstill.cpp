/// Ranks that wait for each other's replies alone: each puts the other's requests off, so that no
/// credit comes back. Inquiries find the circle (Chandy, Misra and Haas 1983, each rank waiting for
/// one other), and the rank that finds it returns the requests that it has put off.

#include "am/src/standstill.hpp"

#include <algorithm>
#include <string>

#include "am/src/bundle_wait.hpp"
#include "am/src/map_life.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::am {

using detail::Map;

Bundle::ReplyWait::ReplyWait(detail::EndpointCore& core, Index to) noexcept
    : core_(core), to_(to), start_ns_(monotonic_ns()) {
  Context::Shared& shared = *core.context().shared_;
  next_inquiry_ns_ = start_ns_ + kAskEveryNs;
  number_ = ++shared.reply_wait_number;
  next_ = shared.reply_waits;
  shared.reply_waits = this;
}

Bundle::ReplyWait::~ReplyWait() {
  ReplyWait** at = &core_.context().shared_->reply_waits;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

bool Bundle::ReplyWait::lasts(std::uint64_t now) const noexcept {
  return now - start_ns_ >= static_cast<std::uint64_t>(kAskEveryNs);
}

void Bundle::ReplyWait::look(std::uint64_t now) noexcept {
  // First: its own inquiries would take the room again and again.
  if (held_.asker != kNone) {
    if (try_send(held_)) held_.asker = kNone;
    return;
  }
  if (now < next_inquiry_ns_) return;
  next_inquiry_ns_ = now + kAskEveryNs;
  (void)try_send({index(core_.bundle.job().rank()), 0, number_});
}

bool Bundle::ReplyWait::try_send(const Inquiry& inquiry) const noexcept {
  return try_inquiry(core_.table.map_of(to_), inquiry);
}

/// The sender of @p map waits for a credit that this rank withholds. Only ranks below the asker
/// pass an inquiry on, so that one rank of a circle, the highest, finds it.
void Bundle::ReplyWait::take(Map& map, const Inquiry& inquiry) noexcept {
  detail::Dispatcher& dispatcher = core_of(map).dispatcher();
  Job& job = dispatcher.context.job();
  map.publish_credits();  // returns the inquiry's line, too
  if (map.deferred_count == 0 || dispatcher.runs_handler()) return;
  const std::uint32_t self = index(job.rank());
  const std::uint64_t now = monotonic_ns();
  for (ReplyWait* wait = dispatcher.context.shared_->reply_waits; wait != nullptr;
       wait = wait->next_) {
    if (!wait->lasts(now)) continue;
    if (inquiry.asker == self && inquiry.number == wait->number_) return wait->found(map);
    // An inquiry of a rank outside the circle would go round for ever.
    if (inquiry.asker <= self || inquiry.hops >= job.size()) continue;
    const Inquiry next{inquiry.asker, inquiry.hops + 1, inquiry.number};
    if (!wait->try_send(next)) wait->held_ = next;
  }
}

void Bundle::ReplyWait::found(Map& map) const noexcept {
  detail::Dispatcher& dispatcher = core_of(map).dispatcher();
  dispatcher.count(kStandstills);
  const auto name = [](Rank rank) { return "rank " + std::to_string(index(rank)); };
  dispatcher.context.job().log().write(
      LogLevel::warn,
      with_code(errors::standstill,
                "a standstill: this rank waits in a request to " +
                    name(core_.table[to_].name.rank) + " for replies alone (set_wait_run), and " +
                    name(map.name.rank) +
                    " waits in the same way, round in a circle, for a credit of this rank's; the "
                    "requests of " +
                    name(map.name.rank) +
                    " that this rank has put off go back to it (congestion); let the waits run "
                    "requests, too (set_wait_run), or handle what comes back"));
  dispatcher.return_deferred(map);
}

}  // namespace viaduct::am
