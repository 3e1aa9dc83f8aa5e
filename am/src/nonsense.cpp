/// Finds contents of messages that no peer with this code writes, before they are followed. The
/// connection ends.

#include <algorithm>

#include "am/src/arrivals.hpp"
#include "am/src/returns.hpp"
#include "am/src/standstill.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::am::detail {

namespace header = via::header;

void Map::drop_surplus() noexcept { channel->break_off("a count of credits that cannot be"); }

bool Map::update_released() noexcept {
  const std::uint64_t now = channel->peer_counter(1);
  if (now < medium.out.released || now > medium.out.head) {
    channel->break_off("a count of payloads taken that cannot be");
    return false;
  }
  medium.out.released = now;
  return true;
}

void Map::check_counters() noexcept {
  if (state == State::connected) refresh_credits();
  if (state == State::connected) (void)update_released();
}

const char* find_nonsense(Map& map, const via::Slot& slot, std::uint64_t head) noexcept {
  const std::uint32_t lines = 1 + header::extra_lines(head);
  if (!header::is_plain(head)) return "a message of a malformed kind";
  if (header::client(head) >> wire_format::used_bits != 0)
    return "a message with a malformed header";
  if (lines > via::kMaxLines || header::length(head) > lines * via::kInlineBytes)
    return "a message with a malformed length";
  if ((header::client(head) & wire_format::in_lines_bit) != 0 &&
      (header::length(head) < 8 || static_cast<std::uint32_t>(slot.words[0]) != 0 ||
       wire_format::words_with_data((header::length(head) - 1) / 8, slot.words[0] >> 32) >
           lines * via::kWordsPerSlot))
    return "a message with a malformed payload";
  const via::Slot* line = &slot;
  for (std::uint32_t i = 1; i < lines; ++i) {
    line = &map.channel->slot_after(*line);
    const std::uint64_t rest = line->header.load(kRelaxed) & ~header::phase_bit;
    if (rest != header::make(via::MessageKind::continuation, 0, 0))
      return "a message with a malformed line";
  }
  return nullptr;
}

namespace {

std::size_t requests_among(const std::deque<Deferred>& deferred) noexcept {
  return static_cast<std::size_t>(
      std::count_if(deferred.begin(), deferred.end(),
                    [](const Deferred& m) { return (m.client & wire_format::notice_bit) == 0; }));
}

/// Whether a message that claims to lie in its sender's overflow block does lie there, as far as
/// this rank can tell.
bool overflow_is_there(Map& map, const Deferred& m) noexcept {
  const EndpointCore& core = core_of(map);
  if (wire_format::kind(m.client) != Kind::reply ||
      wire_format::operation(m.client) != Operation::medium)
    return false;
  if (map.channel->is_remote()) return arrived_overflow(map, m).length <= core.max_medium;
  const std::size_t window = core.context().job().segment().window_bytes();
  const std::size_t needed = sizeof(OverflowBlock) + core.max_medium;
  if (map.peer.window == nullptr || needed > window || m.words[0] > window - needed ||
      m.words[0] % alignof(OverflowBlock) != 0)
    return false;
  const auto* block = reinterpret_cast<const OverflowBlock*>(map.peer.window + m.words[0]);
  return block->length <= core.max_medium;
}

}  // namespace

const char* find_nonsense(Map& map, Deferred& m) noexcept {
  const Kind kind = wire_format::kind(m.client);
  const Operation operation = wire_format::operation(m.client);
  const Undeliverable status = wire_format::status(m.client);
  const bool fresh = kind == Kind::request || kind == Kind::reply;
  const bool in_overflow = (m.client & wire_format::overflow_bit) != 0;
  const bool in_lines = (m.client & wire_format::in_lines_bit) != 0;
  const bool to_pull = (m.client & wire_format::pull_bit) != 0;
  if ((m.client & wire_format::half_bit) != 0 ||
      (in_lines && (!fresh || operation != Operation::medium || in_overflow)) ||
      (to_pull && (!fresh || operation != Operation::bulk || map.channel->is_remote())))
    return "a message with a malformed header";
  if (m.arg_bytes < 8 * wire_format::prefix_words(operation))
    return "a message with a malformed length";
  if (operation == Operation::get) return "a message with a malformed operation";
  if (fresh ? status != Undeliverable::none : !is_reason(status))
    return "a message with a malformed status";
  const std::uint16_t handler = wire_format::handler(m.client);
  if (handler >= core_of(map).handlers.thunks.size() && handler < kFirstLateId)
    return "a message for a handler that there is not";
  if ((m.client & wire_format::notice_bit) != 0)
    return kind == Kind::request && operation == Operation::short_message &&
                   (m.arg_bytes == 0 || m.arg_bytes == Inquiry::kBytes)
               ? nullptr
               : "a malformed notice";
  // Each of these answers a request of ours, whose credit is out.
  const bool answers = kind == Kind::reply || kind == Kind::returned_request;
  if (answers && map.state == Map::State::connected && map.credits() >= map.credit_limit)
    return "more replies than it has had requests";
  if (kind == Kind::request && map.deferred_count >= map.credit_limit &&
      requests_among(map.deferred) >= map.credit_limit)
    return "more requests than it has credits";
  if (in_overflow && !(fresh && overflow_is_there(map, m)))
    return "a message with a malformed overflow block";
  if (fresh && operation == Operation::medium && !in_overflow && !in_lines &&
      !map.medium.in.arrive(static_cast<std::uint32_t>(m.words[0]),
                            static_cast<std::uint32_t>(m.words[0] >> 32), m.held))
    return "a message with a malformed payload";
  return nullptr;
}

}  // namespace viaduct::am::detail
