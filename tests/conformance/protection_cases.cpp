#include <algorithm>
#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/faulty.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;
using via::Reliability;
using via::ViState;
namespace status = via::descriptor_status;

void send_from(Rig& rig, Reliability level, Fault fault, std::uint32_t bytes) {
  Note note("{}, {} bytes, {}", name_of(level), bytes, fault_name(fault));
  Faulty source(rig, bytes, fault, via::Rights::none);
  Buffer in(rig, bytes);
  Descriptor receive{};
  Descriptor send{};
  Link link(rig, vi_attributes(4, level));
  connect(rig, link);
  via::make_receive(receive, in.data(), bytes, in.handle());
  link.post_receive(receive);
  rig.sync("a receive is posted");
  if (rig.first()) {
    source.buffer().fill(1);
    via::make_send(send, source.local(), bytes, source.view().handle);
    link.post_send(send);
    link.expect_next_send(send);
    expect_failed(send, status::protection_error);
    CHECK_EQ(send.completed_operation(), CompletedOperation::send);
  }
  if (level == Reliability::unreliable) {
    rig.sync("refused");
    CHECK_EQ(link.vi().state(), ViState::connected);
    rig.forget_errors();
    return;
  }
  expect_broken(rig, link, rig.first());
  link.expect_next_receive(receive);
  expect_flushed(receive, CompletedOperation::receive);
  in.expect_clear(0, bytes);
}

void local_send(Rig& rig) {
  // Inline sends are copied from anywhere. Provider fault, where it delays, does not tell of those
  // of the provider underneath.
  constexpr std::uint32_t kMostInline = 512;
  const std::uint32_t small = std::max(rig.limits().inline_bytes, kMostInline) + 1;
  for (const Reliability level : offered_levels(rig)) {
    for (const Fault fault : kFaults) {
      send_from(rig, level, fault, small);
      send_from(rig, level, fault, 5000);
    }
  }
}

void receive_into(Rig& rig, Reliability level, Fault fault, std::uint32_t bytes) {
  Note note("{}, {} bytes, {}", name_of(level), bytes, fault_name(fault));
  Link link(rig, vi_attributes(4, level));
  Buffer out(rig, bytes);
  Faulty target(rig, bytes, fault, via::Rights::none);
  Descriptor receive{};
  Descriptor send{};
  connect(rig, link);
  rig.sync("connected");
  if (!rig.first()) {
    via::make_receive(receive, target.local(), bytes, target.view().handle);
    link.post_receive(receive);
  }
  rig.sync("a receive is posted");
  if (rig.first()) {
    via::make_send(send, out.data(), bytes, out.handle());
    link.post_send(send);
    link.expect_next_send(send);
    if (send.failed()) {
      expect_failed(send, status::remote_descriptor_error | status::flushed);
    } else {
      CHECK(level != Reliability::reception);
    }
  } else {
    link.expect_next_receive(receive);
    expect_failed(receive, status::protection_error);
    CHECK_EQ(receive.completed_operation(), CompletedOperation::receive);
    target.buffer().expect_clear(0, bytes);
    target.buffer().expect_guards();
  }
  expect_broken(rig, link, !rig.first());
}

void local_receive(Rig& rig) {
  for (const Reliability level : offered_reliable_levels(rig)) {
    for (const Fault fault : kFaults) {
      receive_into(rig, level, fault, 24);
      receive_into(rig, level, fault, 5000);
    }
  }
}

void receive_in_turn(Rig& rig) {
  // A bad receive fails when its turn comes: the one before it takes a message, the one behind it
  // is flushed.
  for (const Reliability level : offered_levels(rig)) {
    for (const std::uint32_t bytes : {24U, 5000U}) {
      Note note("{}, {} bytes", name_of(level), bytes);
      Buffer good(rig, 3 * std::size_t{bytes});
      Faulty bad(rig, bytes, Fault::no_handle, via::Rights::none);
      std::vector<Descriptor> receives(3);
      std::vector<Descriptor> sends(3);
      Link link(rig, vi_attributes(4, level));
      connect(rig, link);
      if (!rig.first()) {
        via::make_receive(receives[0], good.data(), bytes, good.handle());
        via::make_receive(receives[1], bad.local(), bytes, bad.view().handle);
        via::make_receive(receives[2], good.data() + bytes, bytes, good.handle());
        for (Descriptor& d : receives) link.post_receive(d);
      }
      rig.sync("receives are posted");
      if (rig.first()) {
        for (std::uint32_t i = 0; i < 3; ++i) {
          fill_pattern(good.data() + i * bytes, bytes, i);
          via::make_send(sends[i], good.data() + i * bytes, bytes, good.handle());
          link.post_send(sends[i]);
        }
        for (const Descriptor& d : sends) link.expect_next_send(d);
        expect_done(sends[0], CompletedOperation::send, bytes);
      } else {
        link.expect_next_receive(receives[0]);
        expect_done(receives[0], CompletedOperation::receive, bytes);
        good.expect(0, 0, bytes);
        link.expect_next_receive(receives[1]);
        expect_failed(receives[1], status::protection_error);
        link.expect_next_receive(receives[2]);
        if (level == Reliability::unreliable) {
          expect_done(receives[2], CompletedOperation::receive, bytes);
          good.expect(2, bytes, bytes);
        } else {
          expect_flushed(receives[2], CompletedOperation::receive);
        }
        bad.buffer().expect_clear(0, bytes);
      }
      if (level == Reliability::unreliable) {
        rig.sync("seen");
        CHECK_EQ(link.vi().state(), ViState::connected);
        rig.forget_errors();
      } else {
        expect_broken(rig, link, !rig.first());
      }
    }
  }
}

void local_rdma(Rig& rig) {
  Buffer target(rig, 5000, Memory::shared, via::Rights::all);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[index(rig.other())];
  for (const Fault fault : kFaults) {
    for (const bool read : {false, true}) {
      if (read && !rig.limits().rdma_read) continue;
      Note note("{} of 3000 bytes, {}", read ? "read" : "write", fault_name(fault));
      Link link(rig, vi_attributes(4, offered_reliable_levels(rig)[0]));
      Faulty local(rig, 3000, fault, via::Rights::none);
      Descriptor d{};
      target.clear();
      connect(rig, link);
      rig.sync("connected");
      if (rig.first()) {
        if (read) {
          via::make_rdma_read(d, local.local(), 3000, local.view().handle, remote.address,
                              remote.handle);
        } else {
          via::make_rdma_write(d, local.local(), 3000, local.view().handle, remote.address,
                               remote.handle);
        }
        link.post_send(d);
        link.expect_next_send(d);
        expect_failed(d, status::protection_error);
        local.buffer().expect_clear(0, 3000);
        local.buffer().expect_guards();
      }
      expect_broken(rig, link, rig.first());
      target.expect_clear(0, target.bytes());
    }
  }
}

void tags_are_local(Rig& rig) {
  // The two ends of a connection have tags of their own.
  const via::ProtectionTag tag = rig.first() ? rig.nic().create_tag() : rig.tag();
  {
    via::ViAttributes attributes = vi_attributes(4);
    attributes.tag = tag;
    Link link(rig, attributes);
    Buffer out(rig, 1000, Memory::shared, via::Rights::none, tag);
    Buffer target(rig, 1000, Memory::shared, via::Rights::all, tag);
    connect(rig, link);
    const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[index(rig.other())];
    Descriptor d{};
    out.fill(rig.rank());
    via::make_rdma_write(d, out.data(), 1000, out.handle(), remote.address, remote.handle);
    link.post_send(d);
    expect_done(link.next_send(), CompletedOperation::rdma_write, 1000);
    rig.sync("both have written");
    target.expect(1 - rig.rank(), 0, 1000);
    rig.sync("seen");
  }
  if (rig.first()) rig.nic().destroy_tag(tag);
}

constexpr Case kCases[] = {
    {"protection.send",
     "A send from memory that its handle, tag or range does not cover: protection error, nothing "
     "is sent, reliable VIs "
     "are broken, unreliable ones live on",
     Party::pair, local_send},
    {"protection.receive",
     "A receive into such memory: protection error when a message comes for it, nothing is written",
     Party::pair, local_receive},
    {"protection.receive_in_turn",
     "Such a receive fails in its turn: earlier receives take their messages, later ones are "
     "flushed, or on an "
     "unreliable VI live on",
     Party::pair, receive_in_turn},
    {"protection.rdma_local",
     "RDMA from or into such local memory: protection error, nothing is moved", Party::pair,
     local_rdma},
    {"protection.tags_are_local", "The tags of the two ends need not be equal", Party::pair,
     tags_are_local},
};

}  // namespace

std::span<const Case> protection_cases() { return kCases; }

}  // namespace viaduct::conformance
