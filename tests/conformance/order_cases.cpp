#include <algorithm>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "tests/conformance/lists.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;

constexpr std::uint32_t kBatch = 24;
constexpr std::uint32_t kSlot = 4096;

struct Posted {
  CompletedOperation operation{};
  std::uint32_t bytes = 0;
};

// Draws an operation and makes its descriptor; both ranks draw the same.
Posted draw(Rig& rig, AnyDescriptor& d, const Buffer& local, std::uint32_t i,
            const RemoteBuffer& remote) {
  constexpr std::uint32_t kBounds[] = {57, 300, kSlot + 1};
  const auto bytes = static_cast<std::uint32_t>(rig.random_below(kBounds[rig.random_below(3)]));
  std::byte* const at = local.data() + std::size_t{i} * kSlot;
  const std::uint64_t there = remote.address + std::uint64_t{i} * kSlot;
  switch (rig.random_below(5)) {
    case 0:
      via::make_rdma_write(d, at, bytes, local.handle(), there, remote.handle);
      return {CompletedOperation::rdma_write, bytes};
    case 1:
      if (!rig.limits().rdma_read) break;
      via::make_rdma_read(d, at, bytes, local.handle(), there, remote.handle);
      return {CompletedOperation::rdma_read, bytes};
    case 2: {
      if (!rig.limits().atomics) break;
      via::DescriptorWith<3> add{};
      via::make_fetch_add(add, at, local.handle(), there, remote.handle, 1);
      d.control = add.control;
      std::copy(add.segment, add.segment + 2, d.segment);
      d.more[0] = add.more[0];
      return {CompletedOperation::atomic, 8};
    }
    default:
      break;
  }
  via::make_send(d, at, bytes, local.handle());
  return {CompletedOperation::send, bytes};
}

void mixed(Rig& rig) {
  for (const via::Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Link link(rig, vi_attributes(kBatch, level));
    Buffer local(rig, std::size_t{kBatch} * kSlot);
    Buffer shared(rig, std::size_t{kBatch} * kSlot, Memory::shared, via::Rights::all);
    Buffer in(rig, std::size_t{kBatch} * kSlot);
    connect(rig, link);
    const RemoteBuffer remote = rig.exchange("the target", remote_view(shared))[index(rig.other())];
    for (int round = 0; round < 20; ++round) {
      std::vector<AnyDescriptor> sends(kBatch);
      std::vector<AnyDescriptor> receives(kBatch);
      std::vector<Posted> posted(kBatch);
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        posted[i] = draw(rig, sends[i], local, i, remote);
        via::make_receive(receives[i], in.data() + std::size_t{i} * kSlot, kSlot, in.handle());
        link.post_receive(receives[i]);
      }
      rig.sync("receives are posted");
      for (AnyDescriptor& d : sends) link.post_send(d);
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        Note which("round {}, descriptor {}", round, i);
        link.expect_next_send(sends[i]);
        expect_done(sends[i], posted[i].operation, posted[i].bytes);
      }
      std::uint32_t next = 0;
      for (const Posted& p : posted) {
        if (p.operation != CompletedOperation::send) continue;
        Note which("round {}, receive {}", round, next);
        link.expect_next_receive(receives[next]);
        expect_done(receives[next], CompletedOperation::receive, p.bytes);
        ++next;
      }
      // The receives that were not used are used up, so that the next round starts with none.
      rig.sync("all completed");
      std::vector<AnyDescriptor> rest(kBatch - next);
      for (AnyDescriptor& d : rest) {
        via::make_list(d, nullptr, 0);
        link.post_send(d);
      }
      for (AnyDescriptor& d : rest) {
        link.expect_next_send(d);
        link.expect_next_receive(receives[next++]);
      }
    }
    rig.sync("all rounds");
  }
}

void write_then_send(Rig& rig) {
  // The receiver of the send sees what the RDMA write before it wrote.
  constexpr std::uint32_t kRounds = 300;
  Link link(rig, vi_attributes(2));
  Buffer out(rig, 20000);
  Buffer in(rig, 64);
  Buffer target(rig, 20000, Memory::shared, via::Rights::rdma_write);
  connect(rig, link);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[index(rig.other())];
  via::Descriptor receive{};
  via::make_receive(receive, in.data(), 64, in.handle());
  link.post_receive(receive);
  rig.sync("receives are posted");
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    Note note("round {}", round);
    const auto bytes =
        static_cast<std::uint32_t>(1 + rig.random_below(round % 3 == 0 ? 20000 : 60));
    const auto turn = [&] {
      via::Descriptor write{};
      via::Descriptor send{};
      fill_pattern(out.data(), bytes, 2 * round + rig.rank());
      via::make_rdma_write(write, out.data(), bytes, out.handle(), remote.address, remote.handle);
      via::make_send(send, out.data(), 8, out.handle());
      link.post_send(write);
      link.post_send(send);
      link.expect_next_send(write);
      link.expect_next_send(send);
    };
    if (rig.first()) turn();
    link.expect_next_receive(receive);
    target.expect(2 * round + 1 - rig.rank(), 0, bytes);
    if (round + 1 != kRounds) {
      via::make_receive(receive, in.data(), 64, in.handle());
      link.post_receive(receive);
    }
    if (!rig.first()) turn();
  }
  rig.sync("all rounds");
}

void queue_fence(Rig& rig) {
  // What a fenced send sends has been read by the RDMA read before it.
  if (!rig.limits().rdma_read) rig.skip("no RDMA read");
  constexpr std::uint32_t kRounds = 200;
  Link link(rig, vi_attributes(4));
  Buffer scratch(rig, 30000);
  Buffer in(rig, 30000);
  Buffer source(rig, 30000, Memory::shared, via::Rights::rdma_read);
  connect(rig, link);
  const RemoteBuffer remote = rig.exchange("the source", remote_view(source))[index(rig.other())];
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    Note note("round {}", round);
    const auto bytes =
        static_cast<std::uint32_t>(1 + rig.random_below(round % 3 == 0 ? 30000 : 60));
    via::Descriptor receive{};
    via::Descriptor read{};
    via::Descriptor send{};
    fill_pattern(source.data(), bytes, 2 * round + rig.rank());
    via::make_receive(receive, in.data(), in.length(), in.handle());
    link.post_receive(receive);
    rig.sync("a receive is posted");
    via::make_rdma_read(read, scratch.data(), bytes, scratch.handle(), remote.address,
                        remote.handle);
    via::make_send(send, scratch.data(), bytes, scratch.handle());
    send.control.control |= via::control_bits::queue_fence;
    link.post_send(read);
    link.post_send(send);
    link.expect_next_receive(receive);
    expect_done(receive, CompletedOperation::receive, bytes);
    in.expect(2 * round + rig.rank(), 0, bytes);  // our own source, by way of the peer
    link.expect_next_send(read);
    expect_done(read, CompletedOperation::rdma_read, bytes);
    link.expect_next_send(send);
    expect_done(send, CompletedOperation::send, bytes);
  }
  rig.sync("all rounds");
}

constexpr Case kCases[] = {
    {"order.mixed",
     "Descriptors of any operations complete in the order posted, each queue for itself",
     Party::pair, mixed},
    {"order.write_then_send",
     "A message is received after the RDMA writes posted before it are in place", Party::pair,
     write_then_send},
    {"order.fence", "A descriptor with the queue fence starts when earlier RDMA reads are done",
     Party::pair, queue_fence},
};

}  // namespace

std::span<const Case> order_cases() { return kCases; }

}  // namespace viaduct::conformance
