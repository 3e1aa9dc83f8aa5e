/// Connections of provider shm's NIC: the provider's part of via/connections.hpp.

#include <algorithm>
#include <string>
#include <utility>

#include "via/shm/nic.hpp"
#include "via/vi_answers.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::shm {

using Kind = ControlMessage::Kind;

/// Whether the message has the data that its reader needs, and the places that it names lie in its
/// writer's window. A control message is memory that its writer can fill with anything.
bool Nic::is_plausible(Rank from, const ControlMessage& message) const noexcept {
  const Kind kind = message.kind;
  if (kind != Kind::request && kind != Kind::client_request && kind != Kind::accept) return true;
  if (is_remote(from)) return kind == Kind::request && is_plausible_remote(message);
  ChannelOffer offer;
  if (!read_data(message.data, offer)) return false;
  constexpr unsigned kMinSlotsLog2 = 2;
  constexpr unsigned kMaxSlotsLog2 = 16;
  if (offer.slots_log2 < kMinSlotsLog2 || offer.slots_log2 > kMaxSlotsLog2) return false;
  const std::size_t window = job_.segment().window_bytes();
  const std::uint32_t slots = 1U << offer.slots_log2;
  const std::size_t bytes = (message.shape & kOfChannel) != 0
                                ? ChannelHead::bytes_for(slots)
                                : ring_bytes_of_vi(slots, static_cast<Reliability>(message.shape));
  return bytes <= window && offer.channel <= window - bytes &&
         offer.channel % alignof(ChannelHead) == 0 &&
         offer.doorbell <= window - sizeof(CqDoorbell) && offer.doorbell % kCacheLineBytes == 0 &&
         offer.doorbell_bit < kMaxQueueVis;
}

/// A control message has come.
void Nic::handle(Rank from, std::span<const std::byte> bytes) {
  // The Connector has been told of the loss, and must get no later message of the rank.
  if (life_epoch_.load(kRelaxed) == job_.life_epoch() && job_.is_lost(from)) return;
  ControlMessage message;
  if (!decode(bytes, message) || !is_plausible(from, message)) {
    job_.log().write(
        LogLevel::error,
        "a control message from rank " + std::to_string(index(from)) +
            " makes no sense and is dropped: is something writing into this rank's memory?");
    return;
  }
  if (!is_remote(from) && reach(from) == nullptr) return;
  const bool ends = message.kind == Kind::final || message.kind == Kind::reject;
  if (ends && is_remote(from)) drain_remote();  // messages sent before the control message
  const std::size_t answers = 1 + connections_.connector().requests().size();
  if (is_remote(from))
    reserve_remote(answers);
  else
    outbox_.reserve(outbox_.size() + answers);
  connections_.handle(from, message);
}

void Nic::attach(Connectable& end, const ControlMessage& message) {
  static_cast<Connection&>(end).attach(message.data);
}

void Nic::refused(Connectable& end, const ControlMessage& message) {
  static_cast<Connection&>(end).answer(message.result, message.reason, message.cause);
}

void Nic::ended(Connectable& end, const ControlMessage& message) {
  static_cast<Connection&>(end).ended_by_peer(message.cause);
}

void Nic::parted(std::uint64_t half) {
  if (half != 0) job_.segment().release(half);
  release_retired();
}

void Nic::asked() {
  page_->control_waiting.store(1);
  attention_->store(1);
}

void Nic::look_for_lost_peers() {
  life_epoch_.store(job_.life_epoch(), kRelaxed);
  part_from([this](Rank rank) { return job_.is_lost(rank); }, ErrorCause::connection_lost);
}

/// Ends everything with ranks whose NIC is no more.
void Nic::part_from(const std::function<bool(Rank)>& gone, ErrorCause cause) {
  drain_remote();  // messages that they sent before
  std::erase_if(outbox_, [&](const auto& entry) { return gone(entry.first); });
  forget_remote(gone);
  connections_.lose(gone, cause);
}

void Nic::release_when_parted(std::byte* address) noexcept {
  retired_.push_back({static_cast<std::uint64_t>(address - job_.segment().base()),
                      connections_.connector().newest()});
  release_retired();
}

/// The pieces are in the order in which they were retired: behind one that must stay, all stay.
void Nic::release_retired() noexcept {
  auto first = retired_.begin();
  for (; first != retired_.end() && !connections_.connector().drains_up_to(first->newest); ++first)
    job_.segment().release(first->offset);
  retired_.erase(retired_.begin(), first);
}

// Client and server form.

Status Nic::listen(std::uint64_t discriminator, ConnectionRequest& out, std::int64_t timeout_ns) {
  return connections_.listen(discriminator, out, [&](const std::function<bool()>& done) {
    return progress_until(done, timeout_ns);
  });
}

Status Nic::accept(const ConnectionRequest& request, via::Vi& to) {
  auto& vi = static_cast<Vi&>(to);
  const Status answer =
      connections_.accept(request, job_.is_lost(request.from),
                          {vi.state_, vi.shape(), vi.end_,
                           [&] { return vi.make_wish(request.from, request.discriminator); },
                           [&](const std::vector<std::byte>& data) {
                             vi.attach(data);
                             return true;
                           }});
  return explain_accept(job_, request, answer);
}

void Nic::reject(const ConnectionRequest& request) { connections_.reject(request); }

}  // namespace viaduct::via::shm
