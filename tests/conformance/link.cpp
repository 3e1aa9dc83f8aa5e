#include "tests/conformance/link.hpp"

namespace viaduct::conformance {

using via::CompletedOperation;
using via::Descriptor;
using via::Queue;
namespace status = via::descriptor_status;

Link::Link(Rig& rig, via::ViAttributes attributes) {
  if (attributes.tag == via::ProtectionTag::none) attributes.tag = rig.tag();
  if (attributes.send_queue == nullptr && attributes.receive_queue == nullptr) {
    queue_ = rig.nic().create_completion_queue(attributes.send_depth + attributes.receive_depth);
    attributes.send_queue = attributes.receive_queue = queue_.get();
  }
  vi_ = rig.nic().create_vi(attributes);
}

Link::~Link() = default;

void Link::post_send(Descriptor& descriptor, Where where) {
  if (!check_equal(vi_->post_send(descriptor), Status::ok, "post_send", where)) throw CaseFailed{};
}

void Link::post_receive(Descriptor& descriptor, Where where) {
  if (!check_equal(vi_->post_receive(descriptor), Status::ok, "post_receive", where))
    throw CaseFailed{};
}

// Waits for one completion and puts it where it belongs.
bool Link::take(std::int64_t timeout_ns, Where where) {
  via::Completion completion;
  const Status answer =
      timeout_ns == 0 ? queue_->poll(completion) : queue_->wait(completion, timeout_ns);
  if (answer != Status::ok) return false;
  check_equal(completion.vi, vi_.get(), "the VI of the completion", where);
  if (!check(completion.descriptor != nullptr, "a completion without a descriptor", where))
    throw CaseFailed{};
  check(completion.descriptor->is_done(), "a completion of a descriptor that is not done", where);
  (completion.queue == Queue::send ? sent_ : received_).push_back(completion.descriptor);
  return true;
}

Descriptor* Link::try_next(Queue queue) {
  std::deque<Descriptor*>& list = queue == Queue::send ? sent_ : received_;
  while (list.empty() && take(0, Where::here())) {
  }
  if (list.empty()) return nullptr;
  Descriptor* const result = list.front();
  list.pop_front();
  return result;
}

Descriptor& Link::next(Queue queue, Where where) {
  std::deque<Descriptor*>& list = queue == Queue::send ? sent_ : received_;
  const std::int64_t end = now_ns() + kLimitNs;
  while (list.empty() && now_ns() < end) take(end - now_ns(), where);
  if (!check(!list.empty(),
             fmt::format("waited {} s for the completion of a {}, VI {}, peer {}",
                         kLimitNs / 1'000'000'000, queue == Queue::send ? "send" : "receive",
                         text_of(vi_->state()), index(vi_->peer())),
             where)) {
    throw CaseFailed{};
  }
  Descriptor* const result = list.front();
  list.pop_front();
  return *result;
}

Descriptor& Link::next_send(Where where) { return next(Queue::send, where); }
Descriptor& Link::next_receive(Where where) { return next(Queue::receive, where); }

void Link::expect_next_send(const Descriptor& descriptor, Where where) {
  check_equal(&next(Queue::send, where), &descriptor, "the next completed send", where);
}
void Link::expect_next_receive(const Descriptor& descriptor, Where where) {
  check_equal(&next(Queue::receive, where), &descriptor, "the next completed receive", where);
}

void Link::expect_nothing(Where where) {
  const bool quiet = sent_.empty() && received_.empty() && !take(kQuietNs, where);
  check(quiet, "a completion that must not be", where);
}

void connect(Rig& rig, via::Vi& vi, Where where) {
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    const via::ConnectResult result = vi.connect(rig.other(), discriminator, kLimitNs);
    if (!check_equal(result, via::ConnectResult::connected, "connect", where)) throw CaseFailed{};
  } else {
    via::ConnectionRequest request;
    const Status heard = rig.nic().listen(discriminator, request, kLimitNs);
    if (!check_equal(heard, Status::ok, "listen", where)) throw CaseFailed{};
    check_equal(index(request.from), index(rig.other()), "the requester", where);
    check_equal(request.discriminator, discriminator, "the discriminator", where);
    if (!check_equal(rig.nic().accept(request, vi), Status::ok, "accept", where))
      throw CaseFailed{};
  }
  check_equal(vi.state(), via::ViState::connected, "the state after connecting", where);
  check_equal(index(vi.peer()), index(rig.other()), "the peer", where);
}

void connect_peer(Rig&, via::Vi& vi, Rank peer, std::uint64_t discriminator, Where where) {
  const Status started = vi.connect_peer_start(peer, discriminator);
  if (!check_equal(started, Status::ok, "connect_peer_start", where)) throw CaseFailed{};
  const via::ConnectResult result = vi.connect_peer_wait(kLimitNs);
  if (!check_equal(result, via::ConnectResult::connected, "connect_peer_wait", where))
    throw CaseFailed{};
}

void connect_self(Rig& rig, via::Vi& a, via::Vi& b, Where where) {
  const std::uint64_t discriminator = rig.new_discriminator();
  check_equal(a.connect_peer_start(rig.me(), discriminator), Status::ok,
              "connect_peer_start of one end", where);
  check_equal(b.connect_peer_start(rig.me(), discriminator), Status::ok,
              "connect_peer_start of the other", where);
  for (via::Vi* vi : {&a, &b}) {
    const via::ConnectResult result = vi->connect_peer_wait(kLimitNs);
    if (!check_equal(result, via::ConnectResult::connected, "connect_peer_wait to itself", where))
      throw CaseFailed{};
  }
}

via::ViAttributes vi_attributes(std::uint32_t depth, via::Reliability reliability) {
  via::ViAttributes result;
  result.reliability = reliability;
  result.send_depth = result.receive_depth = depth;
  return result;
}

std::vector<via::Reliability> offered_reliable_levels(const Rig& rig) {
  std::vector<via::Reliability> result;
  if (rig.limits().reliable_delivery) result.push_back(via::Reliability::delivery);
  if (rig.limits().reliable_reception) result.push_back(via::Reliability::reception);
  return result;
}

std::vector<via::Reliability> offered_levels(const Rig& rig) {
  std::vector<via::Reliability> result = offered_reliable_levels(rig);
  if (rig.limits().unreliable) result.push_back(via::Reliability::unreliable);
  return result;
}

const char* name_of(via::Reliability level) noexcept {
  switch (level) {
    case via::Reliability::unreliable:
      return "unreliable";
    case via::Reliability::delivery:
      return "reliable delivery";
    case via::Reliability::reception:
      return "reliable reception";
  }
  return "an unknown level";
}

void expect_done(const Descriptor& descriptor, CompletedOperation operation, std::uint64_t length,
                 Where where) {
  const std::uint32_t word = descriptor.control.status;
  check(descriptor.is_done() && !descriptor.failed(),
        fmt::format("status {:#x}, wanted success", word), where);
  check_equal(descriptor.completed_operation(), operation, "the operation in the status", where);
  check_equal(descriptor.control.length, length, "the length of the completion", where);
}

void expect_failed(const Descriptor& descriptor, std::uint32_t bits, Where where) {
  const std::uint32_t word = descriptor.control.status;
  check(descriptor.is_done(), fmt::format("status {:#x} is not done", word), where);
  check((word & bits) != 0, fmt::format("status {:#x}, wanted one of the bits {:#x}", word, bits),
        where);
}

void expect_flushed(const Descriptor& descriptor, CompletedOperation operation, Where where) {
  const std::uint32_t word = descriptor.control.status;
  check(descriptor.is_done() && (word & status::error_mask) == status::flushed,
        fmt::format("status {:#x}, wanted flushed", word), where);
  check_equal(descriptor.completed_operation(), operation, "the operation in the status", where);
}

void expect_alive(Rig& rig, Link& link, Where where) {
  Note note("is the connection alive?");
  Buffer out(rig, 300);
  Buffer in(rig, 300);
  Descriptor send{};
  Descriptor receive{};
  out.fill(rig.rank());
  via::make_receive(receive, in.data(), in.length(), in.handle());
  link.post_receive(receive, where);
  rig.sync("a receive is posted to see whether the connection is alive", where);
  via::make_send(send, out.data(), out.length(), out.handle());
  link.post_send(send, where);
  expect_done(link.next_receive(where), CompletedOperation::receive, 300, where);
  expect_done(link.next_send(where), CompletedOperation::send, 300, where);
  in.expect(1 - rig.rank(), 0, 300, where);
  rig.sync("the connection is alive", where);
}

}  // namespace viaduct::conformance
