/// Connections of a VI: how two VIs find each other, and how they part.
///
/// A VI's channel (what it sends on) lies in its owner's window: it is the half of the VI's end in
/// the NIC's Connector, which decides when a connection comes about and when a half is released. A
/// final control message is sent after its sender's last message, so its reader sees all that was
/// sent before.

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "via/shm/nic.hpp"
#include "via/shm/remote_channel.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

namespace {
[[noreturn]] void throw_no_such_rank(Rank rank, std::uint32_t size) {
  throw Error(
      errors::no_such_rank, std::errc::invalid_argument,
      "cannot connect to rank " + std::to_string(index(rank)) + ": " + describe_ranks(size));
}
}  // namespace

Vi::Vi(Nic& nic, const ViAttributes& attributes, const InlineOptions& options)
    : context_(attributes.context), options_(options), attributes_(attributes), nic_(nic) {
  const std::size_t ring = std::bit_ceil<std::size_t>(attributes.receive_depth);
  if (!options_.inline_only) rx_ring_ = std::make_unique<Descriptor*[]>(ring);
  rx_ring_mask_ = static_cast<std::uint32_t>(ring - 1);
  if (attributes_.send_queue == nullptr)
    own_send_cq_ = std::make_unique<CompletionQueue>(nic, attributes.send_depth);
  if (attributes_.receive_queue == nullptr)
    own_receive_cq_ = std::make_unique<CompletionQueue>(nic, attributes.receive_depth);
  send_cq_ =
      own_send_cq_ ? own_send_cq_.get() : static_cast<CompletionQueue*>(attributes_.send_queue);
  receive_cq_ = own_receive_cq_ ? own_receive_cq_.get()
                                : static_cast<CompletionQueue*>(attributes_.receive_queue);
  if (!options_.inline_only) {  // inline messages leave no completions
    send_cq_->promise(attributes.send_depth);
    try {
      receive_cq_->promise(attributes.receive_depth);
    } catch (...) {
      send_cq_->forget(*this, attributes.send_depth);
      throw;
    }
  }
  try {
    receive_cq_->watch(*this);
    nic_.add_vi(*this);
  } catch (...) {
    leave_queues();
    throw;
  }
}

/// Gives back what the constructor has been promised.
void Vi::leave_queues() noexcept {
  receive_cq_->unwatch(*this);
  if (options_.inline_only) return;
  send_cq_->forget(*this, attributes_.send_depth);
  receive_cq_->forget(*this, attributes_.receive_depth);
}

Vi::~Vi() {
  disconnect();
  if (!nic_.job_.in_forked_child()) drop_channel(ErrorCause::none);  // no peer knows of it
  if (options_.remote) std::erase(nic_.remote_vis_, this);
  leave_queues();
  nic_.remove_vi(*this);
}

void Vi::prepare_channel() {
  if (tx_ != nullptr) return;
  const std::uint32_t depth = std::max({attributes_.send_depth, attributes_.receive_depth, 16U});
  tx_slot_count_ = options_.inline_only ? options_.slots : std::bit_ceil(depth);
  Segment& segment = nic_.job_.segment();
  std::size_t bytes =
      ChannelHead::bytes_for(tx_slot_count_, options_.inline_only) + options_.extra_bytes;
  if (options_.remote) bytes = (bytes + kDestructivePairBytes - 1) & ~(kDestructivePairBytes - 1);
  tx_offset_ = segment.allocate(options_.remote ? 2 * bytes : bytes);
  tx_ = new (segment.base() + tx_offset_) ChannelHead{};
  tx_slots_ = tx_->slots();
  tx_mask_ = tx_slot_count_ - 1;
  tx_seq_ = tx_limit_ = 0;
  tx_->notify.wanted.store(1);
  if (options_.inline_only) tx_->receiver.posted.store(tx_slot_count_);
  if (options_.remote) make_link(bytes);
}

std::byte* Vi::prepare_extra() {
  prepare_channel();
  return reinterpret_cast<std::byte*>(tx_) +
         ChannelHead::bytes_for(tx_slot_count_, options_.inline_only);
}

std::uint32_t Vi::shape() const noexcept {
  std::uint32_t shape = static_cast<std::uint32_t>(attributes_.reliability);
  if (options_.inline_only) shape |= kInlineOnly;
  constexpr unsigned kSlotsShift = 8;
  if (options_.remote)
    shape |= static_cast<std::uint32_t>(std::countr_zero(options_.slots)) << kSlotsShift;
  return shape;
}

ChannelOffer Vi::make_offer() const noexcept {
  ChannelOffer offer;
  offer.channel = tx_offset_;
  offer.doorbell = receive_cq_->doorbell_offset_;
  offer.tag = static_cast<std::uint32_t>(attributes_.tag);
  offer.doorbell_bit = static_cast<std::uint16_t>(receive_bit_);
  offer.slots_log2 = static_cast<std::uint8_t>(std::countr_zero(tx_slot_count_));
  return offer;
}

/// Of a remote VI the peer reads a copy: the channel itself is not for the Connector to release.
EndWish Vi::make_wish(Rank peer, std::uint64_t discriminator) {
  peer_ = peer;
  rejection_reason_ = 0;
  prepare_channel();
  EndWish wish;
  wish.peer = peer;
  wish.discriminator = discriminator;
  wish.shape = shape();
  wish.half = options_.remote ? 0 : tx_offset_;
  wish.owner = static_cast<via::Vi*>(this);
  wish.offer = options_.remote ? data_of(make_part()) : data_of(make_offer());
  return wish;
}

/// Asks for a connection.  @return false: another end has the name.
bool Vi::ask(ControlMessage::Kind form, Rank peer, std::uint64_t discriminator) {
  const EndWish wish = make_wish(peer, discriminator);
  state_ = ViState::connecting;
  if (nic_.connections_.open(form, wish, end_)) return true;
  state_ = ViState::idle;
  drop_channel(ErrorCause::none);
  return false;
}

/// Takes up the peer's channel and is connected.
void Vi::attach(const std::vector<std::byte>& data) {
  if (options_.remote) {
    RemotePart part;
    if (!read_data(data, part) || !attach_remote(part)) return;
  } else {
    ChannelOffer offer;
    if (!read_data(data, offer)) return;
    attach_mapped(offer);
  }
  answer_ = ConnectResult::connected;
  cause_ = ErrorCause::none;
  state_ = ViState::connected;
  nic_.count(kConnections);
  if (options_.remote) return;
  tx_ready_ = fast_path_allowed();
  // The peer may have sent already, and rung a doorbell that nobody knew.
  receive_cq_->ring_self(receive_bit_);
}

void Vi::attach_mapped(const ChannelOffer& offer) {
  peer_window_ = nic_.peer(peer_).window;
  peer_doorbell_ = reinterpret_cast<CqDoorbell*>(peer_window_ + offer.doorbell);
  peer_doorbell_bit_ = offer.doorbell_bit;
  peer_sleeping_ = &nic_.job_.record(peer_).sleeping;
  peer_tag_ = static_cast<ProtectionTag>(offer.tag);
  rx_ = reinterpret_cast<ChannelHead*>(peer_window_ + offer.channel);
  rx_slot_count_ = 1U << offer.slots_log2;
  rx_mask_ = rx_slot_count_ - 1;
  rx_plain_ = refusals_.empty() ? rx_slot_count_ : 0;
  rx_slots_ = rx_->slots();
  peer_extra_ = reinterpret_cast<std::byte*>(rx_) +
                ChannelHead::bytes_for(rx_slot_count_, options_.inline_only);
  rx_seq_ = rx_released_ = 0;
  if (!options_.inline_only)
    for (std::uint64_t number = 0; number < rx_posted_; ++number) publish_receive(number);
  rx_->notify.attached.store(1, kRelease);
}

/// The end of an attempt to connect.
void Vi::answer(ConnectResult result, std::uint64_t reason, ErrorCause cause) noexcept {
  answer_ = result;
  rejection_reason_ = reason;
  cause_ = cause;
  state_ = ViState::idle;
  drop_channel(cause);
  rx_ = nullptr;  // of a remote VI a part of the same
  rx_slots_ = nullptr;
}

void Vi::connect_loopback() {
  peer_ = nic_.job_.rank();
  prepare_channel();
  attach(data_of(make_offer()));
}

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (state_ != ViState::idle) return ConnectResult::rejected;
  if (index(peer) >= nic_.job_.size()) throw_no_such_rank(peer, nic_.job_.size());
  if (nic_.job_.is_lost(peer) || nic_.is_remote(peer) || nic_.reach(peer) == nullptr)
    return ConnectResult::unreachable;
  (void)ask(ControlMessage::Kind::client_request, peer, discriminator);  // names may be the same
  return connect_peer_wait(timeout_ns);
}

Status Vi::connect_peer_start(Rank peer, std::uint64_t discriminator) {
  if (state_ != ViState::idle) return Status::bad_state;
  if (index(peer) >= nic_.job_.size()) return Status::bad_argument;
  if (nic_.job_.is_lost(peer)) return Status::peer_lost;
  if (nic_.is_remote(peer) != options_.remote) return Status::bad_argument;
  if (!options_.remote && nic_.reach(peer) == nullptr) return Status::peer_lost;
  return ask(ControlMessage::Kind::request, peer, discriminator) ? Status::ok : Status::bad_state;
}

Status Vi::connect_peer_done() noexcept {
  nic_.progress();
  switch (state_) {
    case ViState::connected:
      return Status::ok;
    case ViState::connecting:
      return Status::retry;
    case ViState::error:
      return nic_.job_.is_lost(peer_) ? Status::peer_lost : Status::bad_state;
    case ViState::idle:
      break;
  }
  if (answer_ == ConnectResult::unreachable) return Status::peer_lost;
  return answer_ == ConnectResult::mismatch ? Status::bad_argument : Status::bad_state;
}

ConnectResult Vi::connect_peer_wait(std::int64_t timeout_ns) {
  if (!nic_.progress_until([this] { return state_ != ViState::connecting; }, timeout_ns)) {
    disconnect();
    return ConnectResult::timed_out;
  }
  return state_ == ViState::connected ? ConnectResult::connected : answer_;
}

/// An error found on this side.
void Vi::fail(ErrorCause cause, bool of_receive) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  flush(of_receive);
  nic_.connections_.stop(end_, cause);
  nic_.report({cause, this, nullptr, peer_});
}

/// The peer will send nothing more; all it has sent can be seen.
void Vi::peer_closed(ErrorCause cause) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  if (!options_.remote && !nic_.connections_.connector().may_read(end_)) forget_peer();
  if (options_.inline_only) {
    tx_limit_ = tx_seq_;  // the client drains what has come, then disconnects
    end_link();
    nic_.report({cause, this, nullptr, peer_});
    return;
  }
  const bool orderly =
      cause == ErrorCause::disconnected && rx_outstanding_ == 0 && pending_.empty();
  flush();
  nic_.connections_.stop(end_, ErrorCause::disconnected);
  if (orderly) {
    disconnect();
  } else {
    nic_.report({cause, this, nullptr, peer_});
  }
}

/// What has come completes, but not behind a receive that failed: no message is left out of a row
/// that goes on. Everything else completes as flushed; the peer's channel is let go.
void Vi::flush(bool after_bad_receive) noexcept {
  bool broken = after_bad_receive;
  tx_ready_ = false;
  tx_limit_ = tx_seq_;
  if (!options_.inline_only) {
    if (rx_slots_ != nullptr)
      while (rx_seq_ != rx_posted_ && has_arrivals()) {
        Descriptor* d = take_receive();
        if (broken) d->control.status = kReceived | descriptor_status::flushed;
        if (attributes_.reliability != Reliability::unreliable) broken = broken || d->failed();
        ++rx_outstanding_;
        receive_cq_->push({this, d, Queue::receive});
      }
    for (; rx_seq_ != rx_posted_; ++rx_seq_) {
      Descriptor* d = rx_ring_[rx_seq_ & rx_ring_mask_];
      d->control.status = kReceived | descriptor_status::flushed;
      receive_cq_->push({this, d, Queue::receive});
    }
    forget_refusals();
  }
  for (const Pending& p : pending_) {
    if (p.staged != 0) nic_.staged_.push_back(p.staged);
    push_send(*p.descriptor, descriptor_status::done | descriptor_status::flushed);
  }
  pending_.clear();
  if (hot_at_ >= 0) receive_cq_->set_aside(*this);
  rx_ = nullptr;
  rx_slots_ = nullptr;
}

void Vi::disconnect() noexcept {
  if (state_ == ViState::idle) {
    if (rx_posted_ != 0 && rx_ == nullptr) flush();  // receives posted and never connected
    rx_posted_ = rx_seq_ = 0;
    return;
  }
  if (state_ == ViState::connecting) answer_ = ConnectResult::timed_out;
  if (options_.inline_only && rx_ != nullptr) release_slots();  // what we have taken, exactly
  const bool connected = state_ == ViState::connected;
  // First: an error among what has come is no error of a connection any more.
  state_ = ViState::idle;
  if (options_.remote && connected) drain_link();
  flush();
  drop_channel(ErrorCause::disconnected);
  rx_posted_ = rx_seq_ = 0;
}

/// The VI neither writes into its channel nor reads the peer's any more. Nobody else reads a
/// channel that no end has been made for, or that a link has brought to the peer.
void Vi::drop_channel(ErrorCause cause) noexcept {
  if (tx_ == nullptr) return;
  nic_.connections_.close(end_, cause);
  end_link();
  if (options_.remote || end_.number == EndNumber::none) nic_.job_.segment().release(tx_offset_);
  end_ = {};  // late control messages are for the old one
  tx_ = nullptr;
  tx_slots_ = nullptr;
  tx_offset_ = 0;
}

// Queues without a completion queue of the user's.

Status Vi::send_done(Descriptor*& out) noexcept {
  return send_wait(out, 0) == Status::ok ? Status::ok
         : own_send_cq_                  ? Status::retry
                                         : Status::bad_state;
}

Status Vi::receive_done(Descriptor*& out) noexcept {
  return receive_wait(out, 0) == Status::ok ? Status::ok
         : own_receive_cq_                  ? Status::retry
                                            : Status::bad_state;
}

Status Vi::send_wait(Descriptor*& out, std::int64_t timeout_ns) noexcept {
  if (!own_send_cq_) return Status::bad_state;
  Completion c;
  const Status status = own_send_cq_->wait(c, timeout_ns);
  if (status == Status::ok) out = c.descriptor;
  return status;
}

Status Vi::receive_wait(Descriptor*& out, std::int64_t timeout_ns) noexcept {
  if (!own_receive_cq_) return Status::bad_state;
  Completion c;
  const Status status = own_receive_cq_->wait(c, timeout_ns);
  if (status == Status::ok) out = c.descriptor;
  return status;
}

}  // namespace viaduct::via::shm
