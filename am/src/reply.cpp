/// Replies, as far as the inline fast path does not make them: medium and bulk replies, waits,
/// refusals, and messages that go back to their sender.

#include <algorithm>
#include <cstring>
#include <string>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
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

/// On a remote channel each direction has a block of its own, behind the medium ring.
OverflowBlock* Endpoint::free_overflow(Map& map) noexcept {
  if (map.channel->is_remote()) {
    auto* own = reinterpret_cast<OverflowBlock*>(map.medium_out.ring + map.medium_out.size);
    return own->is_free() ? own : nullptr;
  }
  if (overflow_ == nullptr) {
    try {
      overflow_ = new (bundle_.context().nic().allocate(sizeof(OverflowBlock) + max_medium_))
          OverflowBlock{};
    } catch (const std::exception& e) {
      bundle_.context().job().log().write(LogLevel::error, e.what());
      return nullptr;
    }
  }
  const std::uint32_t held = overflow_->held();
  const bool free = held == 0 || bundle_.job().is_lost(overflow_user_.rank);
  if (!free && held != 1) {
    if (Map* const user = find_map(overflow_user_); user != nullptr && user->channel != nullptr)
      user->channel->break_off("a count of replies taken that cannot be");
    overflow_->take_back();
    return overflow_;
  }
  return free ? overflow_ : nullptr;
}

/// The request goes back to its sender when no handler runs any more (Bundle::finish), unless
/// another reply is made: the requester waits for one.
void Token::refuse_reply() noexcept {
  Bundle& bundle = map_.endpoint->bundle();
  bundle.refused_replies_.push_back({&map_, client_ & ~(kReplied | kRefused)});
  bundle.unfinished_ = true;
  client_ |= kReplied | kRefused;
}

/// Takes a refusal back for another reply. No other request handler has run meanwhile, so the
/// refusal is the last one. False: no reply was refused.
bool Token::take_back_refusal() noexcept {
  if ((client_ & kRefused) == 0) return false;
  auto& refused = map_.endpoint->bundle().refused_replies_;
  if (!refused.empty() && refused.back().map == &map_) refused.pop_back();
  client_ &= ~(kReplied | kRefused);
  return true;
}

Tag Token::tag() const noexcept {
  return direction() == Direction::request ? map_.tags.theirs : map_.endpoint->tag();
}

/// As Bundle::refuse(). The credit that a reply has brought is given up again, and comes back when
/// the replier has acknowledged the return.
void Token::send_back(Undeliverable why, std::span<const std::uint64_t> args, std::size_t arg_bytes,
                      std::size_t bytes, std::size_t offset) noexcept {
  Bundle& bundle = map_.endpoint->bundle();
  const Bundle::Exclusive exclusive(bundle);
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
  client_ |= kReplied;
  bundle.context_.count(Counter::kRefused);
  const std::uint16_t running = bundle.running_;  // reply handlers change it
  (void)bundle.send_waiting(map_, client, {words, prefix + args.size()},
                            static_cast<std::uint32_t>(8 * prefix + arg_bytes));
  bundle.running_ = running;
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
  Endpoint& endpoint = *map_.endpoint;
  Bundle& bundle = endpoint.bundle();
  OverflowBlock* overflow = nullptr;
  const auto placed = [&] {
    if (map_.state == detail::Map::State::closing || map_.state == detail::Map::State::lost)
      return true;
    if (endpoint.put_medium(map_, data, bytes, place)) return true;
    return (overflow = endpoint.free_overflow(map_)) != nullptr;
  };
  endpoint.check_connection(map_);
  if (!placed()) {
    bundle.context().count(kReplyWaits);
    (void)bundle.wait_loop(Activity::waiting_credit, "medium reply", index(map_.name.rank),
                           Bundle::Run::replies, -1, placed);
  }
  if (overflow == nullptr) return;
  bundle.context().count(kOverflowReplies);
  overflow->use.store(overflow->use.load(kRelaxed) + 1, kRelaxed);
  overflow->length = static_cast<std::uint32_t>(bytes);
  std::memcpy(overflow->data(), data, bytes);
  const auto* const at = reinterpret_cast<std::byte*>(overflow);
  place = 0;
  if (!map_.channel->is_remote()) {
    endpoint.overflow_user_ = map_.name;
    place = static_cast<std::uint64_t>(at - bundle.context().job().segment().base());
  }
  client |= wire_format::overflow_bit;
  map_.channel->forward_extra(at, sizeof(OverflowBlock) + bytes);
}

/// A short reply of several lines, or a medium one that is all in its lines, where there is room
/// for it. False: nothing is sent.
bool Token::reply_at_once(std::uint64_t client, const std::uint64_t* args, std::uint32_t arg_words,
                          std::uint32_t arg_bytes, std::span<const std::byte> data) noexcept {
  // takes_in_lines() is false for remote channels: AMVIAv1 as published may refuse the reply.
  if (!may_reply() || data.size() > map_.endpoint->max_medium() ||
      (data.data() == nullptr && !data.empty()) || !map_.takes_in_lines(arg_words, data.size()) ||
      !map_.try_send_in_lines(0, client, {args, arg_words}, arg_bytes, data)) [[unlikely]]
    return false;
  client_ |= kReplied;
  return true;
}

Status Token::reply_slow(std::uint64_t client, const std::uint64_t* args, std::uint32_t arg_words,
                         std::size_t arg_bytes, const std::byte* data, std::size_t bytes,
                         std::size_t offset) noexcept {
  Endpoint& endpoint = *map_.endpoint;
  Bundle& bundle = endpoint.bundle();
  if (bundle.context_.job().in_forked_child()) bundle.stop_caller("a reply");
  const Bundle::Exclusive exclusive(bundle);
  if (!may_reply() && !take_back_refusal()) {
    violate_contract(errors::handler_communicates,
                     std::string("handler ") + handler_name(wire_format::handler(client_)) +
                         (replied() ? " replied twice: a request handler may reply once"
                                    : " replied to a reply: a reply handler may not communicate"));
  }
  const Operation operation = wire_format::operation(client);
  if ((operation == Operation::medium && bytes > endpoint.max_medium()) ||
      (data == nullptr && bytes != 0)) {
    refuse_reply();
    return data == nullptr ? Endpoint::Refusal::null(endpoint, "a reply", bytes)
                           : Endpoint::Refusal::length(endpoint, "a reply", bytes);
  }
  if (is_too_large_for_v1(client)) {
    refuse_reply();
    return Endpoint::Refusal::reply_size(endpoint, operation, wire_format::operation(client_));
  }
  client_ |= kReplied;
  // Reply handlers that run while this waits change it.
  const std::uint16_t running = bundle.running_;
  const std::uint32_t prefix = wire_format::prefix_words(operation);
  std::uint64_t words[detail::kMaxMessageWords];
  std::span<const std::byte> in_lines;
  std::copy_n(args, arg_words, words + prefix);
  if (operation == Operation::bulk) {
    words[0] = offset;
    words[1] = bytes;
    endpoint.check_connection(map_);
    const Undeliverable why = endpoint.begin_bulk(map_, data, bytes, offset, client);
    if (why != Undeliverable::none) {
      refuse_reply();
      endpoint.return_to_sender(
          map_.describe_returned(client, words, static_cast<std::uint32_t>(8 * prefix + arg_bytes),
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
  endpoint.finish_bulk(map_, data, bytes, offset, client, status == Status::ok);
  if (status != Status::ok && (client & wire_format::overflow_bit) != 0 &&
      !map_.channel->is_remote())
    endpoint.overflow_->take_back();
  bundle.running_ = running;
  return status;
}

}  // namespace viaduct::am
