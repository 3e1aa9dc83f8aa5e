/// Connections of a VI of provider verbs: how two VIs find each other, and how they part.
///
/// Either side may send from the moment that it knows the other's queue pair to take packets: the
/// control message that accepts says so, and `ready` says it of the side that has read the last
/// control message. Until then sends wait in the row of descriptors.

#include <sched.h>

#include <algorithm>
#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "via/verbs/src/nic.hpp"
#include "via/verbs/src/vi.hpp"
#include "via/vi_answers.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::verbs {

namespace {
// The time for the device to flush its descriptors; after it the device is not waited for.
constexpr std::uint64_t kFlushLimitNs = 200'000'000;
// The time for messages sent before a disconnect to arrive: longer than all repetitions take.
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

/// Returns the room in the queues that the constructor has been promised.
void Vi::leave_queues() noexcept {
  send_cq_->forget(*this, attributes_.send_depth, send_requests());
  receive_cq_->forget(*this, attributes_.receive_depth, attributes_.receive_depth);
}

Vi::~Vi() {
  disconnect();
  nic_.remove_vi(*this);
  leave_queues();
  nic_.leave(own_send_cq_);
  nic_.leave(own_receive_cq_);
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
      throw Error(errors::rdma_device, std::errc::io_error,
                  "RDMA device " + nic_.device_.name() + " takes no receives");
}

/// Takes all descriptors from the device: those that it has completed by then complete so, the rest
/// as flushed.
void Vi::tear_down() noexcept {
  peer_ready_ = false;
  if (pair_ != nullptr) {
    send_cq_->reap();
    receive_cq_->reap();
    pair_->fail();
    const std::uint64_t start = monotonic_ns();
    while ((sends_.size() != held_ || tried_ || receives_taken_ != receives_posted_) &&
           !nic_.device_failed_ && monotonic_ns() - start < kFlushLimitNs) {
      if (!send_cq_->reap() && !receive_cq_->reap()) sched_yield();
    }
    pair_.reset();
    nic_.renumber_vi(*this);  // late completions are for the old number
  }
  flush();
}

PairOffer Vi::make_offer() const {
  PairOffer offer;
  offer.pair = pair_->name();
  if (attributes_.reliability == Reliability::reception) {
    const ibv_mr& region = nic_.flush_region(attributes_.tag);
    offer.flush_address = reinterpret_cast<std::uint64_t>(region.addr);
    offer.flush_key = region.rkey;
  }
  return offer;
}

std::vector<std::byte> Vi::last_word(bool refused) const {
  return data_of(LastWord{arrived_, refused ? 1U : 0U});
}

EndWish Vi::make_wish(Rank peer, std::uint64_t discriminator) {
  peer_ = peer;
  make_pair();
  EndWish wish;
  wish.peer = peer;
  wish.discriminator = discriminator;
  wish.shape = shape();
  wish.owner = static_cast<Connectable*>(this);
  wish.offer = data_of(make_offer());
  return wish;
}

/// Asks for a connection.  @return false: another end has the name.
bool Vi::ask(ControlMessage::Kind form, Rank peer, std::uint64_t discriminator) {
  const EndWish wish = make_wish(peer, discriminator);
  state_ = ViState::connecting;
  if (nic_.connections_.open(form, wish, end_)) return true;
  state_ = ViState::idle;
  drop_pair();
  return false;
}

/// Takes up the peer's queue pair and is connected.  @return false: the device does not connect;
/// the attempt has been answered.
bool Vi::attach(const std::vector<std::byte>& data) noexcept {
  try {
    PairOffer offer;
    if (!read_data(data, offer))
      throw Error(errors::versions_differ, std::errc::protocol_error,
                  "rank " + std::to_string(index(peer_)) +
                      " asks for a connection in another way: start all "
                      "ranks from one build");
    flush_address_ = offer.flush_address;
    flush_key_ = offer.flush_key;
    pair_->connect(nic_.control_path_->address_of(peer_), offer.pair);
  } catch (const std::exception& e) {
    nic_.job_.log().write(LogLevel::error, e.what());
    answer(ConnectResult::unreachable);
    return false;
  }
  answer_ = ConnectResult::connected;
  peer_ready_ = false;
  state_ = ViState::connected;
  nic_.count(kConnections);
  return true;
}

void Vi::peer_is_ready() noexcept {
  if (state_ != ViState::connected || peer_ready_) return;
  peer_ready_ = true;
  send_held();
}

/// The end of an attempt to connect. Receives stay posted.
void Vi::answer(ConnectResult result) noexcept {
  answer_ = result;
  state_ = ViState::idle;
  drop_pair();
}

/// The queue pair has done nothing yet: there is nothing to flush.
void Vi::drop_pair() noexcept {
  close_end(ErrorCause::connection_lost);  // where it is open, the peer may be connected
  pair_.reset();
  nic_.renumber_vi(*this);
}

void Vi::close_end(ErrorCause cause) noexcept {
  nic_.connections_.close(end_, cause, last_word(false));
  end_ = {};  // late control messages are for the old one
}

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (state_ != ViState::idle) return ConnectResult::rejected;
  answer_ = ConnectResult::rejected;  // where no attempt begins
  if (index(peer) >= nic_.job_.size())
    throw Error(errors::no_such_rank, std::errc::invalid_argument,
                "cannot connect to rank " + std::to_string(index(peer)) + ": " +
                    describe_ranks(nic_.job_.size()));
  if (nic_.job_.is_lost(peer)) return ConnectResult::unreachable;
  (void)ask(ControlMessage::Kind::client_request, peer, discriminator);  // names may be the same
  return connect_peer_wait(timeout_ns);
}

Status Vi::connect_peer_start(Rank peer, std::uint64_t discriminator) {
  if (state_ != ViState::idle) return Status::bad_state;
  answer_ = ConnectResult::rejected;  // where no attempt begins
  if (index(peer) >= nic_.job_.size()) return refuse_rank(nic_.job_, "connect_peer_start", peer);
  if (nic_.job_.is_lost(peer)) {
    answer_ = ConnectResult::unreachable;
    return Status::peer_lost;
  }
  return ask(ControlMessage::Kind::request, peer, discriminator) ? Status::ok : Status::bad_state;
}

Status Vi::connect_peer_done() noexcept {
  nic_.progress();
  return attempt_status(state_, answer_, nic_.job_.is_lost(peer_));
}

ConnectResult Vi::connect_peer_wait(std::int64_t timeout_ns) {
  if (!nic_.progress_until([this] { return state_ != ViState::connecting; }, timeout_ns)) {
    disconnect();
    return ConnectResult::timed_out;
  }
  return answer_;
}

/// An error found on this side. @p refused: it concerns the message behind those that have arrived.
void Vi::fail(ErrorCause cause, ErrorCause for_peer, bool refused) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  std::vector<std::byte> word = last_word(refused);
  tear_down();
  nic_.connections_.stop(end_, for_peer, std::move(word));
  nic_.report({cause, this, nullptr, peer_});
}

/// The peer's queue pair is no more; all that it has sent is here. @p word: LastWord, or empty.
void Vi::peer_closed(ErrorCause cause, const std::vector<std::byte>& word) noexcept {
  if (state_ != ViState::connected) return;
  send_cq_->reap();
  receive_cq_->reap();
  if (state_ != ViState::connected) return;  // an error of its own was among the completions
  if (LastWord last; read_data(word, last)) apply(last);
  const bool orderly = cause == ErrorCause::disconnected && sends_.empty() && receives_.empty();
  state_ = ViState::error;
  tear_down();
  nic_.connections_.stop(end_, ErrorCause::disconnected, last_word(false));
  if (orderly) {
    state_ = ViState::idle;
    close_end(ErrorCause::disconnected);
  } else {
    nic_.report({cause, this, nullptr, peer_});
  }
}

void Vi::disconnect() noexcept {
  if (state_ != ViState::idle) answer_ = ConnectResult::rejected;  // until another attempt begins
  switch (state_) {
    case ViState::idle:
    case ViState::error:
    case ViState::connecting:
      break;
    case ViState::connected: {
      // Messages sent before arrive, unless the peer is gone or this is called from a callback.
      const std::uint64_t start = monotonic_ns();
      while (state_ == ViState::connected && !sends_.empty() && !nic_.job_.is_lost(peer_) &&
             monotonic_ns() - start < kDrainLimitNs) {
        if (!peer_ready_ && nic_.in_progress_.load()) break;
        nic_.progress();
        if (!send_cq_->reap()) sched_yield();
      }
      break;
    }
  }
  state_ = ViState::idle;
  close_end(ErrorCause::disconnected);
  tear_down();
}

// Queues without a completion queue of the user's.

Status Vi::done(Queue queue, Descriptor*& out) noexcept {
  return take_own((queue == Queue::send ? own_send_cq_ : own_receive_cq_).get(), out);
}

Status Vi::wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept {
  return wait_for_own((queue == Queue::send ? own_send_cq_ : own_receive_cq_).get(), out,
                      timeout_ns);
}

}  // namespace viaduct::via::verbs
