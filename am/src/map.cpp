/// MAPs: made at the first message from either side, drained and closed when one side ends.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "am/src/map_life.hpp"
#include "am/src/returns.hpp"
#include "am/src/standstill.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::am::detail {

void Map::publish_credits() noexcept {
  unreplied_published = unreplied;
  channel->release_and_publish(0, unreplied);
}

Returned Map::describe_returned(std::uint64_t client, const std::uint64_t* words,
                                std::uint32_t bytes, Undeliverable status,
                                Direction direction) const noexcept {
  const std::uint32_t prefix = wire_format::prefix_words(wire_format::operation(client));
  const wire_format::Data data = wire_format::data(client, words);
  Returned returned;
  returned.status = status;
  returned.operation = wire_format::operation(client);
  returned.direction = direction;
  returned.peer = index;
  returned.rank = name.rank;
  returned.handler = wire_format::handler(client);
  returned.args = reinterpret_cast<const std::byte*>(words + prefix);
  returned.arg_bytes = bytes - 8 * prefix;
  returned.data_bytes = data.bytes;
  returned.offset = data.offset;
  return returned;
}

namespace {

/// The same from both sides: the lower rank's number above the other's.
std::uint64_t discriminator(EndpointName a, EndpointName b) noexcept {
  const bool ordered =
      index(a.rank) != index(b.rank) ? index(a.rank) < index(b.rank) : a.number < b.number;
  const EndpointName& low = ordered ? a : b;
  const EndpointName& high = ordered ? b : a;
  // "AM": leaves other discriminators to other clients.
  constexpr std::uint64_t kActiveMessages = 0x414d;
  return kActiveMessages << 48 | std::uint64_t{low.number} << 16 | high.number;
}

/// The part of @p block for medium payloads.
MediumArea area_of(const Map& map, MapBlock& block, const Settings& settings) noexcept {
  return {block.medium(), static_cast<std::uint32_t>(settings.medium_bytes),
          map.channel->is_remote() ? 0 : kGapBytes};
}

/// Whether an EndpointPage may lie at this offset of a window.
bool lies_in_window(Context& context, std::uint64_t page) noexcept {
  return page <= context.job().segment().window_bytes() - sizeof(EndpointPage) &&
         page % alignof(EndpointPage) == 0;
}

bool speaks_alike(const EndpointCore& core, const MapBlock& block) noexcept {
  const Settings& settings = core.context().settings();
  return block.magic == MapBlock::kMagic && block.slots == core.flow.slots &&
         block.medium_bytes == static_cast<std::uint32_t>(settings.medium_bytes);
}

/// Whether a MapBlock at @p at has the values that every rank's must have, and lies in the peer's
/// window with its medium ring. The block is the peer's memory, and decides where we read.
bool fits_us(const EndpointCore& core, const std::byte* at, const std::byte* window) noexcept {
  Context& context = core.context();
  const auto ring = static_cast<std::size_t>(context.settings().medium_bytes);
  const std::size_t bytes = context.job().segment().window_bytes();
  const auto offset = static_cast<std::size_t>(at - window);
  if (bytes < sizeof(MapBlock) + ring || offset > bytes - sizeof(MapBlock) - ring ||
      offset % alignof(MapBlock) != 0)
    return false;
  const auto& block = *reinterpret_cast<const MapBlock*>(at);
  return speaks_alike(core, block) && lies_in_window(context, block.endpoint_page);
}

/// Sends a notice, which takes no credit, in order with the requests. False: no room. On a remote
/// channel, where each line takes a receive, there is room for one notice at a time; the peer
/// returns the line when it handles the notice.
bool send_notice(Map& map, std::span<const std::uint64_t> words) noexcept {
  if (map.channel->is_remote() && map.channel->slots_returned() < map.tags.notice_end) return false;
  const std::uint64_t client =
      wire_format::make(Kind::request, Operation::short_message, 0) | wire_format::notice_bit;
  if (!map.try_send(0, client, words, static_cast<std::uint32_t>(words.size_bytes()))) return false;
  map.tags.notice_end = map.channel->slots_sent();
  return true;
}

/// Adds a MAP, which is not connected.
Map& add_map(EndpointCore& core, Index index, EndpointName name, Tag presented) {
  auto map = std::make_unique<Map>();
  map->endpoint = &core.endpoint;
  map->index = index;
  map->name = name;
  map->tags.presented = presented;
  map->credit_limit = core.flow.credits;
  map->batch = std::max(1U, map->credit_limit / 4);
  map->thunks = core.handlers.thunks.data();
  return core.table.add(std::move(map));
}

/// Makes the MAP's channel and block and asks the peer for its own.
void start(Map& map) {
  EndpointCore& core = core_of(map);
  Context& context = core.context();
  const Settings& settings = context.settings();
  if (context.job().is_lost(map.name.rank)) {
    map.state = Map::State::lost;
    return;
  }
  via::channel::Options options;
  options.slots = core.flow.slots;
  options.release_every = options.slots / 8;
  options.client_bits = wire_format::used_bits;
  options.extra_bytes = sizeof(MapBlock) + static_cast<std::size_t>(settings.medium_bytes);
  if (context.nic().is_remote(map.name.rank)) {
    options.remote = true;
    options.notifications = remote_notifications(core);
    options.extra_bytes += sizeof(OverflowBlock) + core.max_medium;
  }
  map.channel_owner = context.nic().create_channel(*core.dispatcher().group, &map, options);
  map.channel = map.channel_owner.get();
  auto* block = new (map.channel->prepare_extra()) MapBlock{};
  block->magic = MapBlock::kMagic;
  block->slots = options.slots;
  block->credits = core.flow.credits;
  block->medium_bytes = static_cast<std::uint32_t>(settings.medium_bytes);
  block->tag.store(map.tags.presented);
  block->endpoint_page = static_cast<std::uint64_t>(
      reinterpret_cast<std::byte*>(&core.segment.page()) - context.job().segment().base());
  if (map.channel->is_remote()) core.segment.show_in(*block);
  map.medium.out = {area_of(map, *block, settings), 0, 0};
  map.state = Map::State::connecting;
  core.dispatcher().count(kMapsMade);
  if (map.name.rank == context.job().rank() && map.name.number == core.number) {
    if (!core.hears(map.tags.presented)) {
      map.state = Map::State::rejected;
      map.end.rejection = Undeliverable::bad_tag;
      return;
    }
    map.channel->connect_loopback();
    return;
  }
  if (map.channel->connect_peer_start(map.name.rank, discriminator(core.name(), map.name)) ==
      Status::peer_lost)
    map.state = Map::State::lost;
}

/// Adds a MAP and starts it; an exception leaves no MAP.
Map& make_map(EndpointCore& core, Index index, EndpointName name, Tag presented) {
  Map& made = add_map(core, index, name, presented);
  try {
    start(made);
  } catch (...) {
    drop(made);
    throw;
  }
  return made;
}

}  // namespace

Map& live_map(EndpointCore& core, Index index) {
  TranslationTable& table = core.table;
  const TranslationTable::Entry& entry = table[index];
  Map* map = &table.map_of(index);
  if (map == &table.null_map()) map = table.find(entry.name);
  if (map != nullptr) check_connection(*map);
  if (map != nullptr && map->tags.changed) {
    if (map->state == Map::State::connecting) return table.null_map();
    if (map->state == Map::State::connected && !try_notice(*map)) return table.null_map();
    if (map->state == Map::State::rejected) {  // under the tag before
      drop(*map);
      return live_map(core, index);  // the peer may have asked meanwhile
    }
  }
  if (map != nullptr) {
    table.lead(index, *map);
    return *map;
  }
  Map& made = make_map(core, table.index_of(entry.name), entry.name, entry.tag);
  table.lead(index, made);
  check_connection(made);
  return made;
}

/// Requests by our credits, replies to ours, a notice (try_notice) and two signs of the channel's.
std::uint32_t remote_notifications(const EndpointCore& core) noexcept {
  constexpr std::uint32_t kBesides = 4;  // one to spare
  return 2 * core.flow.credits + kBesides;
}

void check_connection(Map& map) noexcept {
  if (map.state != Map::State::connecting) return;
  switch (map.channel->state()) {
    case via::ViState::connected:
      return on_connected(map);
    case via::ViState::connecting:
      return;
    case via::ViState::error:
    case via::ViState::idle:
      break;
  }
  map.end.rejection = static_cast<Undeliverable>(map.channel->rejection_reason());
  if (map.end.rejection == Undeliverable::none) map.end.rejection = Undeliverable::bad_endpoint;
  const bool lost =
      map.channel->is_unreachable() || core_of(map).context().job().is_lost(map.name.rank);
  map.state = lost ? Map::State::lost : Map::State::rejected;
}

void on_connected(Map& map) noexcept {
  EndpointCore& core = core_of(map);
  Context& context = core.context();
  auto* block = reinterpret_cast<MapBlock*>(map.channel->peer_extra());
  const bool remote = map.channel->is_remote();
  map.peer.window = remote ? nullptr : context.job().window_of(map.name.rank);
  // Read once: the peer's memory may change.
  const std::uint64_t page_at = load_word(block->endpoint_page, kRelaxed);
  if (remote ? !speaks_alike(core, *block)
             : !fits_us(core, reinterpret_cast<const std::byte*>(block), map.peer.window) ||
                   !lies_in_window(context, page_at)) {  // its channel is let go with the MAP
    map.state = Map::State::rejected;
    map.end.rejection = Undeliverable::bad_endpoint;
    return;
  }
  map.peer.page =
      remote ? &map.peer.copied_page : reinterpret_cast<EndpointPage*>(map.peer.window + page_at);
  static_cast<MediumArea&>(map.medium.in) = area_of(map, *block, context.settings());
  map.state = Map::State::connected;
  apply_tag(map);
  map.limit = map.channel->slots_sent() + map.credit_limit;
  map.poll_after(core.dispatcher().pace.every);
}

void Map::set_next_poll(PollPace& pace) noexcept {
  const bool streams = pace.last == this;
  if (!streams && pace.last != nullptr) {  // a stream to that peer is over
    Map& other = *pace.last;
    if (other.poll_at > other.slots_sent() + pace.every) other.poll_after(pace.every);
  }
  pace.last = state == State::connected ? this : nullptr;
  const std::uint32_t in_stream = std::min(pace.in_stream, credit_limit - credit_limit / 4);
  poll_after(streams ? std::max(pace.every, in_stream) : pace.every);
}

/// Before the peer is connected its tag is unknown: `thunk_count` stays 0, so that its first
/// message leads to check_connection().
void apply_tag(Map& map) noexcept {
  if (map.state != Map::State::connected && map.state != Map::State::closing) return;
  const EndpointCore& core = core_of(map);
  map.tags.theirs = reinterpret_cast<MapBlock*>(map.channel->peer_extra())->tag.load();
  map.tags.refused = !core.hears(map.tags.theirs);
  map.thunk_count = map.tags.refused ? 0 : static_cast<std::uint32_t>(core.handlers.thunks.size());
}

/// The peer may have read the old tag from our block, so a notice goes before the next request.
void retag(Map& map, Tag tag) noexcept {
  if (map.tags.presented == tag && map.state == Map::State::connected) return;
  map.tags.presented = tag;
  map.tags.changed = true;
  if (map.channel == nullptr || map.channel->state() == via::ViState::idle) return;
  auto* block = reinterpret_cast<MapBlock*>(map.channel->prepare_extra());
  block->tag.store(tag);
  map.channel->forward_extra(reinterpret_cast<std::byte*>(block), sizeof *block);
}

bool try_notice(Map& map) noexcept {
  if (!send_notice(map, {})) return false;
  map.tags.changed = false;
  return true;
}

bool try_inquiry(Map& map, const Inquiry& inquiry) noexcept {
  const std::uint64_t words[2] = {std::uint64_t{inquiry.hops} << 32 | inquiry.asker,
                                  inquiry.number};
  static_assert(sizeof words == Inquiry::kBytes);
  return map.state == Map::State::connected && send_notice(map, words);
}

void incoming(EndpointCore& core, EndpointName from, std::uint64_t which) {
  via::channel::Nic& nic = core.context().nic();
  if (Map* old = core.table.find(from)) {
    check_connection(*old);
    if (old->state == Map::State::lost && !core.context().job().is_lost(from.rank))
      return nic.reject_peer(from.rank, which,
                             static_cast<std::uint64_t>(Undeliverable::unreachable));
    if (old->state != Map::State::rejected)
      return;    // still to be closed: close() comes back to this
    drop(*old);  // the peer refused us once, and now asks itself
  }
  const std::byte* block = nic.incoming_extra(from.rank, which);
  // The bytes of a control message lie at any address.
  alignas(MapBlock) std::array<std::byte, sizeof(MapBlock)> aligned;
  if (block != nullptr && nic.is_remote(from.rank)) {
    std::memcpy(aligned.data(), block, aligned.size());
    block = aligned.data();
  }
  const auto reject = [&](Undeliverable why) {
    nic.reject_peer(from.rank, which, static_cast<std::uint64_t>(why));
  };
  const bool fits =
      block != nullptr &&
      (nic.is_remote(from.rank) ? speaks_alike(core, *reinterpret_cast<const MapBlock*>(block))
                                : fits_us(core, block, core.context().job().window_of(from.rank)));
  if (!fits) return reject(Undeliverable::bad_endpoint);
  if (!core.hears(reinterpret_cast<const MapBlock*>(block)->tag.load()))
    return reject(Undeliverable::bad_tag);
  const Index at = core.table.index_of(from);
  try {
    check_connection(
        make_map(core, at, from, value(at) == kNoIndex ? kTagAll : core.table[at].tag));
  } catch (const std::exception& e) {  // no memory for a MAP
    core.context().job().log().write(LogLevel::error, e.what());
    reject(Undeliverable::congestion);
  }
}

void close(Map& map) noexcept {
  EndpointCore& core = core_of(map);
  Dispatcher::Receiver receiver{core.dispatcher(), true};
  const bool lost = map.end.unreachable || core.context().job().is_lost(map.name.rank);
  check_connection(map);
  if (map.channel != nullptr && map.channel->state() != via::ViState::idle)
    while (map.channel->drain(Dispatcher::kBatch, receiver) != 0) {
    }
  if (map.deferred_count != 0) core.dispatcher().run_deferred();
  if (map.state == Map::State::closing && map.channel->state() == via::ViState::error)
    return_unseen(map, lost ? Undeliverable::unreachable : Undeliverable::bad_endpoint);
  fail_calls(map, lost ? Undeliverable::unreachable : Undeliverable::bad_endpoint);
  if (lost) {
    if (map.channel != nullptr) map.channel->disconnect();
    map.state = Map::State::lost;
    map.drop_credits();
    return;
  }
  const EndpointName peer = map.name;
  drop(map);
  const std::uint64_t which = discriminator(core.name(), peer);
  if (core.context().nic().incoming_extra(peer.rank, which) != nullptr) incoming(core, peer, which);
}

void drop(Map& map) noexcept {
  EndpointCore& core = core_of(map);
  fail_calls(map, map.end.unreachable ? Undeliverable::unreachable : Undeliverable::bad_endpoint);
  // Requests that were handled here and not replied to: the peer must not take them for lost.
  if (map.channel != nullptr && map.channel->state() == via::ViState::connected &&
      map.unreplied != map.unreplied_published)
    map.publish_credits();
  std::erase_if(core.dispatcher().refused_replies,
                [&](const auto& refused) { return refused.map == &map; });
  if (core.dispatcher().pace.last == &map) core.dispatcher().pace.last = nullptr;
  const Owned<Map> ended = core.table.remove(map);  // its channel disconnects, which may add MAPs
}

}  // namespace viaduct::am::detail
