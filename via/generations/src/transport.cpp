#include "via/generations/src/transport.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <utility>

#include "via/generations/settings.hpp"
#include "via/generations/src/v1.hpp"
#include "via/generations/src/v2.hpp"
#include "via/generations/src/v3.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::via::generations {

std::optional<Generation> wished_generation() {
  Settings settings;
  config::load(&settings, options());
  if (settings.generation == "channel") return {};
  if (settings.generation == "v1-strict") return Generation::v1_strict;
  return static_cast<Generation>(settings.generation[1] - '1');
}

std::unique_ptr<via::Transport> open_transport(Job& job, std::string_view provider,
                                               Generation generation) {
  return std::make_unique<MapTransport>(job, provider, generation);
}

// Set-up.

MapTransport::MapTransport(Job& job, std::string_view provider, Generation generation)
    : job_(job),
      generation_(generation),
      nic_(open_nic(job, provider)),
      tag_(nic_->create_tag()),
      arenas_(*nic_, tag_),
      regions_(*nic_, tag_),
      send_queue_(nic_->create_completion_queue(64)),
      receive_queue_(nic_->create_completion_queue(64)),
      staging_(arenas_),
      control_(job, *nic_, tag_, arenas_) {
  events_.reserve(1024);
  nic_->on_error([this](const AsyncError& error) { take_error(error); });
  nic_->on_incoming_peer([this](Rank from, std::uint64_t discriminator) {
    if (discriminator == ControlPath::kDiscriminator) control_.incoming(from);
  });
}

MapTransport::~MapTransport() {
  nic_->on_error({});
  nic_->on_incoming_peer({});
}

void MapTransport::make_room(const Depths& depths) {
  const auto grow = [](CompletionQueue& queue, std::size_t entries) {
    if (queue.capacity() < entries) queue.resize(std::max(entries, 2 * queue.capacity()));
  };
  grow(*send_queue_, sends_ + depths.sends);
  grow(*receive_queue_, receives_ + depths.receives);
}

template <class Policy>
std::unique_ptr<Link> MapTransport::make(const Room& room, std::byte* block, std::size_t half_bytes,
                                         void* owner) {
  const Depths depths = Policy::depths(room);
  make_room(depths);
  maps_.reserve(maps_.size() + 1);
  owing_.reserve(maps_.size() + 1);
  const Common common{*nic_, tag_, arenas_, *send_queue_, *receive_queue_};
  auto map = std::make_unique<Map<Policy>>(*this, common, room, block, half_bytes, owner);
  sends_ += depths.sends;
  receives_ += depths.receives;
  maps_.push_back(map.get());
  return map;
}

std::unique_ptr<Link> MapTransport::make_link(std::byte* block, std::size_t half_bytes,
                                              std::uint32_t notifications, void* owner) {
  const Room room = room_for(notifications);
  switch (generation_) {
    case Generation::v1:
    case Generation::v1_strict:
      return make<V1>(room, block, half_bytes, owner);
    case Generation::v2:
      return make<V2>(room, block, half_bytes, owner);
    default:
      return make<V3>(room, block, half_bytes, owner);
  }
}

void MapTransport::remove(MapBase& map, const Depths& depths) noexcept {
  std::erase(maps_, &map);
  std::erase(connecting_, &map);
  std::erase(owing_, &map);
  std::erase_if(events_, [&](const LinkEvent& event) { return event.owner == map.owner(); });
  sends_ -= depths.sends;
  receives_ -= depths.receives;
}

Room MapTransport::room_for(std::uint32_t notifications) const noexcept {
  constexpr std::uint32_t kLeast = 16;
  constexpr std::uint32_t kMost = 4096;
  constexpr std::uint32_t kOthers = 2 * kOtherSends;
  const NicAttributes& limits = nic_->attributes();
  const std::uint32_t depth = std::min(limits.max_queue_depth, limits.max_completion_queue);
  const std::uint32_t most =
      std::min(kMost, std::bit_floor(std::max(depth, 2 * kOthers) - kOthers));
  return {std::clamp(notifications, kLeast, most)};
}

std::size_t MapTransport::bytes_per_link(std::uint32_t notifications) const noexcept {
  const Room room = room_for(notifications);
  switch (generation_) {
    case Generation::v1:
    case Generation::v1_strict:
      return sizeof(Map<V1>) + V1::bytes(room);
    case Generation::v2:
      return sizeof(Map<V2>) + V2::bytes(room);
    default:
      return sizeof(Map<V3>) + V3::bytes(room);
  }
}

std::optional<std::uint32_t> MapTransport::register_chunk(std::byte* address,
                                                          std::size_t bytes) noexcept {
  try {
    return regions_.add(address, bytes);
  } catch (const std::exception&) {
    return {};
  }
}

// Events.

void MapTransport::tell(const LinkEvent& event) noexcept { events_.push_back(event); }

void MapTransport::owes(MapBase& map) noexcept {
  if (std::find(owing_.begin(), owing_.end(), &map) == owing_.end()) owing_.push_back(&map);
}

void MapTransport::reap_sends() noexcept {
  VIADUCT_PART(cq_send);
  Completion done;
  while (send_queue_->poll(done) == Status::ok)
    static_cast<MapBase*>(place_of(done).owner)->take_sent(done);
}

/// Takes arrivals until @p most events wait, or nothing more has come. Messages of counts alone
/// bring no event.
void MapTransport::take_arrivals(std::size_t most) noexcept {
  constexpr int kMostLooks = 64;
  Completion done;
  for (int i = 0; i < kMostLooks && events_.size() < most; ++i) {
    if (receive_queue_->poll(done) != Status::ok) return;
    static_cast<MapBase*>(place_of(done).owner)->take_received(done);
  }
}

void MapTransport::take_completions() noexcept {
  if (!connecting_.empty()) look_at_connections();  // a peer may be ready before this end is
  reap_sends();
  // Without a bound: the counts that the caller waits for may come behind many events. Those are no
  // more than the notifications of all links.
  take_arrivals(std::numeric_limits<std::size_t>::max());
  look_at_debts();
}

void MapTransport::look_at_connections() noexcept {
  std::erase_if(connecting_, [](MapBase* map) { return map->look_at_connection(); });
}

void MapTransport::look_at_debts() noexcept {
  if (owing_.empty()) return;
  reap_sends();
  std::erase_if(owing_, [](MapBase* map) { return map->pay_credits(); });
}

void MapTransport::look_at_ends() noexcept {
  const std::uint64_t now = monotonic_ns();
  for (MapBase* map : maps_) map->look_at_end(now);
}

void MapTransport::take_error(const AsyncError& error) noexcept {
  if (error.vi == nullptr || error.cause == ErrorCause::disconnected) return;
  const Place& place = *static_cast<const Place*>(error.vi->attributes().context);
  for (MapBase* map : maps_)  // the VI may be one of the control path's
    if (map == place.owner) return map->end(error.cause);
}

std::size_t MapTransport::poll(LinkEvents& out) noexcept {
  ++polls_;
  if (polls_ % kLookAtSends == 0) [[unlikely]]
    reap_sends();
  if (polls_ % kLookAtEnds == 0) [[unlikely]]
    look_at_ends();
  if (!connecting_.empty()) [[unlikely]]
    look_at_connections();
  take_arrivals(out.size());
  look_at_debts();
  const std::size_t n = std::min(out.size(), events_.size());
  if (n == 0) return 0;
  std::copy_n(events_.begin(), n, out.begin());
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(n));
  return n;
}

void MapTransport::progress(const ControlHandler& handler) {
  nic_->progress();
  look_at_connections();
  control_.progress(handler);
}

}  // namespace viaduct::via::generations
