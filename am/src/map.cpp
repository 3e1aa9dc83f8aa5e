/// MAPs: made at the first message from either side, drained and closed when one side ends.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "am/src/bundle_wait.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::am {

using detail::Map;
using detail::MapBlock;
namespace wire_format = detail::wire_format;
namespace header = via::header;

void Map::publish_credits() noexcept {
  unreplied_published = unreplied;
  channel->release_and_publish(0, unreplied);
}

/// The same from both sides: the lower rank's number above the other's.
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

std::uint64_t Endpoint::discriminator(EndpointName a, EndpointName b) noexcept {
  const bool ordered =
      index(a.rank) != index(b.rank) ? index(a.rank) < index(b.rank) : a.number < b.number;
  const EndpointName& low = ordered ? a : b;
  const EndpointName& high = ordered ? b : a;
  // "AM": leaves other discriminators to other clients.
  constexpr std::uint64_t kActiveMessages = 0x414d;
  return kActiveMessages << 48 | std::uint64_t{low.number} << 16 | high.number;
}

Map* Endpoint::find_map(EndpointName name) noexcept {
  const auto found = std::find_if(owned_.begin(), owned_.end(), [&](const auto& map) {
    return map->name.rank == name.rank && map->name.number == name.number;
  });
  return found == owned_.end() ? nullptr : found->get();
}

Map& Endpoint::add_map(Index index, EndpointName name, Tag presented) {
  auto map = std::make_unique<Map>();
  map->endpoint = this;
  map->index = index;
  map->name = name;
  map->tags.presented = presented;
  map->credit_limit = flow_.credits;
  map->batch = std::max(1U, map->credit_limit / 4);
  map->thunks = thunks_.data();
  owned_.push_back(std::move(map));
  Map& made = *owned_.back();
  if (value(index) != kNoIndex) maps_[value(index)] = &made;
  return made;
}

/// The MAP that a message to @p index takes, made now if need be; the index is mapped. All indices
/// that name one peer share one MAP. Answers the null map when the message must wait.
Map& Endpoint::live_map(Index index) {
  const Translation& entry = translations_[value(index)];
  Map* map = maps_[value(index)];
  if (map == &null_map_) map = find_map(entry.name);
  if (map != nullptr) check_connection(*map);
  if (map != nullptr && map->tags.changed) {
    if (map->state == Map::State::connecting) return null_map_;
    if (map->state == Map::State::connected && !try_notice(*map)) return null_map_;
    if (map->state == Map::State::rejected) {  // under the tag before
      drop(*map);
      map = nullptr;
    }
  }
  if (map != nullptr) {
    maps_[value(index)] = map;
    return *map;
  }
  Map& made = make_map(index_of(entry.name), entry.name, entry.tag);
  maps_[value(index)] = &made;
  check_connection(made);
  return made;
}

/// Adds a MAP and starts it; an exception leaves no MAP.
Map& Endpoint::make_map(Index index, EndpointName name, Tag presented) {
  Map& made = add_map(index, name, presented);
  try {
    start(made);
  } catch (...) {
    drop(made);
    throw;
  }
  return made;
}

/// The part of @p block for medium payloads.
static detail::MediumArea area_of(const Map& map, MapBlock& block,
                                  const Settings& settings) noexcept {
  return {block.medium(), static_cast<std::uint32_t>(settings.medium_bytes),
          map.channel->is_remote() ? 0 : detail::kGapBytes};
}

/// Makes the MAP's channel and block and asks the peer for its own.
void Endpoint::start(Map& map) {
  Context& context = bundle_.context();
  const Settings& settings = context.settings();
  if (context.job().is_lost(map.name.rank)) {
    map.state = Map::State::lost;
    return;
  }
  via::channel::Options options;
  options.slots = flow_.slots;
  options.release_every = options.slots / 8;
  options.client_bits = wire_format::used_bits;
  options.extra_bytes = sizeof(MapBlock) + static_cast<std::size_t>(settings.medium_bytes);
  if (context.nic().is_remote(map.name.rank)) {
    options.remote = true;
    options.notifications = remote_notifications();
    options.extra_bytes += sizeof(detail::OverflowBlock) + max_medium_;
  }
  map.channel_owner = context.nic().create_channel(*bundle_.group_, &map, options);
  map.channel = map.channel_owner.get();
  auto* block = new (map.channel->prepare_extra()) MapBlock{};
  block->magic = MapBlock::kMagic;
  block->slots = options.slots;
  block->credits = flow_.credits;
  block->medium_bytes = static_cast<std::uint32_t>(settings.medium_bytes);
  block->tag.store(map.tags.presented);
  block->endpoint_page = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(page_) -
                                                    context.job().segment().base());
  if (map.channel->is_remote()) show_segment(*block);
  map.medium_out = {area_of(map, *block, settings), 0, 0};
  map.state = Map::State::connecting;
  context.count(kMapsMade);
  if (map.name.rank == context.job().rank() && map.name.number == number_) {
    if (!hears(map.tags.presented)) {
      map.state = Map::State::rejected;
      map.end.rejection = Undeliverable::bad_tag;
      return;
    }
    map.channel->connect_loopback();
    return;
  }
  if (map.channel->connect_peer_start(map.name.rank, discriminator(name(), map.name)) ==
      Status::peer_lost)
    map.state = Map::State::lost;
}

void Endpoint::check_connection(Map& map) noexcept {
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
  const bool lost = map.channel->is_unreachable() || bundle_.context().job().is_lost(map.name.rank);
  map.state = lost ? Map::State::lost : Map::State::rejected;
}

void Endpoint::on_connected(Map& map) noexcept {
  auto* block = reinterpret_cast<MapBlock*>(map.channel->peer_extra());
  const bool remote = map.channel->is_remote();
  map.peer.window = remote ? nullptr : bundle_.context().job().window_of(map.name.rank);
  // Read once: the peer's memory may change.
  const std::uint64_t page_at = load_word(block->endpoint_page, kRelaxed);
  if (remote ? !speaks_alike(*block)
             : !fits_us(reinterpret_cast<const std::byte*>(block), map.peer.window) ||
                   !lies_in_window(page_at)) {  // its channel is let go with the MAP
    map.state = Map::State::rejected;
    map.end.rejection = Undeliverable::bad_endpoint;
    return;
  }
  map.peer.page = remote ? &map.peer.copied_page
                         : reinterpret_cast<detail::EndpointPage*>(map.peer.window + page_at);
  static_cast<detail::MediumArea&>(map.medium_in) =
      area_of(map, *block, bundle_.context().settings());
  map.state = Map::State::connected;
  apply_tag(map);
  map.limit = map.channel->slots_sent() + map.credit_limit;
  map.poll_after(bundle_.poll_every_);
}

/// Sends a notice, which takes no credit, in order with the requests. False: no room. On a remote
/// channel, where each line takes a receive, there is room for one notice at a time; the peer
/// returns the line when it handles the notice.
bool Endpoint::send_notice(Map& map, std::span<const std::uint64_t> words) noexcept {
  if (map.channel->is_remote() && map.channel->slots_returned() < map.tags.notice_end) return false;
  const std::uint64_t client =
      wire_format::make(detail::Kind::request, Operation::short_message, 0) |
      wire_format::notice_bit;
  if (!map.try_send(0, client, words, static_cast<std::uint32_t>(words.size_bytes()))) return false;
  map.tags.notice_end = map.channel->slots_sent();
  return true;
}

/// Tells the peer to look at the tag in our block again and to return all credits that it owes us.
/// False: no room.
bool Endpoint::try_notice(Map& map) noexcept {
  if (!send_notice(map, {})) return false;
  map.tags.changed = false;
  return true;
}

/// Whether a MapBlock at @p at has the values that every rank's must have, and lies in the peer's
/// window with its medium ring. The block is the peer's memory, and decides where we read.
bool Endpoint::fits_us(const std::byte* at, const std::byte* window) const noexcept {
  Context& context = bundle_.context();
  const auto ring = static_cast<std::size_t>(context.settings().medium_bytes);
  const std::size_t bytes = context.job().segment().window_bytes();
  const auto offset = static_cast<std::size_t>(at - window);
  if (bytes < sizeof(MapBlock) + ring || offset > bytes - sizeof(MapBlock) - ring ||
      offset % alignof(MapBlock) != 0)
    return false;
  const auto& block = *reinterpret_cast<const MapBlock*>(at);
  return speaks_alike(block) && lies_in_window(block.endpoint_page);
}

/// Whether an EndpointPage may lie at this offset of a window.
bool Endpoint::lies_in_window(std::uint64_t page) const noexcept {
  return page <= bundle_.context().job().segment().window_bytes() - sizeof(detail::EndpointPage) &&
         page % alignof(detail::EndpointPage) == 0;
}

bool Endpoint::speaks_alike(const MapBlock& block) const noexcept {
  const Settings& settings = bundle_.context().settings();
  return block.magic == MapBlock::kMagic && block.slots == flow_.slots &&
         block.medium_bytes == static_cast<std::uint32_t>(settings.medium_bytes);
}

/// The endpoint @p from asks for a MAP that we have not asked for.
void Endpoint::incoming(EndpointName from, std::uint64_t which) {
  via::channel::Nic& nic = bundle_.context().nic();
  if (Map* old = find_map(from)) {
    check_connection(*old);
    if (old->state == Map::State::lost && !bundle_.context().job().is_lost(from.rank))
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
      (nic.is_remote(from.rank) ? speaks_alike(*reinterpret_cast<const MapBlock*>(block))
                                : fits_us(block, bundle_.context().job().window_of(from.rank)));
  if (!fits) return reject(Undeliverable::bad_endpoint);
  if (!hears(reinterpret_cast<const MapBlock*>(block)->tag.load()))
    return reject(Undeliverable::bad_tag);
  const Index at = index_of(from);
  try {
    check_connection(
        make_map(at, from, value(at) == kNoIndex ? kTagAll : translations_[value(at)].tag));
  } catch (const std::exception& e) {  // no memory for a MAP
    bundle_.context().job().log().write(LogLevel::error, e.what());
    reject(Undeliverable::congestion);
  }
}

/// Drains a MAP whose channel has ended, returns requests that the peer has not taken, and drops
/// it.
void Endpoint::close(Map& map) noexcept {
  Bundle::Dispatcher dispatcher{bundle_, true};
  const bool lost = map.end.unreachable || bundle_.context().job().is_lost(map.name.rank);
  check_connection(map);
  if (map.channel != nullptr && map.channel->state() != via::ViState::idle)
    while (map.channel->drain(Bundle::kBatch, dispatcher) != 0) {
    }
  if (map.deferred_count != 0) bundle_.run_deferred();
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
  const std::uint64_t which = discriminator(name(), peer);
  if (bundle_.context().nic().incoming_extra(peer.rank, which) != nullptr) incoming(peer, which);
}

/// Returns the requests whose credits have not come back. Requests are handled in order, so these
/// are the last ones. Credits without a reply come back in batches, so the peer may have handled
/// some of these. Replies are not returned, because no rank waits for them.
void Endpoint::return_unseen(Map& map, Undeliverable why) noexcept {
  const via::channel::Channel& channel = *map.channel;
  const std::uint64_t end = channel.slots_sent();
  const std::uint64_t slots = flow_.slots;
  const std::uint64_t oldest = end > slots ? end - slots : 0;
  const auto client_at = [&](std::uint64_t seq) {
    const std::uint64_t head = channel.sent_slot(seq).header.load(kRelaxed);
    const bool first = header::kind(head) == via::MessageKind::inline_data;
    return first ? header::client(head) : wire_format::notice_bit;
  };
  const auto is_request = [](std::uint64_t client) {
    return (client & (wire_format::notice_bit | wire_format::half_bit)) == 0 &&
           wire_format::kind(client) == detail::Kind::request;
  };
  std::uint32_t unanswered =
      map.credit_limit - std::min(map.credit_limit, map.end.credits + map.credits());
  std::uint64_t from = end;  // the first of the unanswered requests that are still in the ring
  for (std::uint64_t seq = end; seq > oldest && unanswered != 0; --seq)
    if (is_request(client_at(seq - 1))) {
      from = seq - 1;
      --unanswered;
    }
  // The rest are older than the ring: nothing is known of them but their number, and how many of
  // them are calls, which close() lets fail. Calls are answered in order: the last ones are
  // pending.
  std::uint32_t older_calls = map.calls.pending();
  for (std::uint64_t seq = oldest; seq < end && older_calls != 0; ++seq)
    if (is_request(client_at(seq)) && is_call_handler(wire_format::handler(client_at(seq))))
      --older_calls;
  for (unanswered -= std::min(unanswered, older_calls); unanswered != 0; --unanswered)
    return_to_sender(Returned{why, Operation::short_message, Direction::request, map.index,
                              map.name.rank, 0, nullptr, 0, 0, 0});
  for (std::uint64_t seq = from; seq < end; ++seq)  // close() lets the calls fail
    if (is_request(client_at(seq)) && !is_call_handler(wire_format::handler(client_at(seq))))
      return_sent(map, seq, why);
}

void Endpoint::return_sent(Map& map, std::uint64_t seq, Undeliverable why) noexcept {
  const std::uint64_t head = map.channel->sent_slot(seq).header.load(kRelaxed);
  const std::uint64_t client = header::client(head);
  std::uint64_t words[detail::kMaxMessageWords] = {};
  // Its own window, in which others can write, too.
  const std::uint32_t lines = std::min(1 + header::extra_lines(head), via::kMaxLines);
  for (std::uint32_t i = 0; i < lines; ++i)
    for (std::uint32_t w = 0; w < via::kWordsPerSlot; ++w)
      words[i * via::kWordsPerSlot + w] = map.channel->sent_slot(seq + i).words[w];
  const std::uint32_t prefix = 8 * wire_format::prefix_words(wire_format::operation(client));
  const std::uint32_t bytes = std::clamp(header::length(head), prefix, lines * via::kInlineBytes);
  return_to_sender(map.describe_returned(client, words, bytes, why, Direction::request));
}

void Endpoint::drop(Map& map) noexcept {
  fail_calls(map, map.end.unreachable ? Undeliverable::unreachable : Undeliverable::bad_endpoint);
  // Requests that were handled here and not replied to: the peer must not take them for lost.
  if (map.channel != nullptr && map.channel->state() == via::ViState::connected &&
      map.unreplied != map.unreplied_published)
    map.publish_credits();
  if (value(map.index) != kNoIndex) std::replace(maps_.begin(), maps_.end(), &map, &null_map_);
  std::erase_if(bundle_.refused_replies_, [&](const auto& refused) { return refused.map == &map; });
  const auto found = std::find_if(owned_.begin(), owned_.end(),
                                  [&](const auto& owned) { return owned.get() == &map; });
  const Owned<Map> ended = std::move(*found);  // its channel disconnects, which may add MAPs
  owned_.erase(found);
}

}  // namespace viaduct::am
