#include "viaduct/am/context.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "am/src/context_shared.hpp"
#include "am/src/map_life.hpp"
#include "runtime/errors/codes.hpp"
#include "runtime/shown_wait.hpp"
#include "via/channel/nic.hpp"
#include "via/choice.hpp"
#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/stats.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::am {

namespace {

/// Blocks until all ranks make their Contexts, and serves what the thread has already (Split-C,
/// bundles of other Contexts): a rank that comes late may need that before. The fences that follow
/// serve nothing, but are short. A rank with nothing to serve only arrives: it waits in the fences.
void await_all_ranks(Job& job) {
  const std::uint32_t ticket = job.barrier_arrive();
  const auto engine = via::channel::Engine::of(job);
  if (engine->is_empty()) return;
  ShownWait shown(job);
  shown.show("am::Context", RankRecord::kNoPeer, Activity::barrier);
  Backoff backoff(job.wait_policy());
  // A loss ends the wait; the first fence then tells of it.
  while (job.barrier_done(ticket) == Status::retry) {
    if (engine->serve_all() != 0) backoff.reset();
    if (backoff.next() != Backoff::Stage::block_now) continue;
    shown.before_sleep();
    const timespec pause{0, 200'000};  // no client sleeps here, whose doorbell would ring
    nanosleep(&pause, nullptr);
  }
}

std::span<const Thunk> agree_when_all_are_here(Job& job) {
  await_all_ranks(job);
  return agree_on_handlers(job);
}

constexpr CounterName kCounterNames[kCounterCount] = {
    {"maps_made", "maps"},      {"request_waits", "requests"},
    {"reply_waits", "replies"}, {"overflow_replies", "replies"},
    {"deferred", "requests"},   {"returned", "messages"},
    {"refused", "messages"},    {"bulk", "bytes"},
    {"pulled", "bytes"},        {"get", "bytes"},
    {"standstills", "waits"},
};
constexpr std::string_view kBootstrapKey = "am.settings";

/// Rings are laid out by their sender and read by their receiver: the settings must be the same
/// everywhere.
void compare_settings(Job& job, const Settings& mine) {
  job.bootstrap().put_value(kBootstrapKey, mine);
  via::state_transport(job);
  job.bootstrap().fence();
  const auto theirs = job.bootstrap().get_value<Settings>(Rank{0}, kBootstrapKey);
  if (!theirs || theirs->slots != mine.slots || theirs->credits != mine.credits ||
      theirs->medium_bytes != mine.medium_bytes)
    throw Error(errors::settings_differ, std::errc::invalid_argument,
                "rank " + std::to_string(index(job.rank())) +
                    " and rank 0 differ in VIADUCT_AM_SLOTS, VIADUCT_AM_CREDITS or "
                    "VIADUCT_AM_MEDIUM_BYTES: set them "
                    "alike for all ranks");
  via::require_same_transport(job);
}

}  // namespace

Context::Context(Job& job)
    : job_(job), settings_(load_settings()), typed_(agree_when_all_are_here(job)) {
  compare_settings(job, settings_);
  shared_ = std::make_unique<Shared>(job);
  nic_ = std::make_unique<via::channel::Nic>(job, &shared_->engine->attention());
  shared_->engine->keep_attention();
  via::use_transport_where_needed(job, *nic_);
  nic_->on_incoming_peer(
      [this](Rank from, std::uint64_t discriminator) { incoming(from, discriminator); });
  nic_->on_ended([this](via::channel::ChannelEnd& channel, via::ErrorCause cause) {
    if (channel.context() != nullptr)  // else no MAP's: made by a test
      ended(*static_cast<detail::Map*>(channel.context()), cause);
  });
  job.stats().add("am", kCounterNames, counters_);
}

void Context::lock_calls() noexcept { shared_->calls.enter_group(); }

void Context::unlock_calls() noexcept { shared_->calls.leave_group(); }

Context::~Context() { job_.stats().remove(counters_); }

/// @p number, or with kAnyNumber the free number that was not used for the longest time.
std::uint16_t Context::add(detail::EndpointCore& endpoint, std::int32_t number) {
  constexpr std::int32_t kNumbers = 0x10000;
  const bool any = number == Endpoint::kAnyNumber;
  if (!any && (number < 0 || number >= kNumbers))
    throw Error(errors::too_many, std::errc::invalid_argument,
                "an endpoint's number is 0 to 65535, or kAnyNumber, not " + std::to_string(number));
  auto at = static_cast<std::uint16_t>(number);
  if (any) {
    std::int32_t tried = 0;
    for (at = next_number_; find(at) != nullptr; ++at)
      if (++tried == kNumbers)
        throw Error(errors::too_many, std::errc::no_buffer_space,
                    "a rank can have 65536 endpoints");
  } else if (find(at) != nullptr) {
    throw Error(errors::endpoint_in_use, std::errc::address_in_use,
                "this rank has an endpoint " + std::to_string(at));
  }
  if (at >= endpoints_.size()) endpoints_.resize(at + std::size_t{1});
  endpoints_[at] = &endpoint;
  if (any) next_number_ = static_cast<std::uint16_t>(at + 1);
  return at;
}

void Context::remove(detail::EndpointCore& endpoint) noexcept {
  std::replace(endpoints_.begin(), endpoints_.end(), &endpoint,
               static_cast<detail::EndpointCore*>(nullptr));
}

detail::EndpointCore* Context::find(std::uint16_t number) noexcept {
  return number < endpoints_.size() ? endpoints_[number] : nullptr;
}

/// A peer's endpoint wants a MAP to one of ours. The discriminator holds both numbers, the lower
/// rank's first.
void Context::incoming(Rank from, std::uint64_t discriminator) {
  auto mine = static_cast<std::uint16_t>(discriminator >> 16);
  auto theirs = static_cast<std::uint16_t>(discriminator);
  if (index(from) < index(job_.rank())) std::swap(mine, theirs);
  // Between two endpoints of this rank, the request is for the endpoint that has not asked.
  if (from == job_.rank() && find(mine) != nullptr &&
      find(mine)->table.find({from, theirs}) != nullptr)
    std::swap(mine, theirs);
  detail::EndpointCore* endpoint = find(mine);
  if (endpoint == nullptr)
    return nic_->reject_peer(from, discriminator,
                             static_cast<std::uint64_t>(Undeliverable::bad_endpoint));
  detail::incoming(*endpoint, {from, theirs}, discriminator);
}

/// The channel of a MAP has ended: the MAP is drained and closed at its bundle's next poll outside
/// handlers.
void Context::ended(detail::Map& map, via::ErrorCause cause) {
  if (map.state == detail::Map::State::closing) return;
  if (map.state == detail::Map::State::connecting)
    on_connected(map);                                    // connected, and unnoticed until now
  if (map.state == detail::Map::State::rejected) return;  // its MapBlock was malformed
  map.end.unreachable = cause == via::ErrorCause::connection_lost ||
                        cause == via::ErrorCause::format ||  // one side has found nonsense
                        (map.channel != nullptr && map.channel->is_remote() &&
                         cause != via::ErrorCause::disconnected);
  map.refresh_credits();
  map.end.credits = map.credits();
  map.state = detail::Map::State::closing;
  map.drop_credits();
  detail::EndpointCore& core = core_of(map);
  // A reply in the overflow block that the peer's endpoint has not taken, and will not: handlers
  // that wait for the block may go on.
  core.overflow.take_back_from(map.name);
  core.dispatcher().closing.push_back(&map);
  core.dispatcher().unfinished = true;
}

}  // namespace viaduct::am
