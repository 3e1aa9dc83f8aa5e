/// Connections of provider shm: how two ends find each other, and how they part.
///
/// The ring that an end sends on lies in its owner's window: it is the half of the end in the NIC's
/// Connector, which decides when a connection comes about and when a half is released. A final
/// control message is sent after its sender's last message, so its reader sees all that was sent
/// before.

#include "viaduct/via/shm/connection.hpp"

#include <bit>
#include <new>

#include "via/shm/nic.hpp"
#include "via/vi_answers.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/shm/poll_set.hpp"

namespace viaduct::via::shm {

void Connection::join_set() { set_->watch(*this); }

void Connection::leave_set() noexcept { set_->unwatch(*this); }

void Connection::allocate_ring(std::uint32_t slots, std::size_t bytes) {
  Segment& segment = nic_.job_.segment();
  tx_offset_ = segment.allocate(bytes);
  tx_ = new (segment.base() + tx_offset_) ChannelHead{};
  tx_slot_count_ = slots;
  tx_slots_ = tx_->slots();
  tx_mask_ = slots - 1;
  tx_seq_ = tx_limit_ = 0;
  tx_->notify.wanted.store(1);
}

ChannelOffer Connection::make_offer() const noexcept {
  ChannelOffer offer;
  offer.channel = tx_offset_;
  offer.doorbell = set_->doorbell_offset_;
  offer.tag = tag_;
  offer.doorbell_bit = static_cast<std::uint16_t>(in_set_.bit);
  offer.slots_log2 = static_cast<std::uint8_t>(std::countr_zero(tx_slot_count_));
  return offer;
}

EndWish Connection::make_wish(Rank peer, std::uint64_t discriminator) {
  peer_ = peer;
  outcome_.reason = 0;
  prepare_ring();
  EndWish wish;
  wish.peer = peer;
  wish.discriminator = discriminator;
  wish.shape = shape();
  wish.half = half();
  wish.owner = static_cast<Connectable*>(this);
  wish.offer = offer();
  return wish;
}

/// Asks for a connection.  @return false: another end has the name.
bool Connection::ask(ControlMessage::Kind form, Rank peer, std::uint64_t discriminator) {
  const EndWish wish = make_wish(peer, discriminator);
  state_ = ViState::connecting;
  if (nic_.connections_.open(form, wish, end_)) return true;
  state_ = ViState::idle;
  drop_ring(ErrorCause::none);
  return false;
}

/// Takes up the peer's ring and is connected.
void Connection::attach(const std::vector<std::byte>& data) {
  if (!take_up(data)) return;
  outcome_.answer = ConnectResult::connected;
  outcome_.cause = ErrorCause::none;
  state_ = ViState::connected;
  nic_.count(kConnections);
  on_attached();
}

void Connection::map_ring(const ChannelOffer& offer) {
  theirs_.window = nic_.peer(peer_).window;
  theirs_.doorbell = reinterpret_cast<CqDoorbell*>(theirs_.window + offer.doorbell);
  theirs_.doorbell_bit = offer.doorbell_bit;
  theirs_.tag = offer.tag;
  rx_ = reinterpret_cast<ChannelHead*>(theirs_.window + offer.channel);
  rx_slot_count_ = 1U << offer.slots_log2;
  rx_mask_ = rx_slot_count_ - 1;
  rx_slots_ = rx_->slots();
  rx_seq_ = 0;
}

/// The end of an attempt to connect.
void Connection::answer(ConnectResult result, std::uint64_t reason, ErrorCause cause) noexcept {
  outcome_ = {result, cause, reason};
  state_ = ViState::idle;
  drop_ring(cause);
  rx_ = nullptr;  // a remote channel's rx_ lies in the block that was dropped
  rx_slots_ = nullptr;
}

void Connection::connect_loopback() {
  peer_ = nic_.job_.rank();
  prepare_ring();
  attach(data_of(make_offer()));
}

Status Connection::connect_peer_start(Rank peer, std::uint64_t discriminator) {
  if (state_ != ViState::idle) return Status::bad_state;
  outcome_.answer = ConnectResult::rejected;  // where no attempt begins
  if (index(peer) >= nic_.job_.size()) return refuse_rank(nic_.job_, "connect_peer_start", peer);
  if (nic_.job_.is_lost(peer)) {
    outcome_.answer = ConnectResult::unreachable;
    return Status::peer_lost;
  }
  if (const Status way = check_way(peer); way != Status::ok) return way;
  return ask(ControlMessage::Kind::request, peer, discriminator) ? Status::ok : Status::bad_state;
}

/// The end neither writes into its ring nor reads the peer's any more. The Connector does not know
/// a ring that no end has been made for, or that a link copies to the peer: such a ring is released
/// here.
void Connection::drop_ring(ErrorCause cause) noexcept {
  if (tx_ == nullptr) return;
  const bool released_by_connector = half() != 0 && end_.number != EndNumber::none;
  nic_.connections_.close(end_, cause);
  end_link();
  if (!released_by_connector) nic_.job_.segment().release(tx_offset_);
  end_ = {};  // late control messages are for the old one
  tx_ = nullptr;
  tx_slots_ = nullptr;
  tx_offset_ = 0;
}

void Connection::ring_peer() noexcept {
  nic_.count(kDoorbells);
  const std::uint32_t w = theirs_.doorbell_bit / 64;
  const std::uint64_t bit = std::uint64_t{1} << (theirs_.doorbell_bit % 64);
  if (theirs_.doorbell->words[w].fetch_or(bit) == 0)
    theirs_.doorbell->summary.fetch_or(std::uint64_t{1} << w);
  nic_.peer(peer_).attention->store(1);
  nic_.wake(peer_);
}

}  // namespace viaduct::via::shm
