/// What a bundle does with the messages that its inlined poll does not hand over by itself.

#include <algorithm>

#include "am/src/arrivals.hpp"
#include "am/src/map_life.hpp"
#include "am/src/pull.hpp"
#include "am/src/returns.hpp"
#include "am/src/standstill.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"

namespace viaduct::am::detail {

namespace header = via::header;

namespace {

constexpr std::uint64_t kReply = wire_format::make(Kind::reply, Operation::short_message, 0);
constexpr std::uint64_t kMedium = wire_format::make(Kind::request, Operation::medium, 0);
constexpr std::uint64_t kAnyClient = wire_format::handler_mask | kReply;
/// What tells the kind of a message: all of its header but phase, length and handler, and whether
/// it is a reply.
constexpr std::uint64_t kForm =
    ~(header::make(via::MessageKind::none, 0xff, kAnyClient) | header::phase_bit);

/// The thunk of a request or reply with @p client whose handler is in the endpoint's own table and
/// may run now; null: it must be looked at more closely.
Thunk thunk_to_run(const Map& map, std::uint64_t client, bool requests) noexcept {
  const bool reply = (client & kReply) != 0;
  if (reply ? map.credits() >= map.credit_limit : !requests || map.deferred_count != 0)
    return nullptr;
  const std::uint32_t id = wire_format::handler(client);
  return id < kOwnHandlers || id >= map.thunk_count ? nullptr : map.thunks[id];
}

bool accepts_medium(Map& map, std::uint64_t client, std::uint32_t arg_bytes) noexcept {
  return core_of(map).handlers.accepts(wire_format::handler(client),
                                       {Operation::medium, arg_bytes});
}

/// The peer may use the place of the payload again.
void release_medium(Map& map, std::uint64_t held) noexcept {
  if (held == Deferred::kNothingHeld) return;
  if (const std::uint64_t free = map.medium.in.done(held); free != 0)
    map.channel->publish_counter(1, free);
}

}  // namespace

/// Runs the handler of a message that thunk_to_run() has looked at.
[[gnu::always_inline]] inline void Dispatcher::run_thunk(Map& map, Thunk thunk,
                                                         std::uint64_t client,
                                                         const Arrival& arrival) noexcept {
  const bool reply = (client & kReply) != 0;
  Token token(map, client);
  if (reply) map.regain_credit();
  ++slow;
  running = wire_format::handler(client);
  thunk(token, arrival);
  --slow;
  if (!reply && !token.is_answered()) map.return_credit();
}

/// Handles a message of several lines, or a medium message whose data are in its lines, where its
/// handler can run at once. False: nothing has happened to the message.
[[gnu::always_inline]] inline bool Dispatcher::run_lines(Map& map, const via::Slot& slot,
                                                         std::uint64_t head,
                                                         bool requests) noexcept {
  constexpr std::uint64_t kInLines =
      header::make(via::MessageKind::inline_data, 0, kMedium | wire_format::in_lines_bit);
  const std::uint64_t form = head & kForm & ~header::lines_mask;
  const bool medium = form == kInLines;
  if (!medium && form != header::make(via::MessageKind::inline_data, 0, 0)) return false;
  const std::uint64_t client = header::client(head);
  const Thunk thunk = thunk_to_run(map, client, requests);
  if (thunk == nullptr) return false;
  const std::uint32_t lines = 1 + header::extra_lines(head);
  const std::uint32_t length = header::length(head);
  if (lines > via::kMaxLines || length > lines * via::kInlineBytes) [[unlikely]]
    return false;

  // The data lie behind the arguments, where they are aligned to 16 bytes.
  const std::uint32_t first = (length + 7) / 8;
  alignas(16) std::uint64_t room[kMaxMessageWords + 1];
  std::uint64_t* const words = room + (first & 1);
  slot.get_line(words);
  const via::Slot* line = &slot;
  for (std::uint32_t i = 1; i < lines; ++i) {
    line = &map.channel->slot_after(*line);
    if ((line->header.load(kRelaxed) & ~header::phase_bit) !=
        header::make(via::MessageKind::continuation, 0, 0)) [[unlikely]]
      return false;
    line->get_line(words + i * via::kWordsPerSlot);
  }
  Arrival arrival{reinterpret_cast<const std::byte*>(words), length, nullptr, 0};
  if (medium) {
    const std::uint64_t bytes = words[0] >> 32;
    if (length < 8 || static_cast<std::uint32_t>(words[0]) != 0 ||
        8 * std::uint64_t{first} + bytes > lines * via::kInlineBytes ||
        !accepts_medium(map, client, length - 8)) [[unlikely]]
      return false;
    arrival = {reinterpret_cast<const std::byte*>(words + 1), length - 8,
               reinterpret_cast<std::byte*>(words + first), bytes};
  }
  run_thunk(map, thunk, client, arrival);
  return true;
}

/// Handles a message of one line whose data are in the medium ring, where its handler can run at
/// once. False: nothing has happened to the message.
[[gnu::always_inline]] inline bool Dispatcher::run_payload(Map& map, const via::Slot& slot,
                                                           std::uint64_t head,
                                                           bool requests) noexcept {
  if ((head & kForm) != header::make(via::MessageKind::inline_data, 0, kMedium)) return false;
  const std::uint64_t client = header::client(head);
  const Thunk thunk = thunk_to_run(map, client, requests);
  const std::uint32_t length = header::length(head);
  if (thunk == nullptr || length < 8 || length > via::kInlineBytes ||
      !accepts_medium(map, client, length - 8))
    return false;
  const std::uint64_t place = load_word(slot.words[0], kRelaxed);
  const auto bytes = static_cast<std::uint32_t>(place >> 32);
  std::uint64_t held = 0;
  if (!map.medium.in.arrive(static_cast<std::uint32_t>(place), bytes, held)) [[unlikely]]
    return false;
  std::byte* const data = map.medium.in.ring + static_cast<std::uint32_t>(place);
  if (bytes > kShortPayload)
    for (std::uint32_t at = 0; at < bytes; at += kCacheLineBytes) prefetch_line(data + at);
  run_thunk(map, thunk, client,
            {reinterpret_cast<const std::byte*>(slot.words + 1), length - 8, data, bytes});
  release_medium(map, held);
  return true;
}

/// Begins to fetch what the peer has announced. Whatever @p place names, it fetches from the ring.
void Map::fetch_half(std::uint64_t place) const noexcept {
  const std::uint64_t bytes = std::min<std::uint64_t>(place >> 32, medium.in.size);
  for (std::uint64_t i = 0; i < bytes; i += kCacheLineBytes)
    prefetch_line(medium.in.ring + ((place + i) & (medium.in.size - 1)));
}

/// Handles messages that the fast path leaves for their continuation, operation, handler or moment,
/// and the first message of a MAP whose connection this side had not noticed.
///
/// A processor that expects a message runs some 250 instructions ahead of the header that it waits
/// for. The fetches at the beginning lie within these, so that the lines of the answer and of the
/// payload come at the same time as the header, and not one after the other. The handler's own
/// accesses lie too far behind.
void Dispatcher::dispatch_slow(Map& map, via::Slot& slot, std::uint64_t head,
                               bool requests) noexcept {
  const std::uint64_t client = header::client(head);
  if (client == wire_format::half_bit) [[unlikely]]
    return map.fetch_half(slot.words[0]);
  if (wire_format::is_in_medium_ring(client)) {
    map.medium.in.fetch_next();
    if (run_payload(map, slot, head, requests)) [[likely]]
      return;
  } else {
    map.channel->fetch_room(2);
    if (run_lines(map, slot, head, requests)) [[likely]]
      return;
  }
  take_message(map, slot, head, requests);
}

void Dispatcher::take_message(Map& map, via::Slot& slot, std::uint64_t head,
                              bool requests) noexcept {
  if (map.state == Map::State::connecting) check_connection(map);
  if (map.state == Map::State::rejected) return map.channel->break_off("a malformed MapBlock");
  if (const char* const what = find_nonsense(map, slot, head)) return map.channel->break_off(what);
  Deferred m;
  m.client = header::client(head);
  m.arg_bytes = header::length(head);
  m.held = Deferred::kNothingHeld;
  const via::Slot* line = &slot;
  for (std::uint32_t i = 0; i <= header::extra_lines(head); ++i) {
    if (i != 0) line = &map.channel->slot_after(*line);
    line->get_line(m.words + i * via::kWordsPerSlot);
  }
  if (const char* const what = find_nonsense(map, m)) return map.channel->break_off(what);
  const Kind kind = wire_format::kind(m.client);
  if (wire_format::is_inquiry(m.client, m.arg_bytes))
    return Bundle::ReplyWait::take(map, {static_cast<std::uint32_t>(m.words[0]),
                                         static_cast<std::uint32_t>(m.words[0] >> 32), m.words[1]});
  if (kind == Kind::request && (!requests || map.deferred_count != 0)) {
    map.deferred.push_back(m);
    if (map.deferred_count++ == 0) deferred_maps.push_back(&map);
    ++deferred_total;
    context.count(kDeferred);
    return;
  }
  run_message(map, m);
}

OverflowBlock& arrived_overflow(Map& map, const Deferred& m) noexcept {
  std::byte* const at = map.channel->is_remote() ? map.medium.in.ring + map.medium.in.size
                                                 : map.peer.window + m.words[0];
  return *reinterpret_cast<OverflowBlock*>(at);
}

namespace {

/// The sender may use the block again.
void release_overflow(Map& map, OverflowBlock& block) noexcept {
  block.returned.store(block.use.load(kRelaxed), kRelease);
  map.channel->return_extra(reinterpret_cast<const std::byte*>(&block.returned),
                            sizeof block.returned);
  map.channel->wake_if_asleep();
}

}  // namespace

void Dispatcher::run_message(Map& map, const Deferred& m) noexcept {
  const Kind kind = wire_format::kind(m.client);
  if (kind == Kind::returned_request || kind == Kind::returned_reply) return take_returned(map, m);
  if ((m.client & wire_format::notice_bit) != 0) {
    apply_tag(map);
    return map.publish_credits();
  }
  // Replies are accepted whatever the tag is now: this endpoint has asked for them.
  const EndpointCore& core = core_of(map);
  const std::uint16_t id = wire_format::handler(m.client);
  const bool known =
      id != 0 && id < core.handlers.thunks.size() && core.handlers.thunks[id] != nullptr;
  if (kind == Kind::request && map.tags.refused) return refuse(map, m, Undeliverable::bad_tag);
  if (!known) return refuse(map, m, Undeliverable::bad_handler);
  const Operation operation = wire_format::operation(m.client);
  if (!core.handlers.accepts(id,
                             {operation, m.arg_bytes - 8 * wire_format::prefix_words(operation)}))
    return refuse(map, m, Undeliverable::bad_arguments);
  if (operation == Operation::bulk) {
    const std::size_t held = core.segment.memory().size();
    if (m.words[0] > held || m.words[1] > held - m.words[0])
      return refuse(map, m, Undeliverable::bad_length);
    if ((m.client & wire_format::pull_bit) != 0) {
      if (!core.segment.is_writable()) return refuse(map, m, Undeliverable::bad_offset);
      Undeliverable why = Undeliverable::none;
      const auto end = pull(map, core.segment.memory().data() + m.words[0], m.words[1], why);
      if (end == PullEnd::unpushed) return refuse(map, m, why);
      if (end == PullEnd::broken) {
        if (context.job().is_lost(map.name.rank)) return;
        return map.channel->break_off("bulk data that it does not send");
      }
      if (end == PullEnd::copied) context.count(kPulledBytes, m.words[1]);
    }
  }
  if (kind == Kind::reply) map.regain_credit();
  run_handler(map, core.handlers.thunks[id], m);
}

void Dispatcher::run_handler(Map& map, Thunk thunk, const Deferred& m) noexcept {
  const Operation operation = wire_format::operation(m.client);
  const std::uint32_t prefix = 8 * wire_format::prefix_words(operation);
  Arrival arrival{reinterpret_cast<const std::byte*>(m.words) + prefix, m.arg_bytes - prefix,
                  nullptr, 0};
  OverflowBlock* overflow = nullptr;
  alignas(16) std::byte data[kMaxLineData];
  if (operation == Operation::medium) {
    if ((m.client & wire_format::in_lines_bit) != 0) {
      arrival = data_in_lines(m.words, m.arg_bytes, data);
    } else if ((m.client & wire_format::overflow_bit) != 0) {
      overflow = &arrived_overflow(map, m);
      arrival.data = overflow->data();
      // Looked at before, and the peer's memory.
      arrival.data_bytes = std::min(overflow->length, core_of(map).max_medium);
    } else {
      arrival.data = map.medium.in.ring + static_cast<std::uint32_t>(m.words[0]);
      arrival.data_bytes = m.words[0] >> 32;
      for (std::size_t at = 0; at < arrival.data_bytes; at += kCacheLineBytes)
        __builtin_prefetch(arrival.data + at);
    }
  } else if (operation == Operation::bulk) {
    arrival.data = core_of(map).segment.memory().data() + m.words[0];
    arrival.data_bytes = m.words[1];
  }
  Token token(map, m.client);
  const std::uint16_t outer = running;
  running = wire_format::handler(m.client);
  ++slow;
  thunk(token, arrival);
  --slow;
  running = outer;
  if (overflow != nullptr) release_overflow(map, *overflow);
  release_medium(map, m.held);
  if (wire_format::kind(m.client) == Kind::request && !token.is_answered()) map.return_credit();
}

/// Sends a message back. A request returns in its reply's place; a reply returns over the request's
/// credit, which this side gives up only when the replier has acknowledged it (through
/// `unreplied`).
void Dispatcher::refuse(Map& map, const Deferred& m, Undeliverable why) noexcept {
  context.count(kRefused);
  release_medium(map, m.held);
  if ((m.client & wire_format::overflow_bit) != 0) release_overflow(map, arrived_overflow(map, m));
  if (Undeliverable told; (m.client & wire_format::pull_bit) != 0)
    (void)pull(map, nullptr, 0, told);
  const Kind kind =
      wire_format::kind(m.client) == Kind::request ? Kind::returned_request : Kind::returned_reply;
  const std::uint64_t client =
      wire_format::make(kind, wire_format::operation(m.client), wire_format::handler(m.client)) |
      (static_cast<std::uint64_t>(why) << wire_format::status_shift);
  ++slow;
  (void)bundle.send_waiting(map, client, {m.words, (m.arg_bytes + 7) / 8}, m.arg_bytes);
  --slow;
}

void Dispatcher::take_returned(Map& map, const Deferred& m) noexcept {
  const bool reply = wire_format::kind(m.client) == Kind::returned_reply;
  const Returned returned =
      map.describe_returned(m.client, m.words, m.arg_bytes,
                            reply ? Undeliverable::reply_rejected : wire_format::status(m.client),
                            reply ? Direction::reply : Direction::request);
  if (!reply) map.regain_credit();
  if (!reply && is_call_handler(returned.handler)) return fail_call(map, returned.status);
  return_to_sender(core_of(map), returned);
  if (!reply) return;
  map.return_credit();
  map.publish_credits();
}

/// The requests of refused replies go back, in their replies' places. Their handlers have had the
/// arguments: these do not travel again.
void Dispatcher::answer_refused() noexcept {
  while (!refused_replies.empty()) {
    const RefusedReply refused = refused_replies.back();
    refused_replies.pop_back();
    const Operation operation = wire_format::operation(refused.client);
    const std::uint64_t client =
        wire_format::make(Kind::returned_request, operation, wire_format::handler(refused.client)) |
        static_cast<std::uint64_t>(Undeliverable::bad_arguments) << wire_format::status_shift;
    const std::uint64_t words[2] = {};
    const std::uint32_t count = wire_format::prefix_words(operation);
    context.count(kRefused);
    ++slow;
    (void)bundle.send_waiting(*refused.map, client, {words, count}, 8 * count);
    --slow;
  }
}

std::uint32_t Dispatcher::run_deferred() noexcept {
  std::uint32_t n = 0;
  while (!deferred_maps.empty()) {
    Map& map = *deferred_maps.front();
    while (!map.deferred.empty()) {
      const Deferred m = map.deferred.front();
      map.deferred.pop_front();
      --deferred_total;
      ++n;
      run_message(map, m);
      --map.deferred_count;  // after the handler: later messages stay behind this one
    }
    deferred_maps.erase(deferred_maps.begin());
  }
  return n;
}

std::uint32_t Dispatcher::poll_deferred() noexcept {
  const std::uint32_t n = run_deferred();
  return n + poll_arrived(true);
}

/// Returns all of the MAP's requests that were put off, in the order sent. All requests sent before
/// them have been handled, and the oldest call fails first.
void Dispatcher::return_deferred(Map& map) noexcept {
  for (std::size_t left = map.deferred.size(); left != 0 && !map.deferred.empty(); --left) {
    const Deferred m = map.deferred.front();
    map.deferred.pop_front();
    --deferred_total;
    if ((m.client & wire_format::notice_bit) != 0)
      run_message(map, m);
    else
      refuse(map, m, Undeliverable::congestion);
    --map.deferred_count;
  }
  if (map.deferred_count == 0) std::erase(deferred_maps, &map);
}

/// Does the work that polls leave until no handler runs: answers requests whose reply was refused,
/// hands over gets whose data are here, closes MAPs whose channel has ended.
std::uint32_t Dispatcher::finish(bool requests) noexcept {
  if (runs_handler()) return 0;
  std::uint32_t n = 0;
  if (!refused_replies.empty()) answer_refused();
  for (EndpointCore* endpoint : endpoints) n += endpoint->hand_over_gets();
  unfinished = !closing.empty();
  if (!requests) return n;  // draining may run request handlers
  unfinished = false;
  while (!closing.empty()) {
    Map* map = closing.back();
    closing.pop_back();
    close(*map);
    ++n;
  }
  return n;
}

void Dispatcher::forget(const Map& map) noexcept {
  std::erase(closing, &map);
  std::erase(deferred_maps, &map);
  deferred_total -= map.deferred_count;
}

}  // namespace viaduct::am::detail
