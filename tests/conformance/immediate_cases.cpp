#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;

std::vector<std::uint64_t> values(const Rig& rig) {
  std::vector<std::uint64_t> result = {0, 1, 0x89abcdef, 0xffffffff};
  if (rig.limits().immediate_bits == 64) {
    result.push_back(0x0123456789abcdef);
    result.push_back(~std::uint64_t{0});
    result.push_back(std::uint64_t{1} << 63);
  }
  return result;
}

void with_send(Rig& rig) {
  Link link(rig);
  Buffer out(rig, 5000);
  Buffer in(rig, 5000);
  out.fill(9);
  connect(rig, link);
  for (const std::uint64_t value : values(rig)) {
    for (const std::uint32_t bytes : {0U, 8U, 48U, 49U, 56U, 57U, 200U, 5000U}) {
      Note note("immediate {:#x} with {} bytes", value, bytes);
      Descriptor receive{};
      Descriptor send{};
      in.clear();
      via::make_receive(receive, in.data(), in.length(), in.handle());
      link.post_receive(receive);
      rig.sync("a receive is posted");
      via::make_send(send, out.data(), bytes, out.handle());
      via::add_immediate(send, value);
      link.post_send(send);
      link.expect_next_receive(receive);
      expect_done(receive, CompletedOperation::receive, bytes);
      CHECK(receive.has_immediate());
      CHECK_EQ(receive.immediate(), value);
      in.expect(9, 0, bytes);
      in.expect_clear(bytes, 5000 - bytes);
      expect_done(link.next_send(), CompletedOperation::send, bytes);
    }
  }
  rig.sync("seen");
}

void absent(Rig& rig) {
  // A message without an immediate value after one with: the receive does not keep the old one.
  Link link(rig);
  Buffer out(rig, 300);
  Buffer in(rig, 300);
  connect(rig, link);
  Descriptor receive{};
  Descriptor send{};
  for (int round = 0; round < 6; ++round) {
    const bool present = round % 2 == 0;
    const std::uint32_t bytes = round < 3 ? 300 : 30;
    via::make_receive(receive, in.data(), in.length(), in.handle());
    link.post_receive(receive);
    rig.sync("a receive is posted");
    via::make_send(send, out.data(), bytes, out.handle());
    if (present) via::add_immediate(send, 77);
    link.post_send(send);
    link.expect_next_receive(receive);
    CHECK_EQ(receive.has_immediate(), present);
    link.expect_next_send(send);
  }
  rig.sync("seen");
}

void with_rdma_write(Rig& rig) {
  Link link(rig);
  Buffer out(rig, 5000);
  Buffer target(rig, 5000, Memory::shared, via::Rights::rdma_write);
  Buffer in(rig, 100);
  out.fill(3);
  connect(rig, link);
  const RemoteBuffer remote =
      rig.exchange("where to write", remote_view(target))[index(rig.other())];
  for (const std::uint64_t value : values(rig)) {
    for (const std::uint32_t bytes : {0U, 8U, 56U, 57U, 5000U}) {
      Note note("immediate {:#x} with {} bytes", value, bytes);
      Descriptor receive{};
      Descriptor write{};
      target.clear();
      in.clear();
      via::make_receive(receive, in.data(), in.length(), in.handle());
      link.post_receive(receive);
      rig.sync("a receive is posted");
      via::make_rdma_write(write, out.data(), bytes, out.handle(), remote.address, remote.handle);
      via::add_immediate(write, value);
      link.post_send(write);
      link.expect_next_receive(receive);
      expect_done(receive, CompletedOperation::remote_rdma_write, bytes);
      CHECK(receive.has_immediate());
      CHECK_EQ(receive.immediate(), value);
      target.expect(3, 0, bytes);  // the data is there before the receive completes
      target.expect_clear(bytes, 5000 - bytes);
      in.expect_clear(0, in.bytes());
      link.expect_next_send(write);
      expect_done(write, CompletedOperation::rdma_write, bytes);
    }
  }
  rig.sync("seen");
}

void receive_for_immediate_only(Rig& rig) {
  // The receive that an immediate value consumes needs no segments.
  Link link(rig);
  Buffer out(rig, 200);
  Buffer target(rig, 200, Memory::private_, via::Rights::rdma_write);
  connect(rig, link);
  const RemoteBuffer remote =
      rig.exchange("where to write", remote_view(target))[index(rig.other())];
  Descriptor receive{};
  Descriptor plain{};
  Descriptor write{};
  out.fill(4);
  via::make_list(receive, nullptr, 0);
  link.post_receive(receive);
  rig.sync("a receive is posted");
  via::make_rdma_write(plain, out.data(), 100, out.handle(), remote.address, remote.handle);
  link.post_send(plain);  // without an immediate value it consumes none
  via::make_rdma_write(write, out.data(), 200, out.handle(), remote.address, remote.handle);
  via::add_immediate(write, 0x1234);
  link.post_send(write);
  link.expect_next_receive(receive);
  expect_done(receive, CompletedOperation::remote_rdma_write, 200);
  CHECK_EQ(receive.immediate(), 0x1234);
  target.expect(4, 0, 200);
  link.expect_next_send(plain);
  link.expect_next_send(write);
  link.expect_nothing();
  rig.sync("seen");
}

constexpr Case kCases[] = {
    {"immediate.send", "An immediate value of immediate_bits travels with a send of any size",
     Party::pair, with_send},
    {"immediate.absent", "A receive says whether its message had an immediate value", Party::pair,
     absent},
    {"immediate.rdma_write",
     "An RDMA write with immediate consumes a receive, whose buffer stays untouched; the data is "
     "in place by then",
     Party::pair, with_rdma_write},
    {"immediate.no_segments",
     "The receive for it needs no buffer; an RDMA write without immediate consumes none",
     Party::pair, receive_for_immediate_only},
};

}  // namespace

std::span<const Case> immediate_cases() { return kCases; }

}  // namespace viaduct::conformance
