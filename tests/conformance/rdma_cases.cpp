#include <algorithm>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "tests/conformance/lists.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;

// Rank 0 writes to rank 1, or reads from it, at random places; rank 1 looks.
void transfers(Rig& rig, bool read) {
  constexpr std::size_t kRoom = 1 << 20;
  constexpr std::uint32_t kSizes[] = {0,  1,   3,    8,    9,     31,     64,
                                      65, 500, 4096, 4097, 65536, 300001, kRoom};
  for (const Memory ours : kMemories) {
    for (const Memory theirs : kMemories) {
      Note memories("{} memory here, {} there", name_of(ours), name_of(theirs));
      const via::Rights right = read ? via::Rights::rdma_read : via::Rights::rdma_write;
      Link link(rig, vi_attributes(4, offered_levels(rig)[0]));
      Buffer local(rig, kRoom, ours);
      Buffer target(rig, kRoom, theirs, right);
      connect(rig, link);
      const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[1];
      for (const std::uint32_t bytes : kSizes) {
        const std::size_t here = rig.random_below(kRoom - bytes + 1);
        const std::size_t there = rig.random_below(kRoom - bytes + 1);
        Note note("{} bytes at offset {} here, {} there", bytes, here, there);
        local.clear();
        target.clear();
        fill_pattern((read ? target.data() + there : local.data() + here), bytes, bytes);
        rig.sync("ready");
        if (rig.first()) {
          via::Descriptor d{};
          if (read) {
            via::make_rdma_read(d, local.data() + here, bytes, local.handle(),
                                remote.address + there, remote.handle);
          } else {
            via::make_rdma_write(d, local.data() + here, bytes, local.handle(),
                                 remote.address + there, remote.handle);
          }
          link.post_send(d);
          link.expect_next_send(d);
          expect_done(d, read ? CompletedOperation::rdma_read : CompletedOperation::rdma_write,
                      bytes);
        }
        rig.sync("done");
        const bool look = rig.first() == read;
        const Buffer& changed = read ? local : target;
        const std::size_t at = read ? here : there;
        if (look) {
          changed.expect(bytes, at, bytes);
          changed.expect_clear(0, at);
          changed.expect_clear(at + bytes, kRoom - at - bytes);
        }
        local.expect_guards();
        target.expect_guards();
        rig.sync("seen");
      }
      CHECK(link.try_next(via::Queue::receive) == nullptr);
    }
  }
}

void write(Rig& rig) { transfers(rig, false); }

void read(Rig& rig) {
  if (!rig.limits().rdma_read) rig.skip("no RDMA read");
  transfers(rig, true);
}

void lists(Rig& rig, Memory theirs) {
  Note memory("{} memory there", name_of(theirs));
  const auto most = static_cast<std::uint32_t>(rig.limits().max_segments);
  constexpr std::uint32_t kRoom = 40000;
  Link link(rig, vi_attributes(4, offered_levels(rig)[0]));
  Buffer local(rig, List::room(most, kRoom), Memory::private_);
  Buffer target(rig, kRoom, theirs, via::Rights::rdma_write | via::Rights::rdma_read);
  connect(rig, link);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[1];
  for (std::uint32_t round = 0; round < 4 * most; ++round) {
    const bool reads = rig.limits().rdma_read && round % 2 == 1;
    const auto bytes = static_cast<std::uint32_t>(rig.random_below(round % 3 == 0 ? 200 : kRoom));
    const List list(rig.random(), local, round % most + 1, bytes);
    Note note("{} of {} bytes, {} segments", reads ? "read" : "write", bytes, list.count());
    local.clear();
    target.clear();
    if (reads) fill_pattern(target.data(), bytes, round);
    rig.sync("ready");
    if (rig.first()) {
      AnyDescriptor d{};
      if (!reads) list.fill(round);
      make_rdma_list(d, reads ? via::Operation::rdma_read : via::Operation::rdma_write, list,
                     remote.address, remote.handle);
      link.post_send(d);
      link.expect_next_send(d);
      expect_done(d, reads ? CompletedOperation::rdma_read : CompletedOperation::rdma_write, bytes);
      list.expect(round, bytes);
      std::size_t written = 0;
      for (std::size_t i = 0; i < local.bytes(); ++i)
        written += local.data()[i] != std::byte{0xEE} ? 1 : 0;
      CHECK(written <= bytes);
    }
    rig.sync("done");
    if (!rig.first()) target.expect(round, 0, bytes);
    if (!rig.first()) target.expect_clear(bytes, kRoom - bytes);
    local.expect_guards();
    target.expect_guards();
    rig.sync("seen");
  }
}

void lists(Rig& rig) {
  for (const Memory theirs : kMemories) lists(rig, theirs);
}

void one_sided(Rig& rig) {
  // The target takes no part: it neither posts nor polls.
  Link link(rig, vi_attributes(8, offered_levels(rig)[0]));
  Buffer local(rig, 5000);
  Buffer target(rig, 5000, Memory::shared, via::Rights::all);
  connect(rig, link);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[1];
  if (rig.first()) {
    via::Descriptor d{};
    local.fill(8);
    via::make_rdma_write(d, local.data(), 5000, local.handle(), remote.address, remote.handle);
    link.post_send(d);
    expect_done(link.next_send(), CompletedOperation::rdma_write, 5000);
    if (rig.limits().rdma_read) {
      local.clear();
      via::make_rdma_read(d, local.data(), 5000, local.handle(), remote.address, remote.handle);
      link.post_send(d);
      expect_done(link.next_send(), CompletedOperation::rdma_read, 5000);
      local.expect(8, 0, 5000);
    }
  }
  static_cast<void>(rig.exchange_without_progress("written and read back", 0));
  if (!rig.first()) target.expect(8, 0, 5000);
  rig.sync("seen");
}

void parts_of_a_region(Rig& rig) {
  // A region's first and last byte can be reached, byte by byte.
  Link link(rig, vi_attributes(4, offered_levels(rig)[0]));
  Buffer local(rig, 64);
  Buffer target(rig, 64, Memory::shared, via::Rights::rdma_write);
  connect(rig, link);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[1];
  if (rig.first()) {
    local.fill(6);
    via::Descriptor d{};
    for (std::uint32_t i = 0; i < 64; i += 3) {
      via::make_rdma_write(d, local.data() + i, 1, local.handle(), remote.address + i,
                           remote.handle);
      link.post_send(d);
      expect_done(link.next_send(), CompletedOperation::rdma_write, 1);
    }
  }
  rig.sync("written");
  for (std::size_t i = 0; i < 64 && !rig.first(); ++i) {
    CHECK(target.data()[i] == (i % 3 == 0 ? pattern_at(6, i) : std::byte{0xEE}));
  }
  target.expect_guards();
  rig.sync("seen");
}

constexpr Case kCases[] = {
    {"rdma.write",
     "RDMA writes of any size and place, shared and private memory, write these bytes and no other",
     Party::pair, write},
    {"rdma.read", "RDMA reads of any size and place read these bytes and write no other",
     Party::pair, read},
    {"rdma.lists", "RDMA writes gather, and reads scatter, over 1 to max_segments segments",
     Party::pair, lists},
    {"rdma.one_sided", "The target of RDMA takes no part", Party::pair, one_sided},
    {"rdma.bytes", "RDMA reaches every byte of a region by itself", Party::pair, parts_of_a_region},
};

}  // namespace

std::span<const Case> rdma_cases() { return kCases; }

}  // namespace viaduct::conformance
