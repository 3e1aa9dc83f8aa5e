/// Sends that the inline fast path does not make: waits, several lines, medium, bulk, get, and
/// every error.

#include <algorithm>
#include <optional>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "am/src/map_life.hpp"
#include "am/src/payload.hpp"
#include "am/src/returns.hpp"
#include "runtime/hang_report.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::am {

namespace detail {

namespace header = via::header;

/// Polls where it is time (PollPace). A MAP may end meanwhile.
void EndpointCore::poll_between(Index to) noexcept {
  Map& map = table.map_of(to);
  if (!map.is_poll_due(dispatcher().pace)) return;
  VIADUCT_PART(cq_recv);
  const std::uint64_t slots = map.poll_at - map.slots_sent();
  dispatcher().poll(wait_run == Bundle::Run::all);
  table.map_of(to).poll_after(slots);  // without the replies that the poll has sent
}

/// Behind the last slot of the short way, which has rung if it had to: a poll where it is time, and
/// the way opened anew.
void EndpointCore::renew_short_way(Index to) noexcept {
  poll_between(to);
  (void)table.map_of(to).open_short_way();
}

/// finish_short() at the end of the short way. A function of its own, so that the other one has
/// nothing to keep while it rings.
Status EndpointCore::finish_last_short(const Map& map, Index to) noexcept {
  map.channel->ring_if_wanted();
  renew_short_way(to);
  return Status::ok;
}

/// What is to follow a request that has gone the short way and not rung. Answers ok. Not at the end
/// of the way: the peer wants its doorbell.
Status EndpointCore::finish_short(const Map& map, Index to) noexcept {
  if (map.channel->slots_sent() >= map.short_until) [[unlikely]]
    return finish_last_short(map, to);
  map.channel->ring_doorbell();
  return Status::ok;
}

/// Before a request for which the short way was closed. Answers whether the way is open now.
bool EndpointCore::open_short_way(Index to) noexcept {
  if (dispatcher().slow != 0 || value(to) >= table.size() || table.map_of(to).channel == nullptr)
    return false;
  poll_between(to);
  Map& map = table.map_of(to);
  return map.has_credit() && map.open_short_way();
}

bool Map::try_send(std::uint32_t credits, std::uint64_t client,
                   std::span<const std::uint64_t> words, std::uint32_t bytes,
                   std::span<const std::byte> data) noexcept {
  const std::uint64_t head = header::make(via::MessageKind::inline_data, bytes, client);
  if (words.size() > via::kWordsPerSlot || !data.empty()) {
    if (!try_send_lines(credits, head, words, data)) return false;
  } else {
    via::Slot* slot = channel->claim();
    if (slot == nullptr) return false;
    std::copy_n(words.data(), words.size(), slot->words);
    channel->publish(*slot, head);
    take_no_credit(1 - credits);
  }
  if (wire_format::is_in_medium_ring(client)) after_payload(words[0] >> 32);
  return true;
}

namespace {

/// A short message of several lines, or a medium one, where there are credit and room for it.
/// False: nothing is sent.
[[gnu::always_inline]] inline bool send_at_once(EndpointCore& core, const Outgoing& out) noexcept {
  const Operation operation = wire_format::operation(out.client);
  if (operation == Operation::medium ? out.bytes > core.max_medium
                                     : out.count <= via::kWordsPerSlot)
    return false;
  if (operation == Operation::bulk || out.call != nullptr || core.dispatcher().slow != 0 ||
      value(out.to) >= core.table.size() || (out.data == nullptr && out.bytes != 0)) [[unlikely]]
    return false;
  Map& map = core.table.map_of(out.to);
  if (!map.has_credit()) [[unlikely]]
    return false;
  const std::span<const std::uint64_t> args(out.words, out.count);
  const std::span<const std::byte> data(out.data, out.bytes);
  const bool sent = operation == Operation::medium && !map.takes_in_lines(out.count, out.bytes)
                        ? send_payload(map, 1, out.client, args, out.arg_bytes, data)
                        : map.try_send_in_lines(1, out.client, args, out.arg_bytes, data);
  if (!sent) [[unlikely]]
    return false;
  if (map.channel->slots_sent() >= map.short_until) [[unlikely]]
    core.renew_short_way(out.to);
  return true;
}

/// The connected MAP of @p out. Null: @p status is the attempt's answer: ok: the message was
/// returned to handler 0; retry: there is no connection yet.
Map* open_map(EndpointCore& core, const Outgoing& out, Status& status) noexcept {
  const auto send_back = [&](Undeliverable why) {
    status = Status::ok;
    return_to_sender(core, out, why);
    return nullptr;
  };
  Map* map = nullptr;
  try {
    map = &live_map(core, out.to);
  } catch (const std::exception& e) {  // no memory for a MAP
    core.context().job().log().write(LogLevel::error, e.what());
    return send_back(Undeliverable::congestion);
  }
  status = Status::peer_lost;
  switch (map->state) {
    case Map::State::lost:
      return nullptr;
    // To be closed at the next poll that may run requests, which is perhaps not ours.
    case Map::State::closing:
      if (map->end.unreachable || core.context().job().is_lost(map->name.rank)) return nullptr;
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
bool has_ended(Map& map) noexcept {
  core_of(map).context().nic().progress();
  return map.state != Map::State::connected;
}

/// False: no credit or room. True: sent, or returned to handler 0.
bool try_send(EndpointCore& core, Map& map, const Outgoing& out) noexcept {
  if (!map.has_credit()) return false;
  if (out.call != nullptr && map.calls.is_full()) return false;
  const Operation operation = wire_format::operation(out.client);
  const std::uint32_t prefix = wire_format::prefix_words(operation);
  const std::uint32_t count = prefix + out.count;
  std::uint64_t words[kMaxMessageWords];
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
      return_to_sender(core, out, why);
      return true;
    }
  }
  const bool sent = map.try_send(1, client, {words, count}, 8 * prefix + out.arg_bytes, data);
  finish_bulk(map, out.data, out.bytes, out.offset, client, sent);
  if (!sent) return false;
  if (out.call != nullptr) map.calls.push(*out.call);
  return true;
}

/// ok: sent, or returned to handler 0; retry: no credit, room or connection yet.
Status attempt_send(EndpointCore& core, const Outgoing& out) noexcept {
  Status status;
  Map* const map = open_map(core, out, status);
  if (map == nullptr) return status;
  return try_send(core, *map, out) ? Status::ok : Status::retry;
}

Status attempt_get(EndpointCore& core, const Outgoing& out, std::span<std::byte> data) noexcept {
  if (core.context().job().is_lost(core.table[out.to].name.rank)) return Status::peer_lost;
  Status status;
  Map* const map = open_map(core, out, status);
  if (map == nullptr) return status;
  if (!map->channel->takes_copies()) return Status::retry;
  const Undeliverable why = copy_bulk(*map, data.data(), data.size(), out.offset, out.client);
  if (why != Undeliverable::none) {
    if (has_ended(*map)) return Status::retry;
    return_to_sender(core, out, why);
    return Status::ok;
  }
  core.dispatcher().count(kGetBytes, data.size());
  ArrivedGet arrived{out.client, out.arg_bytes, data, map, {}};
  std::copy_n(out.words, out.count, arrived.words);
  core.arrived.push_back(arrived);
  core.dispatcher().unfinished = true;
  return Status::ok;
}

}  // namespace

Status EndpointCore::send_slow(const Outgoing& out) noexcept {
  // A second thread is stopped, and a thread that is new to the bundle takes it over, in
  // send_long().
  const bool is_used_here = bundle.user_.load(kRelaxed) == 0 && bundle.served_->is_home();
  if (is_used_here && send_at_once(*this, out)) [[likely]]
    return Status::ok;
  return bundle.has_short_calls_ ? send_shared(out) : send_long(out);
}

namespace {

/// The program's call, for sentences.
const char* call_of(const Outgoing& out) noexcept {
  if (out.call != nullptr) return "call";
  switch (wire_format::operation(out.client)) {
    case Operation::medium:
      return "request_medium";
    case Operation::bulk:
      return "request_bulk";
    case Operation::short_message:
    case Operation::get:
      break;
  }
  return "request";
}

/// Whether the message has gone back because its index names no endpoint. Asked again in each
/// attempt: another thread may unmap an index for which a request waits.
bool is_returned(EndpointCore& core, const Outgoing& out) noexcept {
  if (core.table.is_mapped(out.to)) return false;
  return_to_sender(core, out, Undeliverable::bad_entry);
  return true;
}

/// Whether a call that may wait is to return, since another thread ends the endpoint.
bool ends_wait(const EndpointCore& core, Status& status) noexcept {
  if (core.ends_waits.load(kRelaxed) == 0) return false;
  status = Status::bad_state;
  return true;
}

}  // namespace

Status EndpointCore::send_long(const Outgoing& out) noexcept {
  const Bundle::Guard guard(bundle, out.call != nullptr ? "a call" : "a request");
  const char* const what = call_of(out);
  if (value(out.to) >= table.size()) return Refusal::index(*this, what, out.to);
  if (out.data == nullptr && out.bytes != 0) return Refusal::null(*this, what, out.bytes);
  if (wire_format::operation(out.client) == Operation::medium && out.bytes > max_medium)
    return Refusal::length(*this, what, out.bytes);
  poll_between(out.to);
  const std::uint64_t before = table.map_of(out.to).slots_sent();
  Status status = Status::retry;
  const auto attempt = [&] {
    if (ends_wait(*this, status)) return true;
    status = is_returned(*this, out) ? Status::ok : attempt_send(*this, out);
    return status != Status::retry;
  };
  if (attempt()) {
    Map& map = table.map_of(out.to);
    // A program that sends again and again what comes back polls each time.
    if (map.slots_sent() == before) map.poll_after(0);
    (void)map.open_short_way();
    return status;
  }
  if (!out.wait) {
    dispatcher().poll(wait_run == Bundle::Run::all);
    return Status::retry;
  }
  dispatcher().count(kRequestWaits);
  const bool connecting = table.map_of(out.to).state == Map::State::connecting;
  std::optional<Bundle::ReplyWait> reply_wait;
  if (wait_run == Bundle::Run::replies) reply_wait.emplace(*this, out.to);
  (void)bundle.wait_loop(Activity::waiting_credit, connecting ? kConnecting : "request",
                         index(table[out.to].name.rank), wait_run, -1, attempt, nullptr,
                         reply_wait ? &*reply_wait : nullptr);
  return status;
}

Status EndpointCore::get_slow(Index from, std::span<std::byte> data, std::size_t offset,
                              std::uint16_t handler, const std::uint64_t* words,
                              std::uint32_t arg_bytes, bool wait) noexcept {
  const Bundle::Guard guard(bundle, "get");
  if (value(from) >= table.size()) return Refusal::index(*this, "get", from);
  if (data.data() == nullptr && !data.empty()) return Refusal::null(*this, "get", data.size());
  const std::uint32_t count = (arg_bytes + 7) / 8;
  const Outgoing out{from,        wire_format::make(Kind::reply, Operation::get, handler),
                     words,       count,
                     arg_bytes,   data.data(),
                     data.size(), offset,
                     wait};
  Status status = Status::retry;
  const auto attempt = [&] {
    if (ends_wait(*this, status)) return true;
    status = is_returned(*this, out) ? Status::ok : attempt_get(*this, out, data);
    return status != Status::retry;
  };
  if (!attempt()) {
    if (wait)
      (void)bundle.wait_loop(Activity::waiting_message, "get", index(table[from].name.rank),
                             wait_run, -1, attempt);
    else
      dispatcher().poll(wait_run == Bundle::Run::all);
  }
  if (dispatcher().unfinished) dispatcher().poll(wait_run == Bundle::Run::all);
  return status;
}

std::uint32_t EndpointCore::hand_over_gets() noexcept {
  std::uint32_t n = 0;
  while (!arrived.empty()) {
    dispatcher().stirred = true;
    const ArrivedGet a = arrived.front();
    arrived.erase(arrived.begin());
    const Arrival arrival{reinterpret_cast<const std::byte*>(a.words), a.arg_bytes, a.data.data(),
                          a.data.size()};
    Token token(*a.map, a.client);
    dispatcher().running = wire_format::handler(a.client);
    ++dispatcher().slow;
    handlers.thunks[wire_format::handler(a.client)](token, arrival);
    --dispatcher().slow;
    ++n;
  }
  return n;
}

namespace {

Status send_raw(EndpointCore& core, Index to, HandlerId handler, Operation operation,
                std::span<const std::byte> data, std::span<const std::uint64_t> words,
                bool wait) noexcept {
  const auto id = static_cast<std::size_t>(handler);
  if (words.size() > kMaxArgs) return Refusal::words(core, words.size());
  if (words.data() == nullptr && !words.empty())
    return Refusal::null(core, "the words of a request by number", words.size_bytes());
  if (id == 0 || id >= kOwnHandlers) return Refusal::handler(core, "a request by number", id);
  return core.send_slow(
      {to, wire_format::make(Kind::request, operation, static_cast<std::uint16_t>(handler)),
       words.data(), static_cast<std::uint32_t>(words.size()),
       static_cast<std::uint32_t>(words.size_bytes()), data.data(), data.size(), 0, wait});
}

}  // namespace

}  // namespace detail

Status EndpointRequests::request_raw(Index to, HandlerId handler,
                                     std::span<const std::uint64_t> words) noexcept {
  return detail::send_raw(core_, to, handler, Operation::short_message, {}, words, true);
}

Status EndpointRequests::try_request_raw(Index to, HandlerId handler,
                                         std::span<const std::uint64_t> words) noexcept {
  return detail::send_raw(core_, to, handler, Operation::short_message, {}, words, false);
}

Status EndpointRequests::request_medium_raw(Index to, HandlerId handler,
                                            std::span<const std::byte> data,
                                            std::span<const std::uint64_t> words) noexcept {
  return detail::send_raw(core_, to, handler, Operation::medium, data, words, true);
}

}  // namespace viaduct::am
