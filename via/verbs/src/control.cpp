/// Control messages of provider verbs, and everything that is not on the data path: called between
/// polls.

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "via/verbs/src/nic.hpp"

namespace viaduct::via::verbs {

/// Errors show as completions: those of queues that nobody polls are to be noticed, too.
void Nic::progress() noexcept {
  for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i]->reap_for_owner();
  progress_connections();
}

void Nic::progress_connections() noexcept {
  constexpr std::uint64_t kProbeEvery = 64;
  if (in_progress_.exchange(true)) return;
  try {
    control_path_->progress([this](Rank from, std::span<const std::byte> bytes) {
      ControlMessage message;
      if (bytes.size() != sizeof message) return;
      std::memcpy(&message, bytes.data(), sizeof message);
      handle(from, message);
    });
    if (life_epoch_ != job_.life_epoch()) look_for_lost_peers();
    if (events_.any()) handle_device_events();
    if (++looks_ % kProbeEvery == 0) probe();
    if (!control_path_->all_delivered()) look_for_closed_peers();
  } catch (const std::exception& e) {
    job_.log().write(LogLevel::error, e.what());
  }
  in_progress_.store(false);
}

/// A peer that has had our control messages and has not answered may be out of reach by now:
/// another control message shows it.
void Nic::probe() {
  for (const Vi* vi : vis_)
    if (vi != nullptr && vi->state_ == ViState::connecting) control_path_->probe(vi->peer_);
}

void Nic::handle(Rank from, const ControlMessage& message) {
  Vi* const vi = find_vi(message.target_vi);
  const bool of_this_pair = vi != nullptr && vi->peer_ == from;
  switch (message.kind) {
    case ControlKind::request:
    case ControlKind::peer_request:
      return handle_request(from, message);
    case ControlKind::accept:
    case ControlKind::reject:
      return handle_answer(from, message);
    case ControlKind::ready:
      if (of_this_pair) vi->peer_is_ready();
      return;
    case ControlKind::cancel: {
      unmatched_.cancel(from, message.source_vi);
      for (Vi* matching : vis_)  // we had taken it up already
        if (matching != nullptr && matching->state_ == ViState::connected &&
            matching->peer_ == from && matching->peer_vi_ == message.source_vi)
          return matching->peer_closed(ErrorCause::disconnected);
      return;
    }
    case ControlKind::disconnect:
    case ControlKind::error:
    case ControlKind::refusal:
      if (of_this_pair) vi->peer_closed(message);
      return;
    case ControlKind::none:
      return;
  }
}

void Nic::handle_request(Rank from, const ControlMessage& message) {
  if (message.kind == ControlKind::peer_request) {
    for (Vi* vi : vis_) {
      if (vi == nullptr || vi->state_ != ViState::connecting ||
          vi->asked_ != ControlKind::peer_request || vi->peer_ != from ||
          vi->discriminator_ != message.discriminator ||
          (from == job_.rank() && vi->id_ == message.source_vi))
        continue;
      if (!vi->compatible(message))  // the peer finds the same when our request reaches it
        return vi->answer(ConnectResult::mismatch);
      if (try_attach(*vi, message)) send(from, vi->make_control_message(ControlKind::ready));
      return;
    }
  }
  unmatched_.add(from, message);
  if (message.kind == ControlKind::peer_request && incoming_peer_)
    incoming_peer_(from, message.discriminator);
}

/// False: the device does not connect; the attempt has been answered.
bool Nic::try_attach(Vi& vi, const ControlMessage& message) noexcept {
  try {
    vi.attach(message);
    return true;
  } catch (const std::exception& e) {
    job_.log().write(LogLevel::error, e.what());
    vi.answer(ConnectResult::unreachable);
    ControlMessage told;  // the peer may be connected by now
    told.kind = ControlKind::error;
    told.target_vi = message.source_vi;
    told.detail = static_cast<std::uint32_t>(ErrorCause::connection_lost);
    send(vi.peer_, told);
    return false;
  }
}

void Nic::handle_answer(Rank from, const ControlMessage& message) {
  Vi* vi = find_vi(message.target_vi);
  const bool waits = vi != nullptr && vi->state_ == ViState::connecting && vi->peer_ == from;
  if (message.kind == ControlKind::reject) {
    if (waits) vi->answer(static_cast<ConnectResult>(message.detail));
    return;
  }
  if (waits) {
    if (!try_attach(*vi, message)) return;
    vi->peer_is_ready();
    return send(from, vi->make_control_message(ControlKind::ready));
  }
  ControlMessage gone;  // the requester has given up meanwhile
  gone.kind = ControlKind::disconnect;
  gone.target_vi = message.source_vi;
  send(from, gone);
}

void Nic::look_for_lost_peers() {
  life_epoch_ = job_.life_epoch();
  for (std::uint32_t r = 0; r < job_.size(); ++r)
    if (job_.is_lost(Rank{r})) part_from(Rank{r}, ErrorCause::connection_lost);
}

/// Peers that wait for the others in their Job's destructor have ended their NIC: they read no more
/// control messages. Those that control messages have not reached for long, while nothing can go
/// there from here, are out of reach.
void Nic::look_for_closed_peers() {
  constexpr std::uint64_t kEveryNs = 50'000'000;
  constexpr std::uint64_t kSilenceNs = 100'000'000;
  constexpr std::uint64_t kDownNs = 2'000'000'000;
  const std::uint64_t now = monotonic_ns();
  if (now - looked_for_closed_ns_ < kEveryNs) return;
  looked_for_closed_ns_ = now;
  for (const Rank rank : control_path_->silent_for(kSilenceNs)) {
    const RankRecord& record = job_.record(rank);
    if (record.finalizing.load() != 0 || record.state.load() == RankState::finalized)
      part_from(rank, ErrorCause::disconnected);
  }
  for (const Rank rank : control_path_->out_of_reach(kDownNs))
    part_from(rank, ErrorCause::connection_lost);
}

/// Ends everything with a rank whose NIC is no more.
void Nic::part_from(Rank rank, ErrorCause cause) {
  control_path_->forget(rank);
  unmatched_.forget([rank](Rank from) { return from == rank; });
  for (std::size_t i = 0; i < vis_.size(); ++i) {
    Vi* vi = vis_[i];
    if (vi == nullptr || vi->state_ == ViState::idle || vi->peer_ != rank) continue;
    if (vi->state_ == ViState::connecting)
      vi->answer(ConnectResult::unreachable);
    else
      vi->peer_closed(cause);
  }
}

void Nic::handle_device_events() {
  for (const Events::DeviceEvent& event : events_.take()) {
    switch (event.type) {
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        for (Vi* vi : vis_)
          if (vi != nullptr && vi->pair_ != nullptr && vi->pair_->name().number == event.pair) {
            vi->send_cq_->reap();
            vi->receive_cq_->reap();
            vi->fail(event.type == IBV_EVENT_QP_ACCESS_ERR ? ErrorCause::protection
                                                           : ErrorCause::transport);
            break;
          }
        break;
      case IBV_EVENT_CQ_ERR:
        report({ErrorCause::queue_overrun, nullptr,
                static_cast<CompletionQueue*>(const_cast<void*>(event.queue)), job_.rank()});
        break;
      case IBV_EVENT_PORT_ERR:
      case IBV_EVENT_DEVICE_FATAL:
        report({ErrorCause::transport, nullptr, nullptr, job_.rank()});
        break;
      default:
        break;
    }
  }
  if (events_.take_keepalive()) keep_alive();
}

/// Callbacks may destroy a VI: each is looked up again.
void Nic::keep_alive() {
  for (std::size_t i = 0; i < vis_.size(); ++i) {
    if (vis_[i] != nullptr && vis_[i]->tried_) vis_[i]->send_cq_->reap_for_owner();
    if (vis_[i] != nullptr && vis_[i]->state_ == ViState::connected &&
        control_path_->all_delivered(vis_[i]->peer_))
      vis_[i]->peer_is_ready();  // it has taken up the connection, or has ended it since
    if (vis_[i] != nullptr) vis_[i]->keep_alive();
  }
}

void Nic::report(const AsyncError& error) noexcept {
  if (on_error_) {
    on_error_(error);
    return;
  }
  if (error.cause == ErrorCause::disconnected) return;
  job_.log().write(LogLevel::warn, error.vi == nullptr
                                       ? "verbs: port " + std::to_string(device_.port()) +
                                             " of device " + device_.name() + ": " +
                                             to_string(error.cause)
                                       : "verbs: VI to rank " + std::to_string(index(error.peer)) +
                                             " failed: " + to_string(error.cause));
}

/// Sleeps until a completion of @p queue (may be null), a control message, a device event, a lost
/// rank, or the end of the time; returns early when there is one. The caller has looked and found
/// nothing.
void Nic::sleep(std::int64_t timeout_ns, CompletionQueue* queue) noexcept {
  RankRecord& record = job_.record(job_.rank());
  const std::uint32_t seen = record.doorbell.load();
  record.sleeping.fetch_add(1);
  if (queue != nullptr) queue->arm();
  events_.control_flag().store(false);
  control_path_->arm();
  progress();
  // In a callback of progress() neither is looked at.
  bool found = (events_.any() || life_epoch_ != job_.life_epoch()) && !in_progress_.load();
  if (queue != nullptr) found = queue->reap() || !queue->ring_empty() || found;
  constexpr std::int64_t kCapNs = 10'000'000;  // until a control message is repeated
  if (!control_path_->all_delivered() && (timeout_ns < 0 || timeout_ns > kCapNs))
    timeout_ns = kCapNs;
  if (!found) {
    count(kSleeps);
    futex_wait(record.doorbell, seen, timeout_ns);
  }
  record.sleeping.fetch_sub(1);
  progress();
}

bool Nic::progress_until(const std::function<bool()>& done, std::int64_t timeout_ns) {
  const std::uint64_t start = monotonic_ns();
  Backoff backoff(job_.wait_policy());
  for (;;) {
    progress();
    if (done()) return true;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    if (timeout_ns >= 0 && waited >= timeout_ns) return false;
    if (backoff.next() == Backoff::Stage::block_now) {
      // progress() in sleep() may have brought about what is waited for: a short sleep at first.
      constexpr std::int64_t kShortNs = 2'000'000;
      const std::int64_t left = timeout_ns < 0 ? kShortNs : timeout_ns - waited;
      sleep(std::min(left, kShortNs), nullptr);
    }
  }
}

// Client and server form.

Status Nic::listen(std::uint64_t discriminator, ConnectionRequest& out, std::int64_t timeout_ns) {
  Unmatched* found = nullptr;
  const auto look = [&] { return (found = unmatched_.of_client(discriminator)) != nullptr; };
  if (!progress_until(look, timeout_ns)) return Status::timeout;
  found->offered = true;
  out.from = found->from;
  out.discriminator = discriminator;
  out.reliability = static_cast<Reliability>(found->message.detail);
  out.ticket = found->ticket;
  return Status::ok;
}

Status Nic::accept(const ConnectionRequest& request, via::Vi& to) {
  auto& vi = static_cast<Vi&>(to);
  Unmatched* const found = unmatched_.of_ticket(request.ticket);
  if (vi.state_ != ViState::idle) return Status::bad_state;
  if (job_.is_lost(request.from)) return Status::peer_lost;
  if (found == nullptr) return Status::bad_argument;
  const ControlMessage message = unmatched_.take(found).message;
  if (!vi.compatible(message)) {
    refuse(request.from, message, ConnectResult::mismatch);
    return Status::bad_argument;
  }
  vi.peer_ = request.from;
  vi.discriminator_ = request.discriminator;
  vi.make_pair();
  if (!try_attach(vi, message)) {
    refuse(request.from, message, ConnectResult::unreachable);
    return Status::peer_lost;
  }
  send(request.from, vi.make_control_message(ControlKind::accept));
  return Status::ok;
}

void Nic::refuse(Rank to, const ControlMessage& request, ConnectResult why) {
  ControlMessage message;
  message.kind = ControlKind::reject;
  message.target_vi = request.source_vi;
  message.detail = static_cast<std::uint32_t>(why);
  send(to, message);
}

void Nic::reject(const ConnectionRequest& request) {
  Unmatched* const found = unmatched_.of_ticket(request.ticket);
  if (found == nullptr) return;
  const Unmatched refused = unmatched_.take(found);
  refuse(refused.from, refused.message, ConnectResult::rejected);
}

void Nic::reject_peer(Rank from, std::uint64_t discriminator) {
  Unmatched* const found = unmatched_.of_peer(from, discriminator);
  if (found == nullptr) return;
  refuse(from, unmatched_.take(found).message, ConnectResult::rejected);
}

}  // namespace viaduct::via::verbs
