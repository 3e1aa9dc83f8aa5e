/// Replies, as far as the inline fast path does not make them: medium and bulk replies, waits,
/// refusals, and messages that go back to their sender.

#include <algorithm>
#include <cstring>
#include <string>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "am/src/map_life.hpp"
#include "am/src/payload.hpp"
#include "am/src/returns.hpp"
#include "runtime/errors/codes.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::am {

using detail::Map;
using detail::OverflowBlock;
namespace wire_format = detail::wire_format;

namespace {

/// The block for a reply over @p map that does not fit its ring; null: it is taken. On a remote
/// channel each direction has a block of its own, behind the medium ring.
OverflowBlock* free_overflow(Map& map) noexcept {
  if (map.channel->is_remote()) {
    auto* own = reinterpret_cast<OverflowBlock*>(map.medium.out.ring + map.medium.out.size);
    return own->is_free() ? own : nullptr;
  }
  detail::EndpointCore& core = core_of(map);
  auto& [block, user] = core.overflow;
  if (block == nullptr) {
    try {
      block = new (core.context().nic().allocate(sizeof(OverflowBlock) + core.max_medium))
          OverflowBlock{};
    } catch (const std::exception& e) {
      core.context().job().log().write(LogLevel::error, e.what());
      return nullptr;
    }
  }
  std::uint32_t held = block->held();
  if (held != 0 && core.context().job().is_lost(user.rank)) {
    block->take_back();
    held = 0;
  }
  if (held > 1) {
    if (Map* const reader = core.table.find(user); reader != nullptr && reader->channel != nullptr)
      reader->channel->break_off("a count of replies taken that cannot be");
    block->take_back();
    return block;
  }
  return held == 0 ? block : nullptr;
}

/// @p client: of the token whose handler breaks the rules.
[[noreturn]] void stop_handler(std::uint64_t client, const char* what) noexcept {
  violate_contract(errors::handler_communicates,
                   std::string("handler ") + handler_name(wire_format::handler(client)) + what);
}

}  // namespace

/// The request goes back to its sender when no handler runs any more (Dispatcher::finish), unless
/// another reply is made: the requester waits for one.
void Token::refuse_reply() noexcept {
  detail::Dispatcher& dispatcher = core_of(map_).dispatcher();
  dispatcher.refused_replies.push_back({&map_, client_ & ~(kReplied | kRefused)});
  dispatcher.unfinished = true;
  client_ |= kReplied | kRefused;
}

/// Takes a refusal back for another reply. No other request handler has run meanwhile, so the
/// refusal is the last one. False: no reply was refused.
bool Token::take_back_refusal() noexcept {
  if ((client_ & kRefused) == 0) return false;
  auto& refused = core_of(map_).dispatcher().refused_replies;
  if (!refused.empty() && refused.back().map == &map_) refused.pop_back();
  client_ &= ~(kReplied | kRefused);
  return true;
}

/// Whether this is the answer that a call's request makes itself when its handler has returned, and
/// the handler has sent the call back. True once: a reply of the handler's own is one too many.
bool Token::leaves_answer_out() noexcept {
  if ((client_ & kSentBack) == 0 || !is_call_handler(wire_format::handler(client_))) return false;
  client_ &= ~kSentBack;
  return true;
}

Tag Token::tag() const noexcept {
  return direction() == Direction::request ? map_.tags.theirs : map_.endpoint->tag();
}

/// Stops where the message cannot go back, or what is to go back makes no sense.
void Token::check_return(Undeliverable why, std::span<const std::uint64_t> args,
                         std::size_t arg_bytes) noexcept {
  if (wire_format::operation(client_) == Operation::get)
    stop_handler(client_, " sent a get's data back: no rank has sent them");
  // A refusal is taken back, else the request would go back a second time.
  if (is_answered() && !take_back_refusal())
    stop_handler(
        client_,
        " sent a message back that was answered: a message is answered, or goes back, once");
  const auto stop = [&](const std::string& reason) {
    violate_contract(errors::bad_argument, std::string("send_back in handler ") +
                                               handler_name(wire_format::handler(client_)) + ": " +
                                               reason);
  };
  if (!detail::is_reason(why))
    stop("status " + std::to_string(static_cast<unsigned>(why)) +
         " is no reason: name one of Undeliverable, not none");
  if (args.size() > kMaxArgs)
    stop(std::to_string(args.size()) + " words of arguments are too many: a message has at most " +
         std::to_string(kMaxArgs));
  if (args.data() == nullptr && !args.empty())
    stop("the arguments are null: give the address of " + std::to_string(args.size()) + " words");
  if (arg_bytes > args.size_bytes())
    stop(std::to_string(arg_bytes) + " bytes of arguments are too many: " +
         std::to_string(args.size()) + " words have " + std::to_string(args.size_bytes()));
}

/// As Dispatcher::refuse(). The credit that a reply has brought is given up again, and comes back
/// when the replier has acknowledged the return.
void Token::send_back(Undeliverable why, std::span<const std::uint64_t> args, std::size_t arg_bytes,
                      std::size_t bytes, std::size_t offset) noexcept {
  Bundle& bundle = map_.endpoint->bundle();
  if (bundle.job().in_forked_child()) bundle.stop_caller("send_back");
  const Bundle::Exclusive exclusive(bundle);
  check_return(why, args, arg_bytes);
  const Operation operation = wire_format::operation(client_);
  const bool request = direction() == Direction::request;
  const std::uint64_t client =
      wire_format::make(request ? detail::Kind::returned_request : detail::Kind::returned_reply,
                        operation, wire_format::handler(client_)) |
      static_cast<std::uint64_t>(why) << wire_format::status_shift;
  const std::uint32_t prefix = wire_format::prefix_words(operation);
  std::uint64_t words[detail::kMaxMessageWords] = {};
  if (operation == Operation::medium) words[0] = bytes << 32;
  if (operation == Operation::bulk) {
    words[0] = offset;
    words[1] = bytes;
  }
  std::copy_n(args.data(), args.size(), words + prefix);
  if (!request) map_.give_up_credit();
  client_ |= kReplied | kSentBack;
  bundle.dispatcher_.count(Counter::kRefused);
  const std::uint16_t running = bundle.dispatcher_.running;  // reply handlers change it
  (void)bundle.send_waiting(map_, client, {words, prefix + args.size()},
                            static_cast<std::uint32_t>(8 * prefix + arg_bytes));
  bundle.dispatcher_.running = running;
}

/// Whether AMVIAv1 as published, over which the peer is reached, takes no reply of this size.
bool Token::is_too_large_for_v1(std::uint64_t client) const noexcept {
  if (!map_.channel->is_remote()) return false;
  return wire_format::operation(client) > wire_format::operation(client_) &&
         map_.endpoint->bundle().context().nic().transport()->limits_replies();
}

/// Puts the payload of a medium reply into the ring, or beside it into the overflow block. @p place
/// says where.
void Token::place_medium(std::uint64_t& client, std::uint64_t& place, const std::byte* data,
                         std::size_t bytes) noexcept {
  detail::EndpointCore& core = core_of(map_);
  Bundle& bundle = core.bundle;
  OverflowBlock* overflow = nullptr;
  const auto placed = [&] {
    if (map_.state == detail::Map::State::closing || map_.state == detail::Map::State::lost)
      return true;
    if (detail::put_medium(map_, data, bytes, place)) return true;
    return (overflow = free_overflow(map_)) != nullptr;
  };
  check_connection(map_);
  if (!placed()) {
    bundle.dispatcher_.count(kReplyWaits);
    (void)bundle.wait_loop(Activity::waiting_credit, "medium reply", index(map_.name.rank),
                           Bundle::Run::replies, -1, placed);
  }
  if (overflow == nullptr) return;
  bundle.dispatcher_.count(kOverflowReplies);
  overflow->use.store(overflow->use.load(kRelaxed) + 1, kRelaxed);
  overflow->length = static_cast<std::uint32_t>(bytes);
  std::memcpy(overflow->data(), data, bytes);
  const auto* const at = reinterpret_cast<std::byte*>(overflow);
  place = 0;
  if (!map_.channel->is_remote()) {
    core.overflow.user = map_.name;
    place = static_cast<std::uint64_t>(at - bundle.context().job().segment().base());
  }
  client |= wire_format::overflow_bit;
  map_.channel->forward_extra(at, sizeof(OverflowBlock) + bytes);
}

/// A short reply of several lines, or a medium one, where there is room for it. False: nothing is
/// sent.
bool Token::reply_at_once(std::uint64_t client, const std::uint64_t* args, std::uint32_t arg_words,
                          std::uint32_t arg_bytes, std::span<const std::byte> data) noexcept {
  // Nothing is sent so over remote channels: AMVIAv1 as published may refuse the reply.
  if (!may_reply() || data.size() > core_of(map_).max_medium ||
      (data.data() == nullptr && !data.empty())) [[unlikely]]
    return false;
  const bool sent = map_.takes_in_lines(arg_words, data.size())
                        ? map_.try_send_in_lines(0, client, {args, arg_words}, arg_bytes, data)
                        : detail::send_payload(map_, 0, client, {args, arg_words}, arg_bytes, data);
  if (!sent) [[unlikely]]
    return false;
  client_ |= kReplied;
  return true;
}

Status Token::reply_slow(std::uint64_t client, const std::uint64_t* args, std::uint32_t arg_words,
                         std::size_t arg_bytes, const std::byte* data, std::size_t bytes,
                         std::size_t offset) noexcept {
  detail::EndpointCore& core = core_of(map_);
  Bundle& bundle = core.bundle;
  if (bundle.job().in_forked_child()) bundle.stop_caller("a reply");
  const Bundle::Exclusive exclusive(bundle);
  if (!may_reply() && !take_back_refusal()) {
    if (leaves_answer_out()) return Status::ok;
    stop_handler(client_, replied() ? " replied twice: a request handler may reply once"
                                    : " replied to a reply: a reply handler may not communicate");
  }
  const Operation operation = wire_format::operation(client);
  if ((operation == Operation::medium && bytes > core.max_medium) ||
      (data == nullptr && bytes != 0)) {
    refuse_reply();
    return data == nullptr ? detail::Refusal::null(core, "a reply", bytes)
                           : detail::Refusal::length(core, "a reply", bytes);
  }
  if (is_too_large_for_v1(client)) {
    refuse_reply();
    return detail::Refusal::reply_size(core, operation, wire_format::operation(client_));
  }
  client_ |= kReplied;
  // Reply handlers that run while this waits change it.
  const std::uint16_t running = bundle.dispatcher_.running;
  const std::uint32_t prefix = wire_format::prefix_words(operation);
  std::uint64_t words[detail::kMaxMessageWords];
  std::span<const std::byte> in_lines;
  std::copy_n(args, arg_words, words + prefix);
  if (operation == Operation::bulk) {
    words[0] = offset;
    words[1] = bytes;
    check_connection(map_);
    const Undeliverable why = detail::begin_bulk(map_, data, bytes, offset, client);
    if (why != Undeliverable::none) {
      refuse_reply();
      return_to_sender(core, map_.describe_returned(
                                 client, words, static_cast<std::uint32_t>(8 * prefix + arg_bytes),
                                 why, Direction::reply));
      return Status::ok;
    }
  } else if (operation == Operation::medium && map_.takes_in_lines(arg_words, bytes)) {
    words[0] = std::uint64_t{bytes} << 32;
    in_lines = {data, bytes};
    client |= wire_format::in_lines_bit;
  } else if (operation == Operation::medium) {
    place_medium(client, words[0], data, bytes);
  }
  const Status status =
      bundle.send_waiting(map_, client, {words, prefix + arg_words},
                          static_cast<std::uint32_t>(8 * prefix + arg_bytes), in_lines);
  detail::finish_bulk(map_, data, bytes, offset, client, status == Status::ok);
  if (status != Status::ok && (client & wire_format::overflow_bit) != 0 &&
      !map_.channel->is_remote())
    core.overflow.block->take_back();
  bundle.dispatcher_.running = running;
  return status;
}

}  // namespace viaduct::am
