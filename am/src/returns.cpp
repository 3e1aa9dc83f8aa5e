/// Messages and calls that come back to their sender.

#include "am/src/returns.hpp"

#include <algorithm>
#include <string>

#include "am/src/arguments.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am::detail {

namespace header = via::header;

namespace {

/// The destination of a returned message. A message without a mapped index has no rank either, and
/// a reply's requester may have no index.
std::string destination(const Returned& returned) {
  const std::string index = "index " + std::to_string(value(returned.peer));
  if (returned.status == Undeliverable::bad_entry) return index;
  const std::string rank = "rank " + std::to_string(viaduct::index(returned.rank));
  return value(returned.peer) == kNoIndex ? rank : rank + " (" + index + ")";
}

void return_sent(Map& map, std::uint64_t seq, Undeliverable why) noexcept {
  const std::uint64_t head = map.channel->sent_slot(seq).header.load(kRelaxed);
  const std::uint64_t client = header::client(head);
  std::uint64_t words[kMaxMessageWords] = {};
  // Its own window, in which others can write, too.
  const std::uint32_t lines = std::min(1 + header::extra_lines(head), via::kMaxLines);
  for (std::uint32_t i = 0; i < lines; ++i)
    for (std::uint32_t w = 0; w < via::kWordsPerSlot; ++w)
      words[i * via::kWordsPerSlot + w] = map.channel->sent_slot(seq + i).words[w];
  const std::uint32_t prefix = 8 * wire_format::prefix_words(wire_format::operation(client));
  const std::uint32_t bytes = std::clamp(header::length(head), prefix, lines * via::kInlineBytes);
  return_to_sender(core_of(map),
                   map.describe_returned(client, words, bytes, why, Direction::request));
}

}  // namespace

void return_to_sender(EndpointCore& core, const Returned& returned) noexcept {
  Dispatcher& dispatcher = core.dispatcher();
  dispatcher.count(kReturned);
  dispatcher.stirred = true;
  if (!core.undeliverable) {
    const std::string mapped =
        returned.status == Undeliverable::bad_entry ? "; " + Refusal::describe_mapped(core) : "";
    violate_contract(errors::undeliverable,
                     std::string("undeliverable ") +
                         (returned.direction == Direction::reply ? "reply" : "request") + " (" +
                         to_string(returned.operation) + ") from endpoint " +
                         std::to_string(core.number) + " to " + destination(returned) +
                         ", handler " + handler_name(returned.handler) + ": " +
                         to_string(returned.status) + mapped +
                         "; set_undeliverable_handler() would have been told");
  }
  dispatcher.run_unnumbered([&] { core.undeliverable(returned); });
}

void return_to_sender(EndpointCore& core, const Outgoing& out, Undeliverable why) noexcept {
  if (out.call != nullptr) return out.call->fail(why);
  Returned returned;
  returned.status = why;
  returned.operation = wire_format::operation(out.client);
  returned.direction = Direction::request;
  returned.peer = out.to;
  returned.rank =
      core.table.is_mapped(out.to) ? core.table[out.to].name.rank : core.bundle.job().rank();
  returned.handler = wire_format::handler(out.client);
  returned.args = reinterpret_cast<const std::byte*>(out.words);
  returned.arg_bytes = out.arg_bytes;
  returned.data_bytes = out.bytes;
  returned.offset = out.offset;
  return_to_sender(core, returned);
}

/// Requests are handled in order, so these are the last ones. Credits without a reply come back in
/// batches, so the peer may have handled some of these. Replies are not returned, because no rank
/// waits for them.
void return_unseen(Map& map, Undeliverable why) noexcept {
  EndpointCore& core = core_of(map);
  const via::channel::Channel& channel = *map.channel;
  const std::uint64_t end = channel.slots_sent();
  const std::uint64_t slots = core.flow.slots;
  const std::uint64_t oldest = end > slots ? end - slots : 0;
  const auto client_at = [&](std::uint64_t seq) {
    const std::uint64_t head = channel.sent_slot(seq).header.load(kRelaxed);
    const bool first = header::kind(head) == via::MessageKind::inline_data;
    return first ? header::client(head) : wire_format::notice_bit;
  };
  const auto is_request = [](std::uint64_t client) {
    return (client & (wire_format::notice_bit | wire_format::half_bit)) == 0 &&
           wire_format::kind(client) == Kind::request;
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
    return_to_sender(core, Returned{why, Operation::short_message, Direction::request, map.index,
                                    map.name.rank, 0, nullptr, 0, 0, 0});
  for (std::uint64_t seq = from; seq < end; ++seq)  // close() lets the calls fail
    if (is_request(client_at(seq)) && !is_call_handler(wire_format::handler(client_at(seq))))
      return_sent(map, seq, why);
}

void fail_call(Map& map, Undeliverable why) noexcept {
  Dispatcher& dispatcher = core_of(map).dispatcher();
  dispatcher.stirred = true;
  dispatcher.run_unnumbered([&] {
    if (PendingCall* const call = map.calls.take_any()) call->fail(why);
  });
}

void fail_calls(Map& map, Undeliverable why) noexcept {
  while (!map.calls.is_empty()) fail_call(map, why);
}

}  // namespace viaduct::am::detail
