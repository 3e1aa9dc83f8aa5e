/// Connections of a VI of provider verbs: how two VIs find each other, and how they part.
///
/// Either side may send from the moment that it knows the other's queue pair to take packets: the
/// control message that accepts says so, and `ready` says it of the side that has read the last
/// control message. Until then sends wait in the row of descriptors.

#include <sched.h>

#include <algorithm>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "via/verbs/src/nic.hpp"
#include "via/verbs/src/vi.hpp"

namespace viaduct::via::verbs {

namespace {
// For the device to flush what it has; a device that does not is not waited for.
constexpr std::uint64_t kFlushLimitNs = 200'000'000;
// For what was sent before a disconnect to arrive: longer than all repetitions take.
constexpr std::uint64_t kDrainLimitNs = 5'000'000'000;
}  // namespace

Vi::Vi(Nic& nic, const ViAttributes& attributes)
    : sends_(attributes.send_depth),
      receives_(attributes.receive_depth),
      nic_(nic),
      attributes_(attributes) {
  if (attributes_.send_queue == nullptr)
    own_send_cq_ = std::make_unique<CompletionQueue>(nic, attributes.send_depth);
  if (attributes_.receive_queue == nullptr)
    own_receive_cq_ = std::make_unique<CompletionQueue>(nic, attributes.receive_depth);
  send_cq_ =
      own_send_cq_ ? own_send_cq_.get() : static_cast<CompletionQueue*>(attributes_.send_queue);
  receive_cq_ = own_receive_cq_ ? own_receive_cq_.get()
                                : static_cast<CompletionQueue*>(attributes_.receive_queue);
  send_cq_->promise(*this, attributes.send_depth, send_requests());
  try {
    receive_cq_->promise(*this, attributes.receive_depth, attributes.receive_depth);
  } catch (...) {
    send_cq_->forget(*this, attributes.send_depth, send_requests());
    throw;
  }
  try {
    id_ = nic_.add_vi(*this);
  } catch (...) {
    leave_queues();
    throw;
  }
}

/// Gives back what the constructor has been promised.
void Vi::leave_queues() noexcept {
  send_cq_->forget(*this, attributes_.send_depth, send_requests());
  receive_cq_->forget(*this, attributes_.receive_depth, attributes_.receive_depth);
}

Vi::~Vi() {
  disconnect();
  nic_.remove_vi(*this);
  leave_queues();
}

void Vi::make_pair() {
  QueuePair::Size size;
  size.sends = send_requests();
  size.receives = attributes_.receive_depth;
  size.segments = nic_.attributes_.max_segments;
  size.inline_bytes = nic_.attributes_.inline_bytes;
  pair_ = std::make_unique<QueuePair>(nic_.device_, nic_.domain_of(attributes_.tag),
                                      send_cq_->device_queue(), receive_cq_->device_queue(), size);
  receives_posted_ = receives_taken_ = 0;
  sent_ = arrived_ = 0;
  tried_ = false;
  for (std::uint32_t i = 0; i < receives_.size(); ++i)
    if (!hand_over_receive(receives_.at(i)))
      throw Error(std::errc::io_error, "RDMA device " + nic_.device_.name() + " takes no receives");
}

/// The device lets go of all descriptors: what it has completed by then completes so, the rest as
/// flushed.
void Vi::tear_down() noexcept {
  peer_ready_ = false;
  asked_ = ControlKind::none;
  if (pair_ != nullptr) {
    send_cq_->reap();
    receive_cq_->reap();
    pair_->fail();
    const std::uint64_t start = monotonic_ns();
    while ((sends_.size() != held_ || tried_ || receives_taken_ != receives_posted_) &&
           monotonic_ns() - start < kFlushLimitNs) {
      if (!send_cq_->reap() && !receive_cq_->reap()) sched_yield();
    }
    pair_.reset();
    nic_.renumber_vi(*this);  // late completions and control messages are for the old number
  }
  flush();
}

ControlMessage Vi::make_control_message(ControlKind kind) const noexcept {
  ControlMessage message;
  message.kind = kind;
  message.source_vi = id_;
  message.target_vi = peer_vi_;
  message.detail = static_cast<std::uint32_t>(attributes_.reliability);
  message.discriminator = discriminator_;
  message.arrived = arrived_;
  if (pair_ != nullptr) message.pair = pair_->name();
  if (attributes_.reliability == Reliability::reception) {
    const ibv_mr& region = nic_.flush_region(attributes_.tag);
    message.flush_address = reinterpret_cast<std::uint64_t>(region.addr);
    message.flush_key = region.rkey;
  }
  return message;
}

bool Vi::compatible(const ControlMessage& message) const noexcept {
  return message.detail == static_cast<std::uint32_t>(attributes_.reliability);
}

/// Takes up the peer's queue pair and is connected.
void Vi::attach(const ControlMessage& message) {
  peer_vi_ = message.source_vi;
  flush_address_ = message.flush_address;
  flush_key_ = message.flush_key;
  pair_->connect(nic_.control_path_->address_of(peer_), message.pair);
  asked_ = ControlKind::none;
  answer_ = ConnectResult::connected;
  peer_ready_ = false;
  state_ = ViState::connected;
  nic_.count(kConnections);
}

void Vi::peer_is_ready() noexcept {
  if (state_ != ViState::connected || peer_ready_) return;
  peer_ready_ = true;
  send_held();
}

/// The end of an attempt to connect. Receives stay posted.
void Vi::answer(ConnectResult result) noexcept {
  asked_ = ControlKind::none;
  answer_ = result;
  state_ = ViState::idle;
  pair_.reset();
  nic_.renumber_vi(*this);
}

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (state_ != ViState::idle) return ConnectResult::rejected;
  if (index(peer) >= nic_.job_.size())
    throw Error(std::errc::invalid_argument,
                "cannot connect to rank " + std::to_string(index(peer)) +
                    ": the job has the ranks 0 to " + std::to_string(nic_.job_.size() - 1));
  if (nic_.job_.is_lost(peer)) return ConnectResult::unreachable;
  peer_ = peer;
  discriminator_ = discriminator;
  make_pair();
  state_ = ViState::connecting;
  asked_ = ControlKind::request;
  nic_.send(peer, make_control_message(ControlKind::request));
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
  peer_ = peer;
  discriminator_ = discriminator;
  Nic::Unmatched* const matching = nic_.unmatched_.of_peer(peer, discriminator);
  if (matching != nullptr && !compatible(matching->message)) {
    nic_.reject_peer(peer, discriminator);
    answer(ConnectResult::mismatch);
    return Status::ok;
  }
  make_pair();
  state_ = ViState::connecting;
  asked_ = ControlKind::peer_request;
  nic_.send(peer, make_control_message(ControlKind::peer_request));
  if (matching != nullptr) {
    const ControlMessage message = nic_.unmatched_.take(matching).message;
    if (nic_.try_attach(*this, message)) nic_.send(peer, make_control_message(ControlKind::ready));
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

/// An error found on this side.
void Vi::fail(ErrorCause cause, ControlKind how) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  ControlMessage message = make_control_message(how);
  message.detail = static_cast<std::uint32_t>(cause);
  tear_down();
  if (!nic_.job_.is_lost(peer_)) nic_.send(peer_, message);
  nic_.report({cause, this, nullptr, peer_});
}

/// By control message: disconnect, error or refusal.
void Vi::peer_closed(const ControlMessage& message) noexcept {
  if (state_ != ViState::connected) return;
  send_cq_->reap();
  receive_cq_->reap();
  if (state_ != ViState::connected) return;  // an error of its own was among the completions
  apply_final(message);
  peer_closed(message.kind == ControlKind::disconnect ? ErrorCause::disconnected
                                                      : static_cast<ErrorCause>(message.detail));
}

/// The peer's queue pair is no more; all that it has sent is here.
void Vi::peer_closed(ErrorCause cause) noexcept {
  if (state_ != ViState::connected) return;
  send_cq_->reap();
  receive_cq_->reap();
  if (state_ != ViState::connected) return;  // an error of its own was among the completions
  const bool orderly = cause == ErrorCause::disconnected && sends_.empty() && receives_.empty();
  state_ = ViState::error;
  tear_down();
  if (orderly)
    state_ = ViState::idle;
  else
    nic_.report({cause, this, nullptr, peer_});
}

void Vi::disconnect() noexcept {
  switch (state_) {
    case ViState::idle:
    case ViState::error:
      break;
    case ViState::connecting: {
      const ControlMessage message = make_control_message(ControlKind::cancel);
      answer_ = ConnectResult::timed_out;
      if (!nic_.job_.is_lost(peer_)) nic_.send(peer_, message);
      break;
    }
    case ViState::connected: {
      // What was sent before arrives, unless the peer is gone or this is called from a callback.
      const std::uint64_t start = monotonic_ns();
      while (state_ == ViState::connected && !sends_.empty() && !nic_.job_.is_lost(peer_) &&
             monotonic_ns() - start < kDrainLimitNs) {
        if (!peer_ready_ && nic_.in_progress_.load()) break;
        nic_.progress();
        if (!send_cq_->reap()) sched_yield();
      }
      const ControlMessage message = make_control_message(ControlKind::disconnect);
      if (state_ == ViState::connected && !nic_.job_.is_lost(peer_)) nic_.send(peer_, message);
      break;
    }
  }
  state_ = ViState::idle;
  tear_down();
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

}  // namespace viaduct::via::verbs
