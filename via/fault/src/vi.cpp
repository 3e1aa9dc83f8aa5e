#include <algorithm>
#include <cstring>
#include <utility>

#include "via/descriptor_rules.hpp"
#include "via/fault/src/fault.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::via::fault {
namespace {

std::uint32_t flushed_status(const Descriptor& descriptor, Queue queue) noexcept {
  const CompletedOperation operation = queue == Queue::send
                                           ? rules::completed_as(rules::operation_of(descriptor))
                                           : CompletedOperation::receive;
  return rules::status_of(operation) | descriptor_status::flushed;
}

CompletionQueue* ours(via::CompletionQueue* queue) noexcept {
  return static_cast<CompletionQueue*>(queue);
}

via::CompletionQueue* below(via::CompletionQueue* queue) noexcept {
  return queue == nullptr ? nullptr : &ours(queue)->inner();
}

}  // namespace

Vi::Vi(Nic& nic, const ViAttributes& attributes) : nic_(nic), attributes_(attributes) {
  ViAttributes inner = attributes;
  inner.send_queue = below(attributes.send_queue);
  inner.receive_queue = below(attributes.receive_queue);
  inner.context = this;
  if (nic_.doubles()) inner.send_depth *= 2;
  inner_ = nic_.inner().create_vi(inner);
  nic_.add(*this);
}

Vi::~Vi() {
  disconnect();
  nic_.remove(*this);
  for (via::CompletionQueue* queue : {attributes_.send_queue, attributes_.receive_queue})
    if (queue != nullptr) ours(queue)->forget(*this);
}

ViState Vi::state() const noexcept { return broken_ ? ViState::error : inner_->state(); }

// Posting.

Status Vi::post_send(Descriptor& descriptor) noexcept {
  nic_.move_lines();
  nic_.be_busy(nic_.plan().send_ns);
  const ViState now = state();
  if (now == ViState::idle || now == ViState::connecting) return Status::bad_state;
  if (sends_.unreaped >= attributes_.send_depth || nic_.dice().falls_on(Kind::full))
    return Status::retry;
  Entry entry;
  entry.descriptor = &descriptor;
  const bool behind_line =
      !sends_.entries.empty() && sends_.entries.back().state == Entry::State::late;
  choose_fate(entry, behind_line);
  if (entry.state == Entry::State::posted) {
    const Status status = leave(entry);
    if (status != Status::ok) return status;
  } else {
    descriptor.control.status = 0;
  }
  sends_.entries.push_back(entry);
  ++sends_.unreaped;
  move_line(false);
  hand_out_front(Queue::send);
  return Status::ok;
}

/// Whether the descriptor leaves now (posted), later (late) or never (decided, or late and fails).
void Vi::choose_fate(Entry& entry, bool behind_line) noexcept {
  const Descriptor& d = *entry.descriptor;
  const Operation operation = rules::operation_of(d);
  const std::uint32_t done = rules::status_of(rules::completed_as(operation));
  const bool unreliable = attributes_.reliability == Reliability::unreliable;
  const bool loses = unreliable && operation == Operation::send;
  Dice& dice = nic_.dice();
  const bool error = dice.falls_on(Kind::error);
  const bool lost = dice.falls_on(Kind::disconnect);
  const bool dropped = loses && dice.falls_on(Kind::drop);
  entry.twice = loses && dice.falls_on(Kind::duplicate) && !dropped;
  if (broken_ || lost) {
    entry.status = done | descriptor_status::flushed;
  } else if (error) {
    entry.status = done | descriptor_status::transport_error;
  } else if (dropped) {
    entry.status = done;
  }
  entry.fails = !broken_ && (lost || (error && !unreliable));
  if (nic_.plan().delays() && !nic_.any_queue_armed()) {
    const bool both_ways = operation != Operation::send && operation != Operation::rdma_write;
    entry.leaves_at = nic_.departure(d.control.length, both_ways);
  }
  if (entry.status != 0 && !entry.fails)
    entry.state = Entry::State::decided;
  else if (entry.fails || entry.leaves_at != 0 || behind_line)
    entry.state = Entry::State::late;
}

Status Vi::leave(Entry& entry) noexcept {
  const Status status = inner_->post_send(*entry.descriptor);
  if (status != Status::ok) return status;
  entry.state = Entry::State::posted;
  if (entry.twice) send_copy(*entry.descriptor);
  return Status::ok;
}

void Vi::send_copy(const Descriptor& descriptor) noexcept {
  auto copy = std::make_unique<DescriptorWith<kMaxSegments + 2>>();
  copy->control = descriptor.control;
  const DataSegment* const from = descriptor.segments();
  std::copy(from, from + descriptor.control.segment_count, copy->segments());
  if (inner_->post_send(*copy) == Status::ok) copies_.push_back(std::move(copy));
}

Status Vi::post_receive(Descriptor& descriptor) noexcept {
  if (receives_.unreaped >= attributes_.receive_depth || nic_.dice().falls_on(Kind::full))
    return Status::retry;
  Entry entry;
  entry.descriptor = &descriptor;
  if (broken_) {
    descriptor.control.status = 0;
    entry.state = Entry::State::decided;
    entry.status = flushed_status(descriptor, Queue::receive);
  } else if (const Status status = inner_->post_receive(descriptor); status != Status::ok) {
    return status;
  }
  receives_.entries.push_back(entry);
  ++receives_.unreaped;
  hand_out_front(Queue::receive);
  return Status::ok;
}

// The line.

double Vi::next_departure() const noexcept {
  for (const Entry& entry : sends_.entries)
    if (entry.state == Entry::State::late) return entry.fails ? 0 : entry.leaves_at;
  return 0;
}

void Vi::move_line(bool all) noexcept {
  if (sends_.entries.empty() || sends_.entries.back().state != Entry::State::late) return;
  const auto now = static_cast<double>(ticks_now());
  for (Entry& entry : sends_.entries) {
    if (entry.state != Entry::State::late) continue;
    if (entry.fails) {
      if (&entry == &sends_.entries.front()) fail_front();
      break;
    }
    if (!all && entry.leaves_at > now) break;
    const Status status = leave(entry);
    if (status == Status::retry) break;
    if (status == Status::ok) continue;
    entry.state = Entry::State::decided;  // the connection has ended meanwhile
    entry.status = flushed_status(*entry.descriptor, Queue::send);
  }
  hand_out_front(Queue::send);
}

/// Carries out the failure that was decided at post: nothing before the descriptor is under way.
void Vi::fail_front() noexcept {
  Entry& failed = sends_.entries.front();
  failed.state = Entry::State::decided;
  const bool transport = (failed.status & descriptor_status::transport_error) != 0;
  broken_ = true;
  inner_->disconnect();
  flush_late();
  nic_.report({transport ? ErrorCause::transport : ErrorCause::connection_lost, this, nullptr,
               peer()});
}

void Vi::flush_late() noexcept {
  for (Entry& entry : sends_.entries) {
    if (entry.state != Entry::State::late) continue;
    entry.state = Entry::State::decided;
    entry.status = flushed_status(*entry.descriptor, Queue::send);
  }
}

// Completing.

void Vi::completed_below(Descriptor& descriptor, Queue queue) noexcept {
  const auto copy = std::find_if(copies_.begin(), copies_.end(),
                                 [&](const auto& c) { return c.get() == &descriptor; });
  if (copy != copies_.end()) {
    copies_.erase(copy);
    return;
  }
  std::deque<Entry>& entries = work(queue).entries;
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
    return e.descriptor == &descriptor && e.state == Entry::State::posted;
  });
  if (entry == entries.end()) return;
  entry->state = Entry::State::decided;
  if (queue == Queue::receive) corrupt(descriptor);
  hand_out_front(queue);
  if (queue == Queue::send) move_line(false);
}

void Vi::hand_out_front(Queue queue) noexcept {
  WorkQueue& work_queue = work(queue);
  via::CompletionQueue* const attached =
      queue == Queue::send ? attributes_.send_queue : attributes_.receive_queue;
  std::deque<Entry>& entries = work_queue.entries;
  while (!entries.empty() && entries.front().state == Entry::State::decided) {
    const Entry entry = entries.front();
    entries.pop_front();
    if (entry.status != 0) {  // else the provider underneath has written it
      if ((entry.status & descriptor_status::error_mask) != 0) entry.descriptor->control.length = 0;
      entry.descriptor->control.status = entry.status;
    }
    if (attached != nullptr)
      ours(attached)->add({this, entry.descriptor, queue});
    else
      work_queue.completed.push_back(entry.descriptor);
  }
}

void Vi::corrupt(Descriptor& descriptor) noexcept {
  if (attributes_.reliability != Reliability::unreliable || descriptor.failed() ||
      descriptor.completed_operation() != CompletedOperation::receive ||
      descriptor.control.length == 0 || !nic_.dice().falls_on(Kind::corrupt))
    return;
  const std::uint64_t bit =
      nic_.dice().below(Kind::corrupt, std::uint64_t{descriptor.control.length} * 8);
  std::uint64_t at = bit / 8;
  for (std::uint32_t i = 0; i < descriptor.control.segment_count; ++i) {
    const LocalSegment& segment = descriptor.segments()[i].local;
    if (at < segment.length) {
      segment.address[at] ^= std::byte{1} << (bit % 8);
      return;
    }
    at -= segment.length;
  }
}

void Vi::reaped(Descriptor& descriptor, Queue queue) noexcept {
  --work(queue).unreaped;
  if (queue == Queue::receive && !descriptor.failed()) nic_.be_busy(nic_.plan().receive_ns);
}

Status Vi::done(Queue queue, Descriptor*& out) noexcept {
  if ((queue == Queue::send ? attributes_.send_queue : attributes_.receive_queue) != nullptr)
    return Status::bad_state;
  nic_.move_lines();
  WorkQueue& work_queue = work(queue);
  Descriptor* descriptor = nullptr;
  while (work_queue.completed.empty() &&
         (queue == Queue::send ? inner_->send_done(descriptor)
                               : inner_->receive_done(descriptor)) == Status::ok)
    completed_below(*descriptor, queue);
  if (work_queue.completed.empty()) return Status::retry;
  out = work_queue.completed.front();
  work_queue.completed.pop_front();
  reaped(*out, queue);
  return Status::ok;
}

Status Vi::wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept {
  const std::uint64_t start = monotonic_ns();
  for (;;) {
    if (const Status status = done(queue, out); status != Status::retry) return status;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    if (timeout_ns >= 0 && waited >= timeout_ns) return Status::timeout;
    const std::int64_t most = nic_.wait_at_most(timeout_ns < 0 ? -1 : timeout_ns - waited);
    Descriptor* descriptor = nullptr;
    if ((queue == Queue::send ? inner_->send_wait(descriptor, most)
                              : inner_->receive_wait(descriptor, most)) == Status::ok)
      completed_below(*descriptor, queue);
  }
}

// Connections. A call that blocks underneath lets everything leave first: it moves no line.

ConnectResult Vi::connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) {
  if (broken_) return ConnectResult::rejected;
  nic_.move_lines(true);
  return inner_->connect(peer, discriminator, timeout_ns);
}

Status Vi::connect_peer_start(Rank peer, std::uint64_t discriminator) {
  if (broken_) return Status::bad_state;
  return inner_->connect_peer_start(peer, discriminator);
}

Status Vi::connect_peer_done() noexcept {
  nic_.move_lines();
  return inner_->connect_peer_done();
}

ConnectResult Vi::connect_peer_wait(std::int64_t timeout_ns) {
  nic_.move_lines(true);
  return inner_->connect_peer_wait(timeout_ns);
}

void Vi::disconnect() noexcept {
  move_line(true);
  broken_ = false;
  inner_->disconnect();
  flush_late();
  hand_out_front(Queue::send);
}

}  // namespace viaduct::via::fault
