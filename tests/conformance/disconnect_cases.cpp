#include <algorithm>
#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::ConnectResult;
using via::Descriptor;
using via::ViState;

std::vector<Descriptor> post_receives(Link& link, Buffer& buffer, std::size_t count,
                                      std::size_t bytes) {
  std::vector<Descriptor> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    via::make_receive(result[i], buffer.data() + i * bytes, static_cast<std::uint32_t>(bytes),
                      buffer.handle());
    link.post_receive(result[i]);
  }
  return result;
}

void expect_all_flushed(Link& link, std::vector<Descriptor>& receives, std::size_t first = 0) {
  for (std::size_t i = first; i < receives.size(); ++i) {
    Note note("receive {}", i);
    link.expect_next_receive(receives[i]);
    expect_flushed(receives[i], CompletedOperation::receive);
  }
}

void quiet(Rig& rig) {
  Link link(rig);
  connect(rig, link);
  if (rig.first()) {
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.expect_state(link.vi(), ViState::idle);
  link.expect_nothing();
  CHECK(rig.errors().empty());
  rig.sync("both idle");
}

void both_at_once(Rig& rig) {
  for (int i = 0; i < 20; ++i) {
    Link link(rig);
    connect(rig, link);
    rig.sync("connected");
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
    rig.sync("disconnected");
    rig.nic().progress();
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
}

void receives_pending(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 5 * 100);
  connect(rig, link);
  std::vector<Descriptor> receives = post_receives(link, buffer, rig.first() ? 5 : 3, 100);
  rig.sync("receives are posted");
  if (rig.first()) {
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
  } else {
    rig.expect_error(via::ErrorCause::disconnected, link.vi());
    CHECK_EQ(link.vi().state(), ViState::error);
  }
  expect_all_flushed(link, receives);
  link.expect_nothing();
  rig.sync("all are flushed");
  if (!rig.first()) link.vi().disconnect();
  CHECK_EQ(link.vi().state(), ViState::idle);
  rig.sync("both idle");
  connect(rig, link);
  expect_alive(rig, link);
}

void peer_without_receives(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 500);
  connect(rig, link);
  std::vector<Descriptor> receives;
  if (rig.first()) receives = post_receives(link, buffer, 4, 100);
  rig.sync("the first has receives");
  if (rig.first()) link.vi().disconnect();
  expect_all_flushed(link, receives);
  rig.expect_state(link.vi(), ViState::idle);
  CHECK(rig.errors().empty());
  rig.sync("both idle");
}

void sent_is_delivered(Rig& rig) {
  constexpr std::uint32_t kMessages = 20;
  for (const std::uint32_t bytes : {8U, 56U, 200U, 20000U}) {
    Note note("{} bytes", bytes);
    Link link(rig);
    Buffer buffer(rig, std::size_t{bytes} * (kMessages + 2));
    connect(rig, link);
    std::vector<Descriptor> receives;
    if (!rig.first()) receives = post_receives(link, buffer, kMessages + 2, bytes);
    rig.sync("receives are posted");
    std::uint32_t sent = 0;
    if (rig.first()) {
      std::vector<Descriptor> sends(kMessages);
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        fill_pattern(buffer.data() + i * bytes, bytes, i);
        via::make_send(sends[i], buffer.data() + i * bytes, bytes, buffer.handle());
        link.post_send(sends[i]);
      }
      link.vi().disconnect();
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        link.expect_next_send(sends[i]);
        if (sends[i].failed()) {
          expect_flushed(sends[i], CompletedOperation::send);
        } else {
          CHECK_EQ(sent, i);  // none succeeds after one that was flushed
          ++sent;
        }
      }
    }
    const std::uint32_t promised = rig.exchange("disconnected", sent)[0];
    std::uint32_t arrived = 0;
    for (std::uint32_t i = 0; i < receives.size(); ++i) {
      link.expect_next_receive(receives[i]);
      if (receives[i].failed()) {
        expect_flushed(receives[i], CompletedOperation::receive);
        continue;
      }
      CHECK_EQ(arrived, i);
      ++arrived;
      expect_done(receives[i], CompletedOperation::receive, bytes);
      CHECK_EQ(matching(buffer.data() + i * bytes, bytes, i), bytes);
    }
    if (!rig.first()) CHECK(arrived >= promised);
    if (!rig.first()) CHECK(arrived <= kMessages);
    rig.forget_errors();
    rig.sync("all looked at");
  }
}

void too_long_waiting(Rig& rig) {
  // A message that its receive cannot hold has come, and was not looked at before the connection
  // ends.
  Buffer buffer(rig, 500);
  std::vector<Descriptor> receives;
  Descriptor send{};
  Link link(rig);
  connect(rig, link);
  if (!rig.first()) receives = post_receives(link, buffer, 3, 20);
  rig.sync("receives are posted");
  if (rig.first()) {
    via::make_send(send, buffer.data(), 30, buffer.handle());
    link.post_send(send);
  }
  static_cast<void>(rig.exchange_without_progress("sent", 0));
  if (!rig.first()) {
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
    link.expect_next_receive(receives[0]);
    expect_failed(receives[0],
                  via::descriptor_status::length_error | via::descriptor_status::flushed);
    expect_all_flushed(link, receives, 1);
    link.expect_nothing();
  }
  rig.sync("disconnected");
  link.vi().disconnect();
  if (rig.first()) link.expect_next_send(send);
  rig.forget_errors();
  rig.sync("both idle");
  connect(rig, link);
  expect_alive(rig, link);
}

void destroy_connected(Rig& rig) {
  Buffer buffer(rig, 500);
  {
    Link link(rig);
    connect(rig, link);
    std::vector<Descriptor> receives;
    if (!rig.first()) receives = post_receives(link, buffer, 2, 100);
    rig.sync("connected");
    if (!rig.first()) {
      rig.expect_error(via::ErrorCause::disconnected, link.vi());
      expect_all_flushed(link, receives);
      CHECK_EQ(link.vi().state(), ViState::error);
    }
  }
  rig.sync("gone");
  Link link(rig);
  connect(rig, link);
  expect_alive(rig, link);
}

void destroy_with_pending(Rig& rig) {
  // Descriptors of a destroyed VI are nobody's: their memory may go, its queue serves other VIs.
  Buffer buffer(rig, 500);
  const auto queue = rig.nic().create_completion_queue(64);
  via::ViAttributes attributes = vi_attributes(8);
  attributes.send_queue = attributes.receive_queue = queue.get();
  {
    std::vector<Descriptor> receives;
    Link link(rig, attributes);
    connect(rig, link);
    receives = post_receives(link, buffer, 4, 100);
    rig.sync("receives are posted");
  }
  rig.sync("gone");
  via::Completion completion;
  CHECK_EQ(queue->wait(completion, kQuietNs), Status::timeout);
  rig.sync("nothing came");
}

void destroy_unheard(Rig& rig) {
  // The peer sends on: its NIC has not been called since.
  Buffer buffer(rig, 500);
  std::vector<Descriptor> receives;
  Descriptor send{};
  auto link = std::make_unique<Link>(rig);
  connect(rig, *link);
  if (rig.first()) receives = post_receives(*link, buffer, 4, 100);
  rig.sync("receives are posted");
  std::vector<std::byte*> blocks;
  constexpr std::size_t kBlockBytes = 128;
  if (rig.first()) {
    link.reset();
    for (int i = 0; i < 300; ++i) blocks.push_back(rig.nic().allocate(kBlockBytes));
  }
  static_cast<void>(rig.exchange_without_progress("gone", 0));
  if (!rig.first()) {
    via::make_send(send, buffer.data(), 30, buffer.handle());
    link->post_send(send);
  }
  static_cast<void>(rig.exchange_without_progress("sent", 0));
  for (std::byte* block : blocks) {
    CHECK(std::all_of(block, block + kBlockBytes, [](std::byte b) { return b == std::byte{0}; }));
    rig.nic().release(block);
  }
  rig.sync("looked at");
  if (!rig.first()) {
    static_cast<void>(link->next_send());  // done, or flushed
    link.reset();
  }
  rig.forget_errors();
  rig.sync("both are gone");
}

void idle_twice(Rig& rig) {
  Link link(rig);
  link.vi().disconnect();  // of an idle VI: nothing happens
  CHECK_EQ(link.vi().state(), ViState::idle);
  connect(rig, link);
  expect_alive(rig, link);
}

constexpr Case kCases[] = {
    {"disconnect.quiet", "With nothing posted both VIs become idle, without an error", Party::pair,
     quiet},
    {"disconnect.both", "Both sides may disconnect at once", Party::pair, both_at_once},
    {"disconnect.receives_pending",
     "Posted receives of both sides are flushed in order; the peer's VI is in the error state, its "
     "NIC reports it; both "
     "can connect again",
     Party::pair, receives_pending},
    {"disconnect.peer_without_receives",
     "A peer with no receives posted becomes idle, without an error", Party::pair,
     peer_without_receives},
    {"disconnect.delivers",
     "Messages that were sent before the disconnect are delivered before the flush", Party::pair,
     sent_is_delivered},
    {"disconnect.too_long_waiting",
     "A message too long for its receive that has come before the disconnect fails its receive, "
     "and only that",
     Party::pair, too_long_waiting},
    {"disconnect.destroy", "Destroying a connected VI disconnects it", Party::pair,
     destroy_connected},
    {"disconnect.destroy_pending",
     "Nothing of a destroyed VI's descriptors comes out of a shared queue", Party::pair,
     destroy_with_pending},
    {"disconnect.destroy_unheard",
     "A peer that has not heard of a VI's end touches no memory that was allocated since",
     Party::pair, destroy_unheard},
    {"disconnect.idle", "Disconnecting an idle VI does nothing", Party::pair, idle_twice},
};

}  // namespace

std::span<const Case> disconnect_cases() { return kCases; }

}  // namespace viaduct::conformance
