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

/// @return the queue of a VI's own, or the user's where it has none.
CompletionQueue& in_use(const Owned<CompletionQueue>& own, via::CompletionQueue* users) {
  return own ? *own : static_cast<CompletionQueue&>(*users);
}
}  // namespace

Vi::OwnQueues::OwnQueues(Nic& nic, const ViAttributes& attributes)
    : send(own_queue(nic, attributes.send_queue, attributes.send_depth)),
      receive(own_queue(nic, attributes.receive_queue, attributes.receive_depth)) {}

Vi::Vi(Nic& nic, const ViAttributes& attributes, OwnQueues own)
    : Connection(nic, in_use(own.receive, attributes.receive_queue)),
      own_queues_(std::move(own)),
      attributes_(attributes),
      receive_cq_(&in_use(own_queues_.receive, attributes.receive_queue)),
      sends_(*this, in_use(own_queues_.send, attributes.send_queue)),
      receives_(nic, attributes) {
  tag_ = static_cast<std::uint32_t>(attributes.tag);
  receive_cq_->promise(attributes.receive_depth);
  try {
    join_set();
    nic_.add_vi(*this);
  } catch (...) {
    leave_set();
    receive_cq_->forget(*this, attributes.receive_depth);
    throw;
  }
}

Vi::~Vi() {
  disconnect();
  if (!nic_.job_.in_forked_child()) drop_ring(ErrorCause::none);  // no peer knows of it
  leave_set();
  receive_cq_->forget(*this, attributes_.receive_depth);
  nic_.remove_vi(*this);
  nic_.leave(own_queues_.send);
  nic_.leave(own_queues_.receive);
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
  receives_.attach(*rx_, rx_slot_count_, theirs_.window);
  rx_->notify.attached.store(1, kRelease);
  sends_.become_ready();
  // The peer may have sent and rung already, when polls did not yet look at this ring.
  receive_cq_->ring_self(in_set_.bit);
  return true;
}

/// VIs do not go by a transport: provider verbs has its own.
Status Vi::check_way(Rank peer) {
  if (nic_.is_remote(peer)) return Status::bad_argument;
  return nic_.reach(peer) == nullptr ? Status::peer_lost : Status::ok;
}

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (state_ != ViState::idle) return ConnectResult::rejected;
  outcome_.answer = ConnectResult::rejected;  // where no attempt begins
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
  if (!nic_.connections_.connector().may_read(end_)) {
    // The peer has taken back the request that the VI is connected to: it has sent nothing, and its
    // ring may be gone.
    rx_ = nullptr;
    rx_slots_ = nullptr;
    receives_.detach();
  }
  const bool orderly =
      cause == ErrorCause::disconnected && rx_outstanding_ == 0 && !sends_.has_waiting();
  flush();
  nic_.connections_.stop(end_, ErrorCause::disconnected);
  if (orderly) {
    disconnect();
    outcome_.answer = ConnectResult::connected;  // as the attempt ended
  } else {
    nic_.report({cause, this, nullptr, peer_});
  }
}

void Vi::refuse_room() noexcept { refuse("a count of free slots that cannot be"); }

/// The peer does not keep to the protocol.
void Vi::refuse(const char* what) noexcept {
  if (state_ != ViState::connected) return;
  nic_.job_.log().write(LogLevel::error, "the connection with rank " +
                                             std::to_string(index(peer_)) +
                                             " ends, since that rank has written " + what);
  fail(ErrorCause::format, ErrorCause::format, false);
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
  tx_limit_ = tx_seq_;
  if (rx_slots_ != nullptr)
    while (rx_seq_ != receives_.posted() && has_arrivals()) {
      Descriptor* d = take_receive();
      if (d == nullptr) break;  // the sender has taken the message back, which none may
      if (broken) d->control.status = ReceiveQueue::kReceived | descriptor_status::flushed;
      if (attributes_.reliability != Reliability::unreliable) broken = broken || d->failed();
      ++rx_outstanding_;
      receive_cq_->push({this, d, Queue::receive});
    }
  for (; rx_seq_ != receives_.posted(); ++rx_seq_) {
    Descriptor& d = receives_.at(rx_seq_);
    d.control.status = ReceiveQueue::kReceived | descriptor_status::flushed;
    receive_cq_->push({this, &d, Queue::receive});
  }
  receives_.forget_refusals();
  sends_.flush();
  if (in_set_.hot_at >= 0) receive_cq_->set_aside(*this);
  rx_ = nullptr;
  rx_slots_ = nullptr;
  receives_.detach();
}

Status Vi::connect_peer_done() noexcept {
  nic_.progress();
  if (state_ == ViState::connected && nic_.owes(peer_)) return Status::retry;
  return attempt_status(state_, outcome_.answer, nic_.job_.is_lost(peer_));
}

ConnectResult Vi::connect_peer_wait(std::int64_t timeout_ns) {
  const auto is_done = [this] {
    return state_ != ViState::connecting && (state_ != ViState::connected || !nic_.owes(peer_));
  };
  if (!nic_.progress_until(is_done, timeout_ns)) {
    disconnect();
    return ConnectResult::timed_out;
  }
  return outcome_.answer;
}

void Vi::disconnect() noexcept {
  if (state_ == ViState::idle) {
    if (receives_.posted() != 0 && rx_ == nullptr) flush();  // posted, and never connected
    receives_.restart();
    rx_seq_ = 0;
    return;
  }
  outcome_.answer = ConnectResult::rejected;  // until another attempt begins
  // First, so that an error among the messages that have come is no error of the connection.
  state_ = ViState::idle;
  flush();
  drop_ring(ErrorCause::disconnected);
  receives_.restart();
  rx_seq_ = 0;
}

// Queues without a completion queue of the user's.

Status Vi::done(Queue queue, Descriptor*& out) noexcept {
  return take_own((queue == Queue::send ? own_queues_.send : own_queues_.receive).get(), out);
}

Status Vi::wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept {
  return wait_for_own((queue == Queue::send ? own_queues_.send : own_queues_.receive).get(), out,
                      timeout_ns);
}

}  // namespace viaduct::via::shm
