/// Connections of a VI: how two VIs find each other, and how they part.
///
/// A VI's channel (what it sends on) lies in its owner's window. It is released when the owner has
/// stopped writing and the peer has stopped reading; each side says the latter with exactly one
/// *final* control message (disconnect or error), sent after its last message, so whoever reads it
/// sees all that was sent before.

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include "runtime/atomic.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "via/shm/nic.hpp"
#include "via/shm/remote_channel.hpp"
#include "via/shm/vi.hpp"

namespace viaduct::via::shm {

namespace {
[[noreturn]] void throw_no_such_rank(Rank rank, std::uint32_t size) {
  throw Error(std::errc::invalid_argument, "cannot connect to rank " + std::to_string(index(rank)) +
                                               ": the job has the ranks 0 to " +
                                               std::to_string(size - 1));
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
    id_ = nic_.add_vi(*this);
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
  if (tx_ != nullptr && !nic_.job_.in_forked_child()) {  // never connected: no peer knows of it
    end_link();
    nic_.job_.segment().release(tx_offset_);
  }
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

ControlMessage Vi::make_control_message(ControlKind kind) const noexcept {
  ControlMessage message;
  message.kind = kind;
  message.discriminator = discriminator_;
  if (!options_.remote) message.channel = tx_offset_;
  if (!options_.remote) message.doorbell = receive_cq_->doorbell_offset_;
  message.source_vi = id_;
  message.target_vi = peer_vi_;
  message.tag = static_cast<std::uint32_t>(attributes_.tag);
  message.doorbell_bit = static_cast<std::uint16_t>(receive_bit_);
  message.slots_log2 = static_cast<std::uint8_t>(std::countr_zero(tx_slot_count_));
  message.detail = static_cast<std::uint8_t>(static_cast<unsigned>(attributes_.reliability) |
                                             (options_.inline_only ? kInlineOnly : 0U));
  return message;
}

bool Vi::compatible(const ControlMessage& message) const noexcept {
  return message.detail == make_control_message(message.kind).detail &&
         (!options_.remote || message.slots_log2 == std::countr_zero(options_.slots));
}

/// Takes up the peer's channel and is connected.
void Vi::attach_peer(const ControlMessage& message) {
  peer_window_ = nic_.peer(peer_).window;
  peer_doorbell_ = reinterpret_cast<CqDoorbell*>(peer_window_ + message.doorbell);
  peer_doorbell_bit_ = message.doorbell_bit;
  peer_sleeping_ = &nic_.job_.record(peer_).sleeping;
  peer_vi_ = message.source_vi;
  peer_tag_ = static_cast<ProtectionTag>(message.tag);
  rx_ = reinterpret_cast<ChannelHead*>(peer_window_ + message.channel);
  rx_slot_count_ = 1U << message.slots_log2;
  rx_mask_ = rx_slot_count_ - 1;
  rx_plain_ = refusals_.empty() ? rx_slot_count_ : 0;
  rx_slots_ = rx_->slots();
  peer_extra_ = reinterpret_cast<std::byte*>(rx_) +
                ChannelHead::bytes_for(rx_slot_count_, options_.inline_only);
  rx_seq_ = rx_released_ = 0;
  if (!options_.inline_only)
    for (std::uint64_t number = 0; number < rx_posted_; ++number) publish_receive(number);
  rx_->notify.attached.store(1, kRelease);
  asked_ = ControlKind::none;
  answer_ = ConnectResult::connected;
  cause_ = ErrorCause::none;
  final_sent_ = final_received_ = false;
  state_ = ViState::connected;
  tx_ready_ = fast_path_allowed();
  nic_.count(kConnections);
  receive_cq_->ring_self(
      receive_bit_);  // the peer may have sent already, and rung a doorbell that nobody knew
}

void Vi::answer(ConnectResult result, std::uint64_t reason) noexcept {
  asked_ = ControlKind::none;
  answer_ = result;
  rejection_reason_ = reason;
  state_ = ViState::idle;
  end_link();
  nic_.job_.segment().release(tx_offset_);  // the peer never attached
  tx_ = nullptr;
  tx_slots_ = nullptr;
  rx_ = nullptr;  // of a remote VI a part of the same
  rx_slots_ = nullptr;
}

void Vi::connect_loopback() {
  peer_ = nic_.job_.rank();
  peer_vi_ = id_;
  prepare_channel();
  attach_peer(make_control_message(ControlKind::peer_request));
  final_received_ = true;
}

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (state_ != ViState::idle) return ConnectResult::rejected;
  if (index(peer) >= nic_.job_.size()) throw_no_such_rank(peer, nic_.job_.size());
  if (nic_.job_.is_lost(peer) || nic_.is_remote(peer) || nic_.reach(peer) == nullptr)
    return ConnectResult::unreachable;
  peer_ = peer;
  discriminator_ = discriminator;
  prepare_channel();
  state_ = ViState::connecting;
  asked_ = ControlKind::request;
  nic_.post_control(peer, make_control_message(ControlKind::request));
  if (!nic_.progress_until([this] { return state_ != ViState::connecting; }, timeout_ns)) {
    disconnect();
    return ConnectResult::timed_out;
  }
  return answer_;
}

Status Vi::connect_peer_start(Rank peer, std::uint64_t discriminator) {
  if (state_ != ViState::idle) return Status::bad_state;
  if (index(peer) >= nic_.job_.size()) return Status::bad_argument;
  if (nic_.job_.is_lost(peer)) return Status::peer_lost;
  if (nic_.is_remote(peer) != options_.remote) return Status::bad_argument;
  if (!options_.remote && nic_.reach(peer) == nullptr) return Status::peer_lost;
  peer_ = peer;
  discriminator_ = discriminator;
  rejection_reason_ = 0;
  prepare_channel();
  Nic::Unmatched* const matching = nic_.unmatched_.of_peer(peer, discriminator);
  if (matching != nullptr && !compatible(matching->message)) {
    nic_.reject_peer(peer, discriminator, 0);
    answer(ConnectResult::mismatch, 0);
    return Status::ok;
  }
  state_ = ViState::connecting;
  asked_ = ControlKind::peer_request;
  if (options_.remote) {
    const RemotePart part = make_part();
    nic_.post_control(peer, make_control_message(ControlKind::peer_request), &part);
  } else {
    nic_.post_control(peer, make_control_message(ControlKind::peer_request));
  }
  if (matching != nullptr) {
    const Nic::Unmatched request = nic_.unmatched_.take(matching);
    if (options_.remote)
      attach_remote(request.message, *request.extra);
    else
      attach_peer(request.message);
  }
  return Status::ok;
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

void Vi::send_final(ControlKind kind) noexcept {
  if (final_sent_) return;
  final_sent_ = true;
  if (peer_ == nic_.job_.rank() && peer_vi_ == id_) return;  // loopback
  if (nic_.job_.is_lost(peer_)) {
    final_received_ = true;
    return;
  }
  ControlMessage message = make_control_message(kind);
  message.client_data = static_cast<std::uint64_t>(cause_);
  nic_.post_control(peer_, message);
}

/// An error found on this side.
void Vi::fail(ErrorCause cause, bool of_receive) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  cause_ = cause;
  flush(of_receive);
  send_final(ControlKind::error);
  nic_.report({cause, this, nullptr, peer_});
}

/// The peer no longer reads our channel and will send nothing more; all it has sent can be seen.
void Vi::peer_closed(ErrorCause cause) noexcept {
  final_received_ = true;
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  cause_ = cause;
  if (options_.inline_only) {
    tx_limit_ = tx_seq_;  // the client drains what has come, then disconnects
    end_link();
    nic_.report({cause, this, nullptr, peer_});
    return;
  }
  const bool orderly =
      cause == ErrorCause::disconnected && rx_outstanding_ == 0 && pending_.empty();
  flush();
  send_final(ControlKind::disconnect);
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
  if (state_ == ViState::connecting) {
    final_sent_ = true;
    final_received_ = nic_.job_.is_lost(peer_);
    if (!final_received_) nic_.post_control(peer_, make_control_message(ControlKind::cancel));
    asked_ = ControlKind::none;
    answer_ = ConnectResult::timed_out;
  }
  if (options_.inline_only && rx_ != nullptr) release_slots();  // what we have taken, exactly
  const bool connected = state_ == ViState::connected;
  // First: an error among what has come is no error of a connection any more.
  state_ = ViState::idle;
  if (options_.remote && connected) drain_link();
  flush();
  send_final(ControlKind::disconnect);
  drop_channel();
  rx_posted_ = rx_seq_ = 0;
}

void Vi::drop_channel() noexcept {
  if (tx_ == nullptr) return;
  end_link();
  if (final_received_ || options_.remote)
    nic_.job_.segment().release(tx_offset_);
  else
    nic_.draining_.push_back({peer_, id_, tx_offset_, ++nic_.draining_made_});
  tx_ = nullptr;
  tx_slots_ = nullptr;
  tx_offset_ = 0;
  nic_.renumber_vi(*this);  // late control messages are for the old number
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
