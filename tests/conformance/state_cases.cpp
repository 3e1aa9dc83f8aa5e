#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::ConnectResult;
using via::Descriptor;
using via::ViState;

void idle(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 200);
  Descriptor send{};
  via::make_send(send, buffer.data(), 100, buffer.handle());
  CHECK_EQ(link.vi().post_send(send), Status::bad_state);
  via::make_send(send, buffer.data(), 8, buffer.handle());
  CHECK_EQ(link.vi().post_send(send), Status::bad_state);
  link.expect_nothing();
}

void connecting(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 200);
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
    Descriptor send{};
    via::make_send(send, buffer.data(), 100, buffer.handle());
    CHECK_EQ(link.vi().post_send(send), Status::bad_state);
    CHECK_EQ(link.vi().state(), ViState::connecting);
  }
  rig.sync("one is connecting");
  if (!rig.first())
    REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
  CHECK_EQ(link.vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
  expect_alive(rig, link);
}

void receives_before_connection(Rig& rig) {
  // Receives may be posted in every state; those posted early take the first messages.
  Link link(rig);
  Buffer in(rig, 400);
  Buffer out(rig, 400);
  std::vector<Descriptor> receives(4);
  std::vector<Descriptor> sends(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    via::make_receive(receives[i], in.data() + 100 * i, 100, in.handle());
    fill_pattern(out.data() + 100 * i, 100, i);
    via::make_send(sends[i], out.data() + 100 * i, i % 2 == 0 ? 100 : 20, out.handle());
  }
  link.post_receive(receives[0]);
  link.post_receive(receives[1]);
  const std::uint64_t discriminator = rig.new_discriminator();
  REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
  link.post_receive(receives[2]);
  REQUIRE_EQ(link.vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
  link.post_receive(receives[3]);
  rig.sync("all posted");
  for (Descriptor& send : sends) link.post_send(send);
  for (std::uint32_t i = 0; i < 4; ++i) {
    Note note("message {}", i);
    const std::uint32_t bytes = i % 2 == 0 ? 100 : 20;
    link.expect_next_receive(receives[i]);
    expect_done(receives[i], CompletedOperation::receive, bytes);
    in.expect(i, 100 * i, bytes);
    link.expect_next_send(sends[i]);
  }
  rig.sync("done");
}

/// Puts the VIs of both ranks into the error state: rank 0 sends where no receive is posted.
void break_link(Rig& rig, Link& link, Buffer& buffer, Descriptor& send) {
  rig.sync("no receive is posted");
  if (rig.first()) {
    via::make_send(send, buffer.data(), 150, buffer.handle());
    link.post_send(send);
  }
  rig.expect_error(via::ErrorCause::receive_queue_empty, link.vi());
  CHECK_EQ(link.vi().state(), ViState::error);
  if (rig.first()) link.expect_next_send(send);
  rig.sync("broken");
}

void error_state(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 200);
  Descriptor broken{};
  connect(rig, link);
  break_link(rig, link, buffer, broken);
  Descriptor send{};
  Descriptor write{};
  Descriptor receive{};
  via::make_send(send, buffer.data(), 8, buffer.handle());
  via::make_rdma_write(write, buffer.data(), 8, buffer.handle(), buffer.address(), buffer.handle());
  via::make_receive(receive, buffer.data(), 200, buffer.handle());
  link.post_send(send);
  link.post_receive(receive);
  link.post_send(write);
  link.expect_next_send(send);
  expect_flushed(send, CompletedOperation::send);
  link.expect_next_send(write);
  expect_flushed(write, CompletedOperation::rdma_write);
  link.expect_next_receive(receive);
  expect_flushed(receive, CompletedOperation::receive);
  CHECK_EQ(link.vi().connect_peer_start(rig.other(), rig.new_discriminator()), Status::bad_state);
  CHECK_EQ(link.vi().state(), ViState::error);
  link.vi().disconnect();
  CHECK_EQ(link.vi().state(), ViState::idle);
  CHECK_EQ(link.vi().post_send(send), Status::bad_state);
  rig.sync("both idle again");
  connect(rig, link);
  expect_alive(rig, link);
}

void errors_do_not_spread(Rig& rig) {
  Link broken(rig);
  Link sound(rig);
  Buffer buffer(rig, 200);
  Descriptor send{};
  connect(rig, broken);
  connect(rig, sound);
  break_link(rig, broken, buffer, send);
  expect_alive(rig, sound);
}

constexpr Case kCases[] = {
    {"state.idle", "An idle VI takes no sends: bad_state", Party::alone, idle},
    {"state.connecting", "A connecting VI takes no sends: bad_state", Party::pair, connecting},
    {"state.early_receives",
     "Receives posted before the connection take the first messages, in order", Party::pair,
     receives_before_connection},
    {"state.error",
     "In the error state posts are accepted and complete as flushed; disconnect() makes it idle "
     "again",
     Party::pair, error_state},
    {"state.isolation", "The error of one VI leaves other VIs of the same ranks alone", Party::pair,
     errors_do_not_spread},
};

}  // namespace

std::span<const Case> state_cases() { return kCases; }

}  // namespace viaduct::conformance
