#include "via/generations/src/control_path.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::generations {

ControlPath::ControlPath(Job& job, Nic& nic, ProtectionTag tag, ArenaStore& arenas)
    : job_(job),
      nic_(nic),
      tag_(tag),
      arenas_(arenas),
      send_queue_(nic.create_completion_queue(2 * kCredits)),
      receive_queue_(nic.create_completion_queue(2 * kCredits)),
      peers_(job.size()) {}

ControlPath::Peer& ControlPath::peer(Rank rank) {
  std::unique_ptr<Peer>& place = peers_[index(rank)];
  if (place != nullptr) return *place;
  auto made = std::make_unique<Peer>(rank);
  known_.reserve(known_.size() + 1);
  made->broken = !open(*made);
  place = std::move(made);
  known_.push_back(place.get());
  return *place;
}

/// Makes the VI to @p its rank and begins to connect it.  @return false: there is no memory, or the
/// peer is lost.
bool ControlPath::open(Peer& its) {
  try {
    const std::size_t entries = (known_.size() + 1) * 2 * kCredits;
    for (CompletionQueue* queue : {send_queue_.get(), receive_queue_.get()})
      if (queue->capacity() < entries) queue->resize(2 * entries);
    // As many messages as there are credits, and an answer to each of this rank's.
    its.lane.emplace(Common{nic_, tag_, arenas_, *send_queue_, *receive_queue_},
                     Lane::Shape{kBufferBytes, 2 * kCredits, 2 * kCredits, 0}, Place{&its, 0});
    return its.lane->vi().connect_peer_start(its.rank, kDiscriminator) == Status::ok;
  } catch (const std::exception& error) {
    job_.log().write(LogLevel::error, "rank " + std::to_string(index(its.rank)) +
                                          " cannot be reached: " + error.what());
    return false;
  }
}

void ControlPath::incoming(Rank from) {
  if (peer(from).broken) nic_.reject_peer(from, kDiscriminator);
}

void ControlPath::send(Rank to, std::span<const std::byte> message) {
  Peer& its = peer(to);
  if (!its.silent()) its.since_ns = monotonic_ns();
  its.waiting.emplace_back(message.begin(), message.end());
  move_on(its);
}

void ControlPath::probe(Rank to) {
  Peer& its = peer(to);
  if (!its.silent()) send(to, {});
}

bool ControlPath::post(Peer& its, std::uint32_t number, std::span<const std::byte> message) {
  std::byte* const buffer = its.lane->free_buffer();
  if (buffer == nullptr) return false;
  const Head head{number, its.handled};
  std::memcpy(buffer, &head, sizeof head);
  if (!message.empty()) std::memcpy(buffer + sizeof head, message.data(), message.size());
  if (!its.lane->send(static_cast<std::uint32_t>(sizeof head + message.size()))) return false;
  its.told = its.handled;
  return true;
}

/// Sends the messages that wait, as far as there are credits, and the count of handled messages.
void ControlPath::move_on(Peer& its) {
  if (its.broken) return;
  if (!its.connected) {
    const Status status = its.lane->vi().connect_peer_done();
    its.connected = status == Status::ok;
    its.broken = status != Status::ok && status != Status::retry;
    if (!its.connected) return;
  }
  while (!its.waiting.empty() && its.sent - its.answered < kCredits) {
    if (!post(its, its.sent + 1, its.waiting.front())) return;
    ++its.sent;
    its.waiting.pop_front();
  }
  if (its.told != its.handled) (void)post(its, 0, {});
}

void ControlPath::take(const Completion& done) {
  Peer& its = *static_cast<Peer*>(place_of(done).owner);
  Descriptor& descriptor = *done.descriptor;
  if (descriptor.failed()) {
    its.broken = true;
    return;
  }
  const std::span<const std::byte> message = its.lane->message(descriptor);
  Head head{};
  if (message.size() >= sizeof head) std::memcpy(&head, message.data(), sizeof head);
  if (head.handled - its.answered <= its.sent - its.answered && head.handled != its.answered) {
    its.answered = head.handled;
    its.since_ns = monotonic_ns();
  }
  if (head.number != 0) come_.push_back({its.rank, {message.begin() + sizeof head, message.end()}});
  if (!its.lane->repost(descriptor)) its.broken = true;
}

void ControlPath::take_completions() {
  Completion done;
  while (send_queue_->poll(done) == Status::ok) {
    Peer& its = *static_cast<Peer*>(place_of(done).owner);
    its.lane->sent(*done.descriptor);
    if (done.descriptor->failed()) its.broken = true;
  }
  while (receive_queue_->poll(done) == Status::ok) take(done);
}

void ControlPath::progress(const Handler& handler) {
  take_completions();
  while (!come_.empty()) {
    const Message message = std::move(come_.front());
    come_.pop_front();
    ++peer(message.from).handled;
    if (!message.bytes.empty()) handler(message.from, message.bytes);
  }
  for (std::size_t i = 0; i < known_.size(); ++i) move_on(*known_[i]);
}

bool ControlPath::all_delivered() const noexcept {
  return std::none_of(known_.begin(), known_.end(), [](const Peer* p) { return p->silent(); });
}

std::vector<Rank> ControlPath::ranks_where(std::uint64_t ns, bool broken) const {
  const std::uint64_t now = monotonic_ns();
  std::vector<Rank> found;
  for (const Peer* p : known_)
    if (p->silent() && now - p->since_ns >= ns && (!broken || p->broken)) found.push_back(p->rank);
  return found;
}

std::vector<Rank> ControlPath::silent_for(std::uint64_t ns) const { return ranks_where(ns, false); }

std::vector<Rank> ControlPath::broken_for(std::uint64_t ns) const { return ranks_where(ns, true); }

void ControlPath::forget(Rank rank) noexcept {
  Peer* const its = peers_[index(rank)].get();
  if (its == nullptr) return;
  its->waiting.clear();
  its->answered = its->sent;
}

}  // namespace viaduct::via::generations
