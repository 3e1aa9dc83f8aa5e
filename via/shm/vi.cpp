/// VIs of provider shm: set-up, the errors of a connection, and the end.

#include <algorithm>
#include <bit>
#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "via/shm/nic.hpp"
#include "via/vi_answers.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

namespace {
[[noreturn]] void throw_no_such_rank(Rank rank, std::uint32_t size) {
  throw Error(
      errors::no_such_rank, std::errc::invalid_argument,
      "cannot connect to rank " + std::to_string(index(rank)) + ": " + describe_ranks(size));
}

/// A VI without a queue of the user's has one of its own.
Owned<CompletionQueue> own_queue(Nic& nic, const via::CompletionQueue* users, std::uint32_t depth) {
  if (users != nullptr) return nullptr;
  return std::make_unique<CompletionQueue>(nic, depth);
}
}  // namespace

Vi::Vi(Nic& nic, const ViAttributes& attributes)
    : Vi(nic, attributes, own_queue(nic, attributes.send_queue, attributes.send_depth),
         own_queue(nic, attributes.receive_queue, attributes.receive_depth)) {}

Vi::Vi(Nic& nic, const ViAttributes& attributes, Owned<CompletionQueue> own_send,
       Owned<CompletionQueue> own_receive)
    : Connection(nic, own_receive ? *own_receive
                                  : static_cast<CompletionQueue&>(*attributes.receive_queue)),
      attributes_(attributes),
      own_send_cq_(std::move(own_send)),
      own_receive_cq_(std::move(own_receive)) {
  tag_ = static_cast<std::uint32_t>(attributes.tag);
  const std::size_t ring = std::bit_ceil<std::size_t>(attributes.receive_depth);
  rx_ring_ = std::make_unique<Descriptor*[]>(ring);
  rx_ring_mask_ = static_cast<std::uint32_t>(ring - 1);
  send_cq_ =
      own_send_cq_ ? own_send_cq_.get() : static_cast<CompletionQueue*>(attributes_.send_queue);
  receive_cq_ = own_receive_cq_ ? own_receive_cq_.get()
                                : static_cast<CompletionQueue*>(attributes_.receive_queue);
  send_cq_->promise(attributes.send_depth);
  try {
    receive_cq_->promise(attributes.receive_depth);
  } catch (...) {
    send_cq_->forget(*this, attributes.send_depth);
    throw;
  }
  try {
    join_set();
    nic_.add_vi(*this);
  } catch (...) {
    leave_queues();
    throw;
  }
}

/// Returns the room in the queues that the constructor has been promised.
void Vi::leave_queues() noexcept {
  leave_set();
  send_cq_->forget(*this, attributes_.send_depth);
  receive_cq_->forget(*this, attributes_.receive_depth);
}

Vi::~Vi() {
  disconnect();
  if (!nic_.job_.in_forked_child()) drop_ring(ErrorCause::none);  // no peer knows of it
  leave_queues();
  nic_.remove_vi(*this);
}

std::uint32_t Vi::shape() const noexcept {
  return static_cast<std::uint32_t>(attributes_.reliability);
}

void Vi::prepare_ring() {
  if (tx_ != nullptr) return;
  const std::uint32_t depth = std::max({attributes_.send_depth, attributes_.receive_depth, 16U});
  const std::uint32_t slots = std::bit_ceil(depth);
  allocate_ring(slots, ring_bytes_of_vi(slots, attributes_.reliability));
}

bool Vi::take_up(const std::vector<std::byte>& offer) {
  ChannelOffer theirs;
  if (!read_data(offer, theirs)) return false;
  map_ring(theirs);
  rx_plain_ = refusals_.empty() ? rx_slot_count_ : 0;
  for (std::uint64_t number = 0; number < rx_posted_; ++number) publish_receive(number);
  rx_->notify.attached.store(1, kRelease);
  return true;
}

void Vi::on_attached() noexcept {
  tx_ready_ = fast_path_allowed();
  // The peer may have sent and rung already, when polls did not yet look at this ring.
  receive_cq_->ring_self(in_set_.bit);
}

/// VIs do not go by a transport: provider verbs has its own.
Status Vi::check_way(Rank peer) {
  if (nic_.is_remote(peer)) return Status::bad_argument;
  return nic_.reach(peer) == nullptr ? Status::peer_lost : Status::ok;
}

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (state_ != ViState::idle) return ConnectResult::rejected;
  if (index(peer) >= nic_.job_.size()) throw_no_such_rank(peer, nic_.job_.size());
  if (nic_.job_.is_lost(peer) || nic_.is_remote(peer) || nic_.reach(peer) == nullptr)
    return ConnectResult::unreachable;
  (void)ask(ControlMessage::Kind::client_request, peer, discriminator);  // names may be the same
  return connect_peer_wait(timeout_ns);
}

/// An error found on this side. @p for_peer: the cause that the peer is told.
void Vi::fail(ErrorCause cause, ErrorCause for_peer, bool of_receive) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  flush(of_receive);
  nic_.connections_.stop(end_, for_peer);
  nic_.report({cause, this, nullptr, peer_});
}

void Vi::peer_closed(ErrorCause cause) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  if (!nic_.connections_.connector().may_read(end_)) forget_peer();
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

/// The peer has taken back the request that the VI is connected to: it has sent nothing, and its
/// ring may be gone.
void Vi::forget_peer() noexcept {
  rx_ = nullptr;
  rx_slots_ = nullptr;
}

void Vi::refuse_room() noexcept {
  if (state_ != ViState::connected) return;
  nic_.job_.log().write(LogLevel::error,
                        "the connection with rank " + std::to_string(index(peer_)) +
                            " ends, since that rank has written a count of free slots that cannot "
                            "be");
  fail(ErrorCause::format);
}

/// Messages that have come complete, but not behind a receive that failed: the program never sees a
/// sequence of messages with a gap. All other descriptors complete as flushed; the peer's ring is
/// let go.
void Vi::flush(bool after_bad_receive) noexcept {
  if (rx_ != nullptr) {
    rx_->receiver.closed.store(1, kRelease);
    nic_.await_copies(peer_);
  }
  bool broken = after_bad_receive;
  tx_ready_ = false;
  tx_limit_ = tx_seq_;
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
  for (const Pending& p : pending_) {
    if (p.staged != 0) nic_.keep(nic_.staged_, p.staged);
    push_send(*p.descriptor, descriptor_status::done | descriptor_status::flushed);
  }
  pending_.clear();
  if (in_set_.hot_at >= 0) receive_cq_->set_aside(*this);
  rx_ = nullptr;
  rx_slots_ = nullptr;
}

Status Vi::connect_peer_done() noexcept {
  nic_.progress();
  return attempt_status(state_, outcome_.answer, nic_.job_.is_lost(peer_));
}

ConnectResult Vi::connect_peer_wait(std::int64_t timeout_ns) {
  if (!nic_.progress_until([this] { return state_ != ViState::connecting; }, timeout_ns)) {
    disconnect();
    return ConnectResult::timed_out;
  }
  return state_ == ViState::connected ? ConnectResult::connected : outcome_.answer;
}

void Vi::disconnect() noexcept {
  if (state_ == ViState::idle) {
    if (rx_posted_ != 0 && rx_ == nullptr) flush();  // receives posted and never connected
    rx_posted_ = rx_seq_ = 0;
    return;
  }
  if (state_ == ViState::connecting) outcome_.answer = ConnectResult::timed_out;
  // First, so that an error among the messages that have come is no error of the connection.
  state_ = ViState::idle;
  flush();
  drop_ring(ErrorCause::disconnected);
  rx_posted_ = rx_seq_ = 0;
}

// Queues without a completion queue of the user's.

Status Vi::done(Queue queue, Descriptor*& out) noexcept {
  return take_own((queue == Queue::send ? own_send_cq_ : own_receive_cq_).get(), out);
}

Status Vi::wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept {
  return wait_for_own((queue == Queue::send ? own_send_cq_ : own_receive_cq_).get(), out,
                      timeout_ns);
}

}  // namespace viaduct::via::shm
