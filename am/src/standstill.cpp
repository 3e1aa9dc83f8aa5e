/// Ranks that wait for each other's replies alone: each puts the other's requests off, so that no
/// credit comes back. Inquiries find the circle (Chandy, Misra and Haas 1983, each rank waiting for
/// one other), and the rank that finds it returns the requests that it has put off.

#include "am/src/standstill.hpp"

#include <algorithm>
#include <string>

#include "am/src/bundle_wait.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::am {

using detail::Deferred;
using detail::Map;
namespace wire_format = detail::wire_format;

Bundle::ReplyWait::ReplyWait(Endpoint& endpoint, Index to) noexcept
    : endpoint_(endpoint), to_(to), start_ns_(monotonic_ns()) {
  Context::Shared& shared = *endpoint.bundle().context_.shared_;
  next_inquiry_ns_ = start_ns_ + kAskEveryNs;
  number_ = ++shared.reply_wait_number;
  next_ = shared.reply_waits;
  shared.reply_waits = this;
}

Bundle::ReplyWait::~ReplyWait() {
  ReplyWait** at = &endpoint_.bundle().context_.shared_->reply_waits;
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
  (void)try_send({index(endpoint_.bundle().job().rank()), 0, number_});
}

bool Bundle::ReplyWait::try_send(const Inquiry& inquiry) const noexcept {
  return endpoint_.try_inquiry(*endpoint_.maps_[value(to_)], inquiry);
}

/// The sender of @p map waits for a credit that this rank withholds. Only ranks below the asker
/// pass an inquiry on, so that one rank of a circle, the highest, finds it.
void Bundle::ReplyWait::take(Map& map, const Inquiry& inquiry) noexcept {
  Bundle& bundle = map.endpoint->bundle();
  map.publish_credits();  // returns the inquiry's line, too
  if (map.deferred_count == 0 || bundle.slow_ != bundle.depth_base_) return;
  const std::uint32_t self = index(bundle.job().rank());
  const std::uint64_t now = monotonic_ns();
  for (ReplyWait* wait = bundle.context_.shared_->reply_waits; wait != nullptr;
       wait = wait->next_) {
    if (!wait->lasts(now)) continue;
    if (inquiry.asker == self && inquiry.number == wait->number_) return wait->found(map);
    // An inquiry of a rank outside the circle would go round for ever.
    if (inquiry.asker <= self || inquiry.hops >= bundle.job().size()) continue;
    const Inquiry next{inquiry.asker, inquiry.hops + 1, inquiry.number};
    if (!wait->try_send(next)) wait->held_ = next;
  }
}

void Bundle::ReplyWait::found(Map& map) const noexcept {
  Bundle& bundle = map.endpoint->bundle();
  bundle.context_.count(kStandstills);
  const auto name = [](Rank rank) { return "rank " + std::to_string(index(rank)); };
  bundle.job().log().write(
      LogLevel::warn,
      with_code(errors::standstill,
                "a standstill: this rank waits in a request to " +
                    name(endpoint_.translation_name(to_).rank) +
                    " for replies alone (set_wait_run), and " + name(map.name.rank) +
                    " waits in the same way, round in a circle, for a credit of this rank's; the "
                    "requests of " +
                    name(map.name.rank) +
                    " that this rank has put off go back to it (congestion); let the waits run "
                    "requests, too (set_wait_run), or handle what comes back"));
  bundle.return_deferred(map);
}

/// Returns all of the MAP's requests that were put off, in the order sent. All requests sent before
/// them have been handled, and the oldest call fails first.
void Bundle::return_deferred(Map& map) noexcept {
  for (std::size_t left = map.deferred.size(); left != 0 && !map.deferred.empty(); --left) {
    const Deferred m = map.deferred.front();
    map.deferred.pop_front();
    --deferred_total_;
    if ((m.client & wire_format::notice_bit) != 0)
      run_message(map, m);
    else
      refuse(map, m, Undeliverable::congestion);
    --map.deferred_count;
  }
  if (map.deferred_count == 0) std::erase(deferred_maps_, &map);
}

/// As try_notice(), with words that the receiver reads at once.
bool Endpoint::try_inquiry(Map& map, const Inquiry& inquiry) noexcept {
  const std::uint64_t words[2] = {std::uint64_t{inquiry.hops} << 32 | inquiry.asker,
                                  inquiry.number};
  static_assert(sizeof words == Inquiry::kBytes);
  return map.state == Map::State::connected && send_notice(map, words);
}

}  // namespace viaduct::am
