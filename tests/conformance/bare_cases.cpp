#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;

std::unique_ptr<via::Vi> bare_vi(Rig& rig, std::uint32_t depth) {
  via::ViAttributes attributes = vi_attributes(depth);
  attributes.tag = rig.tag();
  return rig.nic().create_vi(attributes);
}

void traffic(Rig& rig) {
  constexpr std::uint32_t kMessages = 20;
  const auto vi = bare_vi(rig, kMessages);
  Buffer out(rig, 5000);
  Buffer in(rig, std::size_t{kMessages} * 5000);
  connect(rig, *vi);
  Descriptor* done = nullptr;
  CHECK_EQ(vi->send_done(done), Status::retry);
  CHECK_EQ(vi->receive_done(done), Status::retry);
  std::vector<Descriptor> sends(kMessages);
  std::vector<Descriptor> receives(kMessages);
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    via::make_receive(receives[i], in.data() + std::size_t{i} * 5000, 5000, in.handle());
    REQUIRE_EQ(vi->post_receive(receives[i]), Status::ok);
  }
  out.fill(rig.rank());
  rig.sync("receives are posted");
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    via::make_send(sends[i], out.data(), i % 2 == 0 ? i : 5000, out.handle());
    REQUIRE_EQ(vi->post_send(sends[i]), Status::ok);
  }
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    Note note("message {}", i);
    const std::uint32_t bytes = i % 2 == 0 ? i : 5000;
    if (i < kMessages / 2) {
      REQUIRE_EQ(vi->receive_wait(done, kLimitNs), Status::ok);
    } else {
      REQUIRE(rig.progress_until([&] { return vi->receive_done(done) == Status::ok; }));
    }
    CHECK_EQ(done, &receives[i]);
    expect_done(*done, CompletedOperation::receive, bytes);
    in.expect(1 - rig.rank(), std::size_t{i} * 5000, bytes);
    if (i < kMessages / 2) {
      REQUIRE(rig.progress_until([&] { return vi->send_done(done) == Status::ok; }));
    } else {
      REQUIRE_EQ(vi->send_wait(done, kLimitNs), Status::ok);
    }
    CHECK_EQ(done, &sends[i]);
    expect_done(*done, CompletedOperation::send, bytes);
  }
  CHECK_EQ(vi->send_done(done), Status::retry);
  CHECK_EQ(vi->receive_done(done), Status::retry);
  rig.sync("all completed");
}

void waits(Rig& rig) {
  const auto vi = bare_vi(rig, 4);
  connect(rig, *vi);
  Descriptor* done = nullptr;
  const std::int64_t start = now_ns();
  CHECK_EQ(vi->receive_wait(done, 30'000'000), Status::timeout);
  CHECK(now_ns() - start >= 30'000'000);
  CHECK_EQ(vi->send_wait(done, 0), Status::timeout);
  rig.sync("both have waited");
}

void wrong_use(Rig& rig) {
  Descriptor* done = nullptr;
  Link link(rig);
  CHECK_EQ(link.vi().send_done(done), Status::bad_state);
  CHECK_EQ(link.vi().receive_done(done), Status::bad_state);
  CHECK_EQ(link.vi().send_wait(done, 0), Status::bad_state);
  CHECK_EQ(link.vi().receive_wait(done, 0), Status::bad_state);
  const auto vi = bare_vi(rig, 4);
  CHECK_EQ(vi->send_done(done), Status::retry);
  CHECK_EQ(vi->receive_done(done), Status::retry);
}

// One work queue on a completion queue, the other without.
void half(Rig& rig) {
  const auto queue = rig.nic().create_completion_queue(8);
  via::ViAttributes attributes = vi_attributes(4);
  attributes.tag = rig.tag();
  attributes.receive_queue = queue.get();
  const auto vi = rig.nic().create_vi(attributes);
  Buffer buffer(rig, 100);
  connect(rig, *vi);
  Descriptor send{};
  Descriptor receive{};
  Descriptor* done = nullptr;
  via::make_receive(receive, buffer.data(), 50, buffer.handle());
  REQUIRE_EQ(vi->post_receive(receive), Status::ok);
  rig.sync("receives are posted");
  via::make_send(send, buffer.data() + 60, 30, buffer.handle());
  REQUIRE_EQ(vi->post_send(send), Status::ok);
  CHECK_EQ(vi->receive_done(done), Status::bad_state);
  REQUIRE_EQ(vi->send_wait(done, kLimitNs), Status::ok);
  CHECK_EQ(done, &send);
  via::Completion completion;
  REQUIRE_EQ(queue->wait(completion, kLimitNs), Status::ok);
  CHECK_EQ(completion.descriptor, &receive);
  CHECK(completion.queue == via::Queue::receive);
  rig.sync("seen");
}

void flushed(Rig& rig) {
  const auto vi = bare_vi(rig, 4);
  Buffer buffer(rig, 100);
  connect(rig, *vi);
  std::vector<Descriptor> receives(4);
  for (Descriptor& d : receives) {
    via::make_receive(d, buffer.data(), 100, buffer.handle());
    REQUIRE_EQ(vi->post_receive(d), Status::ok);
  }
  rig.sync("receives are posted");
  if (rig.first()) vi->disconnect();
  for (Descriptor& d : receives) {
    Descriptor* done = nullptr;
    REQUIRE_EQ(vi->receive_wait(done, kLimitNs), Status::ok);
    CHECK_EQ(done, &d);
    expect_flushed(d, CompletedOperation::receive);
  }
  if (!rig.first()) rig.expect_error(via::ErrorCause::disconnected, *vi);
  rig.sync("all flushed");
}

constexpr Case kCases[] = {
    {"bare.traffic",
     "VIs without completion queues: send_done, receive_done and the waits give descriptors in "
     "order",
     Party::pair, traffic},
    {"bare.timeout", "Their waits end with timeout", Party::pair, waits},
    {"bare.wrong_use", "The same calls on a queue with a completion queue answer bad_state",
     Party::alone, wrong_use},
    {"bare.half", "One work queue may have a completion queue and the other none", Party::pair,
     half},
    {"bare.flushed", "Flushed descriptors come out in the same way", Party::pair, flushed},
};

}  // namespace

std::span<const Case> bare_cases() { return kCases; }

}  // namespace viaduct::conformance
