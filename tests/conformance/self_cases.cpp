#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "tests/conformance/lists.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;
using via::ViState;

void sends(Rig& rig) {
  for (const via::Reliability level : offered_levels(rig)) {
    Note note("{}", name_of(level));
    Link a(rig, vi_attributes(8, level));
    Link b(rig, vi_attributes(8, level));
    connect_self(rig, a.vi(), b.vi());
    CHECK_EQ(a.vi().state(), ViState::connected);
    CHECK_EQ(index(a.vi().peer()), rig.rank());
    Buffer out(rig, 70000);
    Buffer in(rig, 70000);
    for (const std::uint32_t bytes : {0U, 1U, 56U, 57U, 4096U, 70000U}) {
      for (Link* from : {&a, &b}) {
        Link* const to = from == &a ? &b : &a;
        Note size("{} bytes", bytes);
        Descriptor send{};
        Descriptor receive{};
        in.clear();
        out.fill(bytes);
        via::make_receive(receive, in.data(), 70000, in.handle());
        to->post_receive(receive);
        via::make_send(send, out.data(), bytes, out.handle());
        via::add_immediate(send, bytes);
        from->post_send(send);
        to->expect_next_receive(receive);
        expect_done(receive, CompletedOperation::receive, bytes);
        CHECK_EQ(receive.immediate(), bytes);
        in.expect(bytes, 0, bytes);
        in.expect_clear(bytes, 70000 - bytes);
        from->expect_next_send(send);
        expect_done(send, CompletedOperation::send, bytes);
      }
    }
  }
}

void rdma(Rig& rig) {
  Link a(rig);
  Link b(rig);
  connect_self(rig, a.vi(), b.vi());
  Buffer local(rig, 5000, Memory::private_);
  Buffer target(rig, 5000, Memory::shared, via::Rights::all);
  Descriptor d{};
  local.fill(3);
  via::make_rdma_write(d, local.data(), 5000, local.handle(), target.address(), target.handle());
  a.post_send(d);
  expect_done(a.next_send(), CompletedOperation::rdma_write, 5000);
  target.expect(3, 0, 5000);
  if (!rig.limits().rdma_read) return;
  local.clear();
  via::make_rdma_read(d, local.data(), 4999, local.handle(), target.address(), target.handle());
  b.post_send(d);
  expect_done(b.next_send(), CompletedOperation::rdma_read, 4999);
  local.expect(3, 0, 4999);
  local.expect_clear(4999, 1);
}

void order(Rig& rig) {
  constexpr std::uint32_t kDepth = 64;
  Link a(rig, vi_attributes(kDepth));
  Link b(rig, vi_attributes(kDepth));
  connect_self(rig, a.vi(), b.vi());
  Buffer out(rig, kDepth * 128);
  Buffer in(rig, kDepth * 128);
  for (std::uint64_t round = 0; round < 100; ++round) {
    std::vector<Descriptor> receives(kDepth);
    std::vector<Descriptor> sent(kDepth);
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      via::make_receive(receives[i], in.data() + 128 * i, 128, in.handle());
      b.post_receive(receives[i]);
    }
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      const auto bytes = static_cast<std::uint32_t>((i * 37 + round) % 129);
      fill_pattern(out.data() + 128 * i, bytes, round * kDepth + i);
      via::make_send(sent[i], out.data() + 128 * i, bytes, out.handle());
      a.post_send(sent[i]);
    }
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      const auto bytes = static_cast<std::uint32_t>((i * 37 + round) % 129);
      b.expect_next_receive(receives[i]);
      expect_done(receives[i], CompletedOperation::receive, bytes);
      in.expect(round * kDepth + i, 128 * i, bytes);
      a.expect_next_send(sent[i]);
    }
  }
}

void errors(Rig& rig) {
  Link a(rig);
  Link b(rig);
  connect_self(rig, a.vi(), b.vi());
  Buffer buffer(rig, 1000);
  Descriptor send{};
  via::make_send(send, buffer.data(), 1000, buffer.handle());
  a.post_send(send);
  rig.expect_error(via::ErrorCause::receive_queue_empty, b.vi());
  rig.expect_error(via::ErrorCause::receive_queue_empty, a.vi());
  CHECK_EQ(a.vi().state(), ViState::error);
  CHECK_EQ(b.vi().state(), ViState::error);
  a.expect_next_send(send);
}

void disconnect(Rig& rig) {
  Link a(rig);
  Link b(rig);
  for (int i = 0; i < 10; ++i) {
    connect_self(rig, a.vi(), b.vi());
    (i % 2 == 0 ? a : b).vi().disconnect();
    rig.expect_state(a.vi(), ViState::idle);
    rig.expect_state(b.vi(), ViState::idle);
  }
}

constexpr Case kCases[] = {
    {"self.send", "A rank may talk to itself through two VIs", Party::alone, sends},
    {"self.rdma", "RDMA within one rank", Party::alone, rdma},
    {"self.order", "Messages to itself arrive once, whole, in order", Party::alone, order},
    {"self.error", "Errors reach both VIs of one rank", Party::alone, errors},
    {"self.disconnect", "VIs of one rank connect and disconnect repeatedly", Party::alone,
     disconnect},
};

}  // namespace

std::span<const Case> self_cases() { return kCases; }

}  // namespace viaduct::conformance
