/// Control messages of provider verbs, and everything that is not on the data path: called between
/// polls.

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "via/verbs/src/nic.hpp"
#include "via/vi_answers.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::verbs {

/// Errors show as completions, so the queues that the program does not poll are reaped here, too.
void Nic::progress() noexcept {
  for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i]->reap_for_owner();
  progress_connections();
}

void Nic::progress_connections() noexcept {
  constexpr std::uint64_t kProbeEvery = 64;
  if (in_progress_.exchange(true)) return;
  try {
    control_path_->progress(
        [this](Rank from, std::span<const std::byte> bytes) { handle(from, bytes); });
    if (life_epoch_ != job_.life_epoch()) look_for_lost_peers();
    if (events_.any()) handle_device_events();
    if (++looks_ % kProbeEvery == 0) probe();
    if (!control_path_->all_delivered())
      closed_peers_.look(job_, *control_path_,
                         [this](Rank rank, ErrorCause cause) { part_from(rank, cause); });
    if (connections_.has_requests()) connections_.tell_of_requests(incoming_peer_);
  } catch (const std::exception& e) {
    job_.log().write(LogLevel::error, e.what());
  }
  in_progress_.store(false);
  if (errors_.any()) tell_errors();
}

/// A peer that has had our control messages and has not answered may be out of reach by now:
/// another control message shows it.
void Nic::probe() {
  for (const Vi* vi : vis_)
    if (vi != nullptr && vi->state_ == ViState::connecting) control_path_->probe(vi->peer_);
}

void Nic::post(Rank to, const ControlMessage& message) {
  std::array<std::byte, sizeof(ControlHead) + sizeof(PairOffer)> bytes;
  const std::size_t n = encode(message, bytes);
  control_path_->send(to, std::span(bytes).first(n));
}

void Nic::handle(Rank from, std::span<const std::byte> bytes) {
  // The Connector has been told of the loss, and must get no later message of the rank.
  if (life_epoch_ == job_.life_epoch() && job_.is_lost(from)) return;
  ControlMessage message;
  if (!decode(bytes, message)) return;
  if (message.kind != ControlMessage::Kind::ready) {
    // An answer, and a message of attach(), for each request.
    control_path_->reserve(2 * (1 + connections_.connector().requests().size()));
    return connections_.handle(from, message);
  }
  const EndName name{from, message.discriminator, message.to};
  if (void* const vi = connections_.connector().owner_of(name); vi != nullptr)
    static_cast<Vi*>(static_cast<Connectable*>(vi))->peer_is_ready();
}

void Nic::attach(Connectable& to, const ControlMessage& message) {
  auto& vi = static_cast<Vi&>(to);
  if (!vi.attach(message.data)) return;
  ControlMessage ready;
  ready.kind = ControlMessage::Kind::ready;
  ready.from = vi.end_.number;
  ready.to = message.from;
  ready.discriminator = vi.end_.discriminator;
  post(vi.peer_, ready);
  if (message.kind == ControlMessage::Kind::accept) vi.peer_is_ready();
}

void Nic::refused(Connectable& end, const ControlMessage& message) {
  static_cast<Vi&>(end).answer(message.result);
}

void Nic::ended(Connectable& end, const ControlMessage& message) {
  static_cast<Vi&>(end).peer_closed(message.cause, message.data);
}

void Nic::look_for_lost_peers() {
  life_epoch_ = job_.life_epoch();
  for (std::uint32_t r = 0; r < job_.size(); ++r)
    if (job_.is_lost(Rank{r})) part_from(Rank{r}, ErrorCause::connection_lost);
}

/// Ends everything with a rank whose NIC is no more.
void Nic::part_from(Rank rank, ErrorCause cause) {
  control_path_->forget(rank);
  connections_.lose([rank](Rank gone) { return gone == rank; }, cause);
}

/// Ends the connections of the VIs that are @p meant, and their attempts to connect. Callbacks come
/// later, so that no VI is destroyed meanwhile.
template <typename Meant>
void Nic::fail_vis(ErrorCause cause, Meant meant) {
  for (Vi* vi : vis_) {
    if (vi == nullptr || vi->pair_ == nullptr || !meant(*vi)) continue;
    if (vi->state_ == ViState::connecting) {
      vi->answer(ConnectResult::unreachable);
      continue;
    }
    vi->send_cq_->reap();
    vi->receive_cq_->reap();
    vi->fail(cause);
  }
}

void Nic::handle_device_events() {
  for (const Events::DeviceEvent& event : events_.take()) {
    switch (event.type) {
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        fail_vis(
            event.type == IBV_EVENT_QP_ACCESS_ERR ? ErrorCause::protection : ErrorCause::transport,
            [&](const Vi& vi) { return vi.pair_->name().number == event.pair; });
        break;
      case IBV_EVENT_CQ_ERR:
        report({ErrorCause::queue_overrun, nullptr,
                static_cast<CompletionQueue*>(const_cast<void*>(event.queue)), job_.rank()});
        fail_vis(ErrorCause::transport, [&](const Vi& vi) {
          return vi.send_cq_ == event.queue || vi.receive_cq_ == event.queue;
        });
        break;
      case IBV_EVENT_DEVICE_FATAL:
        device_failed_ = true;
        report({ErrorCause::transport, nullptr, nullptr, job_.rank()});
        fail_vis(ErrorCause::transport, [](const Vi&) { return true; });
        break;
      case IBV_EVENT_PORT_ERR:
        report({ErrorCause::transport, nullptr, nullptr, job_.rank()});
        break;
      default:
        break;
    }
  }
  if (events_.take_keepalive()) keep_alive();
}

/// Callbacks may destroy a VI: each VI is looked up again.
void Nic::keep_alive() {
  for (std::size_t i = 0; i < vis_.size(); ++i) {
    if (vis_[i] != nullptr && vis_[i]->tried_) vis_[i]->send_cq_->reap_for_owner();
    if (vis_[i] != nullptr && vis_[i]->state_ == ViState::connected &&
        control_path_->all_delivered(vis_[i]->peer_))
      vis_[i]->peer_is_ready();  // it has taken up the connection, or has ended it since
    if (vis_[i] != nullptr) vis_[i]->keep_alive();
  }
}

/// The callback is called when no VI is in use any more: at the end of a post, or of
/// progress_connections(), to which the next look at each queue comes.
void Nic::report(const AsyncError& error) noexcept {
  if (errors_.add(error)) {
    for (CompletionQueue* queue : queues_) queue->look_fully();
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

void Nic::tell_errors() noexcept {
  errors_.tell([this](const AsyncError& error) { report(error); });
}

/// Keeps a queue of a VI that ends where it may still be in use.
void Nic::leave(std::unique_ptr<CompletionQueue>& queue) noexcept {
  if (queue == nullptr || !runs_callback()) return;
  queue->leave();
  left_queues_.push_back(std::move(queue));
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
  // Within a callback of progress() events and losses are not handled: they do not end the sleep.
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
  const auto look = [&] {
    progress();
    return done();
  };
  return look_until(job_.wait_policy(), timeout_ns, look, [this](std::int64_t left_ns) {
    // progress() in sleep() may have made done() true, so each sleep is short.
    constexpr std::int64_t kShortNs = 2'000'000;
    sleep(left_ns < 0 ? kShortNs : std::min(left_ns, kShortNs), nullptr);
  });
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
                           [&](const std::vector<std::byte>& data) { return vi.attach(data); }});
  return explain_accept(job_, request, answer);
}

void Nic::reject(const ConnectionRequest& request) { connections_.reject(request); }

void Nic::reject_peer(Rank from, std::uint64_t discriminator) {
  connections_.reject_peer(from, discriminator);
}

}  // namespace viaduct::via::verbs
