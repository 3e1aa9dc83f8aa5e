/// Sends that the inline fast path does not make: waits, several lines, medium, bulk, get, and
/// every error.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "runtime/hang_report.hpp"
#include "via/channel/nic.hpp"
#include "via/copy.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::am {

using detail::Map;
namespace wire_format = detail::wire_format;
namespace header = via::header;

/// Polls where it is time: once in poll_every_ slots that are sent to @p to. A MAP may end
/// meanwhile.
void Endpoint::poll_between(Index to) noexcept {
  VIADUCT_PART(cq_recv);
  const std::uint32_t every = bundle_.poll_every_;
  if (!maps_[value(to)]->is_poll_due(every)) return;
  bundle_.poll_open(wait_run_);
  maps_[value(to)]->poll_after(every);  // without the replies that the poll has sent
}

/// Behind the last slot of the short way: a poll where it is time, and the way opened anew.
void Endpoint::renew_short_way(Index to) noexcept {
  poll_between(to);
  (void)maps_[value(to)]->open_short_way();
}

/// What is to follow a request that has gone the short way and not rung. Answers ok.
Status Endpoint::finish_short(Index to) noexcept {
  const Map& map = *maps_[value(to)];
  map.channel->ring_if_wanted();
  if (map.channel->slots_sent() >= map.short_until) renew_short_way(to);
  return Status::ok;
}

/// Before a request for which the short way was closed. Answers whether the way is open now.
bool Endpoint::open_short_way(Index to) noexcept {
  if (bundle_.slow_ != 0 || value(to) >= maps_.size() || maps_[value(to)]->channel == nullptr)
    return false;
  poll_between(to);
  Map& map = *maps_[value(to)];
  return map.has_credit() && map.open_short_way();
}

/// A short message of several lines, or a medium one that is all in its lines, where there are
/// credit and room for it. False: nothing is sent.
[[gnu::always_inline]] inline bool Endpoint::send_at_once(const Outgoing& out) noexcept {
  const Operation operation = wire_format::operation(out.client);
  if (operation == Operation::medium ? out.bytes > max_medium_ : out.count <= via::kWordsPerSlot)
    return false;
  if (operation == Operation::bulk || out.call != nullptr || bundle_.slow_ != 0 ||
      value(out.to) >= maps_.size() || (out.data == nullptr && out.bytes != 0)) [[unlikely]]
    return false;
  Map& map = *maps_[value(out.to)];
  if (!map.has_credit()) [[unlikely]]
    return false;
  if (operation == Operation::medium && !map.takes_in_lines(out.count, out.bytes)) return false;
  if (!map.try_send_in_lines(1, out.client, {out.words, out.count}, out.arg_bytes,
                             {out.data, out.bytes})) [[unlikely]]
    return false;
  if (map.channel->slots_sent() >= map.short_until) [[unlikely]]
    renew_short_way(out.to);
  return true;
}

Status Endpoint::send_slow(const Outgoing& out) noexcept {
  if (send_at_once(out)) return Status::ok;
  return bundle_.has_short_calls_ ? send_shared(out) : send_long(out);
}

Status Endpoint::send_long(const Outgoing& out) noexcept {
  const Bundle::Guard guard(bundle_, out.call != nullptr ? "a call" : "a request");
  const char* const what = out.call != nullptr ? "call" : "request";
  if (value(out.to) >= maps_.size()) return Refusal::index(*this, what, out.to);
  if (out.data == nullptr && out.bytes != 0) return Refusal::null(*this, what, out.bytes);
  if (wire_format::operation(out.client) == Operation::medium && out.bytes > max_medium_)
    return Refusal::length(*this, what, out.bytes);
  if (!translations_[value(out.to)].in_use) {
    return_to_sender(out, Undeliverable::bad_entry);
    return Status::ok;
  }
  poll_between(out.to);
  const std::uint64_t before = maps_[value(out.to)]->slots_sent();
  Status status = Status::retry;
  const auto attempt = [&] {
    status = attempt_send(out);
    return status != Status::retry;
  };
  if (attempt()) {
    Map& map = *maps_[value(out.to)];
    // A program that sends again and again what comes back polls each time.
    if (map.slots_sent() == before) map.poll_after(0);
    (void)map.open_short_way();
    return status;
  }
  if (!out.wait) {
    bundle_.poll_open(wait_run_);
    return Status::retry;
  }
  bundle_.context().count(kRequestWaits);
  const bool connecting = maps_[value(out.to)]->state == Map::State::connecting;
  std::optional<Bundle::ReplyWait> reply_wait;
  if (wait_run_ == Bundle::Run::replies) reply_wait.emplace(*this, out.to);
  (void)bundle_.wait_loop(Activity::waiting_credit, connecting ? kConnecting : "request",
                          index(translation_name(out.to).rank), wait_run_, -1, attempt, nullptr,
                          reply_wait ? &*reply_wait : nullptr);
  return status;
}

/// The connected MAP of @p out. Null: @p status is the attempt's answer: ok: the message was
/// returned to handler 0; retry: there is no connection yet.
Map* Endpoint::open_map(const Outgoing& out, Status& status) noexcept {
  const auto send_back = [&](Undeliverable why) {
    status = Status::ok;
    return_to_sender(out, why);
    return nullptr;
  };
  Map* map = nullptr;
  try {
    map = &live_map(out.to);
  } catch (const std::exception& e) {  // no memory for a MAP
    bundle_.context().job().log().write(LogLevel::error, e.what());
    return send_back(Undeliverable::congestion);
  }
  status = Status::peer_lost;
  switch (map->state) {
    case Map::State::lost:
      return nullptr;
    // To be closed at the next poll that may run requests, which is perhaps not ours.
    case Map::State::closing:
      if (map->end.unreachable || bundle_.context().job().is_lost(map->name.rank)) return nullptr;
      return send_back(Undeliverable::bad_endpoint);
    case Map::State::rejected: {
      const Undeliverable why = map->end.rejection;
      drop(*map);
      return send_back(why);
    }
    case Map::State::connected:
      return map;
    case Map::State::unmapped:
    case Map::State::connecting:
      break;
  }
  status = Status::retry;
  return nullptr;
}

/// Whether the peer's endpoint has gone: the next attempt says so, and not that its segment is
/// none.
bool Endpoint::has_ended(Map& map) noexcept {
  bundle_.context().nic().progress();
  return map.state != Map::State::connected;
}

/// ok: sent, or returned to handler 0; retry: no credit, room or connection yet.
Status Endpoint::attempt_send(const Outgoing& out) noexcept {
  Status status;
  Map* const map = open_map(out, status);
  if (map == nullptr) return status;
  return try_send(*map, out) ? Status::ok : Status::retry;
}

/// False: no credit or room. True: sent, or returned to handler 0.
bool Endpoint::try_send(Map& map, const Outgoing& out) noexcept {
  if (!map.has_credit()) return false;
  if (out.call != nullptr && map.calls.is_full()) return false;
  const Operation operation = wire_format::operation(out.client);
  const std::uint32_t prefix = wire_format::prefix_words(operation);
  const std::uint32_t count = prefix + out.count;
  std::uint64_t words[detail::kMaxMessageWords];
  std::copy_n(out.words, out.count, words + prefix);
  std::uint64_t client = out.client;
  std::span<const std::byte> data;
  if (operation == Operation::medium && map.takes_in_lines(out.count, out.bytes)) {
    client |= wire_format::in_lines_bit;
    data = {out.data, out.bytes};
  }
  const std::size_t bytes = 8 * std::size_t{count} + data.size();
  if (bytes != 0 && !map.channel->refresh_room(static_cast<std::uint32_t>(
                        (bytes + via::kInlineBytes - 1) / via::kInlineBytes)))
    return false;
  if ((client & wire_format::in_lines_bit) != 0) {
    words[0] = std::uint64_t{out.bytes} << 32;
  } else if (operation == Operation::medium) {
    if (!put_medium(map, out.data, out.bytes, words[0])) return false;
  } else if (operation == Operation::bulk) {
    if (!map.channel->takes_copies()) return false;
    words[0] = out.offset;
    words[1] = out.bytes;
    const Undeliverable why = begin_bulk(map, out.data, out.bytes, out.offset, client);
    if (why != Undeliverable::none) {
      if (has_ended(map)) return false;
      return_to_sender(out, why);
      return true;
    }
  }
  const bool sent = map.try_send(1, client, {words, count}, 8 * prefix + out.arg_bytes, data);
  finish_bulk(map, out.data, out.bytes, out.offset, client, sent);
  if (!sent) return false;
  if (out.call != nullptr) map.calls.push(*out.call);
  return true;
}

/// Copies a payload into the medium ring and says where (word 0). False: no room.
bool Endpoint::put_medium(Map& map, const std::byte* data, std::size_t bytes,
                          std::uint64_t& place) noexcept {
  detail::MediumSend& ring = map.medium_out;
  const auto length = static_cast<std::uint32_t>(bytes);
  std::uint64_t start = 0;
  if (!ring.fits(length, start)) {
    if (!map.update_released() || !ring.fits(length, start)) return false;
  }
  const std::uint64_t at = start & (ring.size - 1);
  const std::uint32_t half = map.announce_half(ring.ring + at, data, length);
  if (length != half) std::memcpy(ring.ring + at + half, data + half, length - half);
  map.channel->forward_extra(ring.ring + at, length);
  ring.head = start + ring.room(length);
  place = at | std::uint64_t{length} << 32;
  return true;
}

/// Writes the first half of a long payload to @p to and lets the receiver begin to fetch it.
/// Answers the bytes written: none where that is not worth a line, as in a stream, whose receiver
/// is busy with what came before.
std::uint32_t Map::announce_half(std::byte* to, const std::byte* data,
                                 std::uint32_t length) noexcept {
  constexpr std::uint32_t kLeast = 3072;
  constexpr std::uint64_t kSpare = 8;  // the message itself must find room
  if (length < kLeast || channel->is_remote() || channel->known_room() < kSpare ||
      4 * credits() < 3 * credit_limit)
    return 0;
  const std::uint32_t half = length / 2 & ~std::uint32_t{63};
  std::memcpy(to, data, half);
  via::Slot& slot = channel->known_slot();
  slot.put(0, static_cast<std::uint64_t>(to - medium_out.ring) | std::uint64_t{half} << 32);
  // Without a doorbell: the message rings it.
  (void)channel->publish_quietly(
      slot, header::make(via::MessageKind::inline_data, 8, wire_format::half_bit));
  take_no_credit(1);
  return half;
}

bool Map::try_send(std::uint32_t credits, std::uint64_t client,
                   std::span<const std::uint64_t> words, std::uint32_t bytes,
                   std::span<const std::byte> data) noexcept {
  const std::uint64_t head = header::make(via::MessageKind::inline_data, bytes, client);
  if (words.size() > via::kWordsPerSlot || !data.empty())
    return try_send_lines(credits, head, words, data);
  via::Slot* slot = channel->claim();
  if (slot == nullptr) return false;
  std::copy_n(words.data(), words.size(), slot->words);
  channel->publish(*slot, head);
  take_no_credit(1 - credits);
  if (wire_format::is_in_medium_ring(client)) medium_out.claim_next(words[0] >> 32);
  return true;
}

// Bulk and get: the data move by RDMA into and out of the peer's segment.

Undeliverable Endpoint::reach(Map& map, std::size_t bytes, std::size_t offset, via::Rights rights,
                              via::RemotePlace& place) noexcept {
  if (map.channel->is_remote())
    detail::take_page(*map.peer.page,
                      reinterpret_cast<detail::MapBlock*>(map.channel->peer_extra())->page);
  const std::uint64_t held = map.peer.page->segment_bytes.load(kAcquire);
  if (offset > held || (held == 0 && bytes != 0)) return Undeliverable::bad_offset;
  if (bytes > held - offset) return Undeliverable::bad_length;
  if (bytes == 0 || map.channel->is_remote()) return Undeliverable::none;
  place = bundle_.context().nic().remote_place(
      map.name.rank, static_cast<via::ProtectionTag>(map.peer.page->protection_tag),
      map.peer.page->segment_address.load() + offset,
      static_cast<via::MemoryHandle>(map.peer.page->segment_handle.load()), bytes, rights);
  return place.status != 0 ? Undeliverable::bad_offset : Undeliverable::none;
}

/// Why write_place() or read_place() failed.
static Undeliverable why_not_copied(const via::channel::Nic& nic) noexcept {
  switch (nic.cross_error()) {
    case EPERM:
    case EACCES:
    case ENOSYS:
      return Undeliverable::no_access;
    case EFAULT:
      return Undeliverable::bad_offset;  // given as a segment, and unmapped since
    default:
      return Undeliverable::unreachable;
  }
}

Undeliverable Endpoint::copy_bulk(Map& map, std::byte* own, std::size_t bytes, std::size_t offset,
                                  via::Rights how) noexcept {
  via::RemotePlace place;
  const Undeliverable why = reach(map, bytes, offset, how, place);
  if (why != Undeliverable::none || bytes == 0) return why;
  const bool out = how == via::Rights::rdma_write;
  if (map.channel->is_remote()) {
    via::Link* const link = map.channel->link();
    const std::uint64_t there = map.peer.page->segment_address.load() + offset;
    const std::uint32_t key = map.peer.page->segment_handle.load();
    const bool done = link != nullptr && (out ? link->write(own, bytes, there, key)
                                              : link->read(own, bytes, there, key));
    return done ? Undeliverable::none : Undeliverable::unreachable;
  }
  via::channel::Nic& nic = bundle_.context().nic();
  const bool done = out ? nic.write_place(map.name.rank, place, own, bytes)
                        : nic.read_place(map.name.rank, place, own, bytes);
  return done ? Undeliverable::none : why_not_copied(nic);
}

Undeliverable Endpoint::put_bulk(Map& map, const std::byte* from, std::size_t bytes,
                                 std::size_t offset) noexcept {
  const Undeliverable why =
      copy_bulk(map, const_cast<std::byte*>(from), bytes, offset, via::Rights::rdma_write);
  if (why == Undeliverable::none) bundle_.context().count(kBulkBytes, bytes);
  return why;
}

Status Endpoint::get_slow(Index from, std::span<std::byte> data, std::size_t offset,
                          std::uint16_t handler, const std::uint64_t* words,
                          std::uint32_t arg_bytes, bool wait) noexcept {
  const Bundle::Guard guard(bundle_, "get");
  if (value(from) >= maps_.size()) return Refusal::index(*this, "get", from);
  if (data.data() == nullptr && !data.empty()) return Refusal::null(*this, "get", data.size());
  const std::uint32_t count = (arg_bytes + 7) / 8;
  const Outgoing out{from,        wire_format::make(detail::Kind::reply, Operation::get, handler),
                     words,       count,
                     arg_bytes,   data.data(),
                     data.size(), offset,
                     wait};
  if (!translations_[value(from)].in_use) {
    return_to_sender(out, Undeliverable::bad_entry);
    return Status::ok;
  }
  Status status = Status::retry;
  const auto attempt = [&] {
    status = attempt_get(out, data);
    return status != Status::retry;
  };
  if (!attempt()) {
    if (wait)
      (void)bundle_.wait_loop(Activity::waiting_message, "get", index(translation_name(from).rank),
                              wait_run_, -1, attempt);
    else
      bundle_.poll_open(wait_run_);
  }
  if (bundle_.unfinished_) bundle_.poll_open(wait_run_);
  return status;
}

Status Endpoint::attempt_get(const Outgoing& out, std::span<std::byte> data) noexcept {
  if (bundle_.context().job().is_lost(translation_name(out.to).rank)) return Status::peer_lost;
  Status status;
  Map* const map = open_map(out, status);
  if (map == nullptr) return status;
  if (!map->channel->takes_copies()) return Status::retry;
  const Undeliverable why =
      copy_bulk(*map, data.data(), data.size(), out.offset, via::Rights::rdma_read);
  if (why != Undeliverable::none) {
    if (has_ended(*map)) return Status::retry;
    return_to_sender(out, why);
    return Status::ok;
  }
  bundle_.context().count(kGetBytes, data.size());
  Arrived arrived{out.client, out.arg_bytes, data, map, {}};
  std::copy_n(out.words, out.count, arrived.words);
  arrived_.push_back(arrived);
  bundle_.unfinished_ = true;
  return Status::ok;
}

std::uint32_t Endpoint::hand_over_gets() noexcept {
  std::uint32_t n = 0;
  while (!arrived_.empty()) {
    bundle_.stirred_ = true;
    const Arrived a = arrived_.front();
    arrived_.erase(arrived_.begin());
    const Arrival arrival{reinterpret_cast<const std::byte*>(a.words), a.arg_bytes, a.data.data(),
                          a.data.size()};
    Token token(*a.map, a.client);
    bundle_.running_ = wire_format::handler(a.client);
    ++bundle_.slow_;
    thunks_[wire_format::handler(a.client)](token, arrival);
    --bundle_.slow_;
    ++n;
  }
  return n;
}

// Raw handlers.

Status Endpoint::send_raw(Index to, HandlerId handler, Operation operation,
                          std::span<const std::byte> data, std::span<const std::uint64_t> words,
                          bool wait) noexcept {
  const auto id = static_cast<std::size_t>(handler);
  if (words.size() > kMaxArgs) return Refusal::words(*this, words.size());
  if (id == 0 || id >= kOwnHandlers) return Refusal::handler(*this, "a request by number", id);
  return send_slow(
      {to, wire_format::make(detail::Kind::request, operation, static_cast<std::uint16_t>(handler)),
       words.data(), static_cast<std::uint32_t>(words.size()),
       static_cast<std::uint32_t>(words.size_bytes()), data.data(), data.size(), 0, wait});
}

Status Endpoint::request_raw(Index to, HandlerId handler,
                             std::span<const std::uint64_t> words) noexcept {
  return send_raw(to, handler, Operation::short_message, {}, words, true);
}

Status Endpoint::try_request_raw(Index to, HandlerId handler,
                                 std::span<const std::uint64_t> words) noexcept {
  return send_raw(to, handler, Operation::short_message, {}, words, false);
}

Status Endpoint::request_medium_raw(Index to, HandlerId handler, std::span<const std::byte> data,
                                    std::span<const std::uint64_t> words) noexcept {
  return send_raw(to, handler, Operation::medium, data, words, true);
}

}  // namespace viaduct::am
