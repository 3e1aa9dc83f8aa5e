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
  const std::uint32_t send_depth = attributes.send_depth;
  const std::uint32_t receive_depth = attributes.receive_depth;
  nic_.check_depth("send", send_depth);
  nic_.check_depth("receive", receive_depth);
  CompletionQueue* const send_queue = ours(attributes.send_queue);
  CompletionQueue* const receive_queue = ours(attributes.receive_queue);
  if (send_queue != nullptr)
    send_queue->require_room(std::size_t{send_depth} +
                             (receive_queue == send_queue ? receive_depth : 0));
  if (receive_queue != nullptr) receive_queue->require_room(receive_depth);
  ViAttributes inner = attributes;
  inner.send_queue = below(attributes.send_queue);
  inner.receive_queue = below(attributes.receive_queue);
  inner.context = this;
  if (nic_.doubles()) inner.send_depth *= 2;
  inner_ = nic_.inner().create_vi(inner);
  nic_.add(*this);
  if (send_queue != nullptr) send_queue->promise(send_depth);
  if (receive_queue != nullptr) receive_queue->promise(receive_depth);
}

Vi::~Vi() {
  end_connection();
  nic_.remove(*this);
  for (const Queue queue : {Queue::send, Queue::receive}) {
    const bool sends = queue == Queue::send;
    CompletionQueue* const attached =
        ours(sends ? attributes_.send_queue : attributes_.receive_queue);
    if (attached == nullptr) continue;
    attached->forget(*this);
    attached->release(sends ? attributes_.send_depth : attributes_.receive_depth);
  }
}

ViState Vi::state() const noexcept { return broken_ ? ViState::error : inner_->state(); }

// Posting.

Status Vi::post_send(Descriptor& descriptor) noexcept {
  Nic& nic = nic_;  // the error callback may destroy this VI
  nic_.move_lines();
  nic_.be_busy(nic_.plan().send_ns);
  const ViState now = state();
  Status status = Status::ok;
  if (now == ViState::idle || now == ViState::connecting) {
    status = Status::bad_state;
  } else if (sends_.unreaped >= attributes_.send_depth || nic_.dice().falls_on(Kind::full)) {
    status = Status::retry;
  } else {
    Entry entry;
    entry.descriptor = &descriptor;
    choose_fate(entry, now);
    status = leave_or_queue(entry);
  }
  if (status == Status::ok && failure_waits()) nic_.tell_armed_queues();
  nic.tell_errors();
  return status;
}

Status Vi::leave_or_queue(Entry& entry) noexcept {
  if (entry.state == Entry::State::posted) {
    const bool twice = entry.twice;
    const Status status = leave(entry);
    const bool copy_has_left = twice && !entry.twice;
    if (status != Status::ok && !(status == Status::retry && copy_has_left)) return status;
    if (status == Status::retry) entry.state = Entry::State::late;
  }
  if (entry.state != Entry::State::posted) entry.descriptor->control.status = 0;
  sends_.entries.push_back(entry);
  ++sends_.unreaped;
  move_line(false);
  hand_out_front(Queue::send);
  return Status::ok;
}

/// Whether the descriptor leaves now (posted), later (late), not at all (decided), or has its turn
/// behind others in the line (late). All dice are thrown for each descriptor.
void Vi::choose_fate(Entry& entry, ViState now) noexcept {
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
  const bool in_error_state = now == ViState::error;
  if (in_error_state || lost) {
    entry.status = done | descriptor_status::flushed;
  } else if (error) {
    entry.status = done | descriptor_status::transport_error;
  } else if (dropped) {
    entry.status = done;
  }
  entry.fails = !in_error_state && (lost || (error && !unreliable));
  if (!in_error_state && nic_.plan().delays() && !nic_.any_queue_armed()) {
    const bool both_ways = operation != Operation::send && operation != Operation::rdma_write;
    entry.leaves_at = nic_.departure(d.control.length, both_ways);
  }
  if (has_line() || entry.fails || entry.leaves_at != 0)
    entry.state = Entry::State::late;
  else if (entry.status != 0)
    entry.state = Entry::State::decided;
}

/// The copy goes first, so that the descriptor's own completion comes when neither is read any
/// more. A descriptor that finds no room behind its copy needs no second one.
Status Vi::leave(Entry& entry) noexcept {
  if (entry.twice && send_copy(*entry.descriptor)) entry.twice = false;
  const Status status = inner_->post_send(*entry.descriptor);
  if (status == Status::ok) entry.state = Entry::State::posted;
  return status;
}

bool Vi::send_copy(const Descriptor& descriptor) noexcept {
  auto copy = std::make_unique<DescriptorWith<kMaxSegments + 2>>();
  copy->control = descriptor.control;
  const DataSegment* const from = descriptor.segments();
  std::copy(from, from + descriptor.control.segment_count, copy->segments());
  if (inner_->post_send(*copy) != Status::ok) return false;
  copies_.push_back(std::move(copy));
  return true;
}

Status Vi::post_receive(Descriptor& descriptor) noexcept {
  Nic& nic = nic_;  // the error callback may destroy this VI
  if (receives_.unreaped >= attributes_.receive_depth || nic_.dice().falls_on(Kind::full))
    return Status::retry;
  Entry entry;
  entry.descriptor = &descriptor;
  if (broken_) {
    descriptor.control.status = 0;
    entry.state = Entry::State::decided;
    entry.status = flushed_status(descriptor, Queue::receive);
  } else if (const Status status = inner_->post_receive(descriptor); status != Status::ok) {
    nic.tell_errors();
    return status;
  }
  receives_.entries.push_back(entry);
  ++receives_.unreaped;
  hand_out_front(Queue::receive);
  nic.tell_errors();
  return Status::ok;
}

// The line.

const Vi::Entry& Vi::first_late() const noexcept {
  return *std::find_if(sends_.entries.begin(), sends_.entries.end(),
                       [](const Entry& entry) { return entry.state == Entry::State::late; });
}

bool Vi::failure_waits() const noexcept { return has_line() && first_late().fails; }

double Vi::next_departure() const noexcept {
  if (!has_line()) return 0;
  const Entry& first = first_late();
  return first.fails ? nic_.soon() : first.leaves_at;
}

void Vi::move_line(bool all) noexcept {
  if (!has_line() || moving_) return;
  moving_ = true;
  let_leave(all);
  hand_out_front(Queue::send);
  if (failure_waits()) let_fail();
  hand_out_front(Queue::send);
  moving_ = false;
}

/// Up to the first one whose time has not come, or that fails.
void Vi::let_leave(bool all) noexcept {
  const auto now = static_cast<double>(ticks_now());
  for (Entry& entry : sends_.entries) {
    if (entry.state != Entry::State::late) continue;
    if (entry.fails || (!all && entry.leaves_at > now)) return;
    if (entry.status != 0) {
      entry.state = Entry::State::decided;
      continue;
    }
    const Status status = leave(entry);
    if (status == Status::ok) continue;
    if (status != Status::retry) flush_late();  // the connection has ended meanwhile
    return;
  }
}

/// The sends before the failure have to complete first. Nobody else may look at them underneath:
/// the program may be waiting for something else.
void Vi::let_fail() noexcept {
  reap_sends();
  const Entry& front = sends_.entries.front();
  if (front.state != Entry::State::late) return;
  if (inner_->state() == ViState::connected)
    fail_front();
  else
    flush_late();  // the connection has ended meanwhile
}

void Vi::reap_sends() noexcept {
  if (attributes_.send_queue != nullptr) {
    ours(attributes_.send_queue)->reap();
    return;
  }
  Descriptor* descriptor = nullptr;
  while (inner_->send_done(descriptor) == Status::ok) completed_below(*descriptor, Queue::send);
}

/// Carries out the failure that was decided at post: nothing before the descriptor is under way.
void Vi::fail_front() noexcept {
  Entry& failed = sends_.entries.front();
  failed.state = Entry::State::decided;
  const bool transport = (failed.status & descriptor_status::transport_error) != 0;
  broken_ = true;
  inner_->disconnect();
  flush_late();
  nic_.report(
      {transport ? ErrorCause::transport : ErrorCause::connection_lost, this, nullptr, peer()});
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

/// done() without the errors' callback, which may destroy this VI.
Status Vi::take(Queue queue, Descriptor*& out) noexcept {
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

Status Vi::done(Queue queue, Descriptor*& out) noexcept {
  Nic& nic = nic_;
  const Status status = take(queue, out);
  nic.tell_errors();
  return status;
}

Status Vi::wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept {
  Nic& nic = nic_;
  const std::uint64_t start = monotonic_ns();
  for (;;) {
    const Status status = take(queue, out);
    if (nic.has_errors()) {
      nic.tell_errors();
      if (status == Status::retry && !nic.has(*this)) return Status::bad_state;
    }
    if (status != Status::retry) return status;
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
  Nic& nic = nic_;
  nic_.move_lines(true);
  const ConnectResult result = inner_->connect(peer, discriminator, timeout_ns);
  nic.tell_errors();
  return result;
}

Status Vi::connect_peer_start(Rank peer, std::uint64_t discriminator) {
  if (broken_) return Status::bad_state;
  Nic& nic = nic_;
  const Status status = inner_->connect_peer_start(peer, discriminator);
  nic.tell_errors();
  return status;
}

Status Vi::connect_peer_done() noexcept {
  Nic& nic = nic_;
  nic_.move_lines();
  const Status status = inner_->connect_peer_done();
  nic.tell_errors();
  return status;
}

ConnectResult Vi::connect_peer_wait(std::int64_t timeout_ns) {
  Nic& nic = nic_;
  nic_.move_lines(true);
  const ConnectResult result = inner_->connect_peer_wait(timeout_ns);
  nic.tell_errors();
  return result;
}

void Vi::disconnect() noexcept {
  Nic& nic = nic_;
  end_connection();
  nic.tell_errors();
}

void Vi::end_connection() noexcept {
  move_line(true);
  broken_ = false;
  inner_->disconnect();
  flush_late();
  hand_out_front(Queue::send);
}

}  // namespace viaduct::via::fault
