#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;
using via::Reliability;

// Once a send has completed its source is the sender's again: it is changed at once, and what
// arrives is the old.
void source_is_free(Rig& rig) {
  constexpr std::uint32_t kMessages = 60;
  constexpr std::uint32_t kSizes[] = {8, 56, 57, 4096, 100000};
  for (const Reliability level : offered_levels(rig)) {
    for (const Memory memory : kMemories) {
      Note note("{}, {} memory", name_of(level), name_of(memory));
      Link link(rig, vi_attributes(kMessages, level));
      Buffer out(rig, 100000, memory);
      Buffer in(rig, std::size_t{kMessages} * 100000, memory);
      connect(rig, link);
      std::vector<Descriptor> receives(kMessages);
      for (std::uint32_t i = 0; i < kMessages && !rig.first(); ++i) {
        via::make_receive(receives[i], in.data() + std::size_t{i} * 100000, 100000, in.handle());
        link.post_receive(receives[i]);
      }
      rig.sync("receives are posted");
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        const std::uint32_t bytes = kSizes[i % 5];
        Note which("message {} of {} bytes", i, bytes);
        if (rig.first()) {
          Descriptor send{};
          fill_pattern(out.data(), bytes, i);
          via::make_send(send, out.data(), bytes, out.handle());
          link.post_send(send);
          expect_done(link.next_send(), CompletedOperation::send, bytes);
          fill_pattern(out.data(), bytes, 1'000'000 + i);
        } else {
          link.expect_next_receive(receives[i]);
          expect_done(receives[i], CompletedOperation::receive, bytes);
          in.expect(i, std::size_t{i} * 100000, bytes);
        }
      }
      rig.sync("all messages");
    }
  }
}

// The same for RDMA writes: the target has what was there when the write was posted.
void rdma_source_is_free(Rig& rig) {
  constexpr std::uint32_t kWrites = 60;
  constexpr std::uint32_t kSlot = 20000;
  for (const Reliability level : offered_levels(rig)) {
    Note note("{}", name_of(level));
    Link link(rig, vi_attributes(4, level));
    Buffer out(rig, kSlot);
    Buffer target(rig, std::size_t{kWrites} * kSlot, Memory::shared, via::Rights::rdma_write);
    connect(rig, link);
    const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[1];
    for (std::uint32_t i = 0; i < kWrites && rig.first(); ++i) {
      const std::uint32_t bytes = i % 2 == 0 ? 8 : kSlot;
      Descriptor d{};
      fill_pattern(out.data(), bytes, i);
      via::make_rdma_write(d, out.data(), bytes, out.handle(),
                           remote.address + std::uint64_t{i} * kSlot, remote.handle);
      link.post_send(d);
      expect_done(link.next_send(), CompletedOperation::rdma_write, bytes);
      out.clear();
    }
    rig.sync("written");
    for (std::uint32_t i = 0; i < kWrites && !rig.first(); ++i) {
      Note which("write {}", i);
      target.expect(i, std::size_t{i} * kSlot, i % 2 == 0 ? 8 : kSlot);
    }
    rig.sync("seen");
  }
}

// Reliable reception: when a send or write has completed, the data is at its place, though the
// target has not looked.
void reception_is_arrival(Rig& rig) {
  if (!rig.limits().reliable_reception) rig.skip("no reliable reception");
  for (const std::uint32_t bytes : {1U, 8U, 56U, 57U, 4096U, 60000U}) {
    for (const Memory memory : kMemories) {
      Note note("{} bytes, {} memory", bytes, name_of(memory));
      Link link(rig, vi_attributes(4, Reliability::reception));
      Buffer out(rig, bytes);
      Buffer in(rig, bytes, memory, via::Rights::rdma_write);
      Buffer target(rig, bytes, memory, via::Rights::rdma_write);
      connect(rig, link);
      const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[1];
      Descriptor receive{};
      if (!rig.first()) {
        via::make_receive(receive, in.data(), bytes, in.handle());
        link.post_receive(receive);
      }
      rig.sync("a receive is posted");
      Descriptor send{};
      Descriptor write{};
      bool sent = false;
      bool written = false;
      if (rig.first()) {
        out.fill(bytes);
        via::make_rdma_write(write, out.data(), bytes, out.handle(), remote.address, remote.handle);
        via::make_send(send, out.data(), bytes, out.handle());
        link.post_send(write);
        link.post_send(send);
        // Rank 1 does nothing meanwhile; a send may well need its help, and then does not complete.
        const std::int64_t end = now_ns() + kQuietNs;
        while (!sent && now_ns() < end) {
          Descriptor* const d = link.try_next(via::Queue::send);
          written = written || d == &write;
          sent = sent || d == &send;
        }
      }
      const unsigned mine = (written ? 1U : 0U) | (sent ? 2U : 0U);
      const unsigned complete = rig.exchange_without_progress("rank 0 has looked", mine)[0];
      if (!rig.first() && (complete & 1) != 0) target.expect(bytes, 0, bytes);
      if (!rig.first() && (complete & 2) != 0) in.expect(bytes, 0, bytes);
      rig.sync("rank 1 has looked");
      if (rig.first()) {
        if (!written) link.expect_next_send(write);
        if (!sent) link.expect_next_send(send);
        expect_done(write, CompletedOperation::rdma_write, bytes);
        expect_done(send, CompletedOperation::send, bytes);
      } else {
        link.expect_next_receive(receive);
        expect_done(receive, CompletedOperation::receive, bytes);
        in.expect(bytes, 0, bytes);
        target.expect(bytes, 0, bytes);
      }
      rig.sync("seen");
    }
  }
}

// Exactly once, in order: many messages through a short queue, whose receiver is slow now and then.
void exactly_once(Rig& rig) {
  constexpr std::uint64_t kMessages = 3000;
  constexpr std::uint32_t kDepth = 32;
  for (const Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Link link(rig, vi_attributes(kDepth, level));
    Buffer out(rig, 16 * kDepth);
    Buffer in(rig, 16 * kDepth);
    connect(rig, link);
    std::vector<Descriptor> receives(kDepth);
    std::vector<Descriptor> sends(kDepth);
    for (std::uint64_t base = 0; base < kMessages; base += kDepth) {
      for (std::uint32_t i = 0; i < kDepth; ++i) {
        fill_pattern(out.data() + 16 * i, 16, base + i + 7 * rig.rank());
        via::make_send(sends[i], out.data() + 16 * i, 16, out.handle());
        via::make_receive(receives[i], in.data() + 16 * i, 16, in.handle());
        link.post_receive(receives[i]);
      }
      rig.sync("receives are posted");
      for (Descriptor& d : sends) link.post_send(d);
      if (base % 7 == 0) rig.progress_for(200'000);
      for (std::uint32_t i = 0; i < kDepth; ++i) {
        Note which("message {}", base + i);
        link.expect_next_receive(receives[i]);
        in.expect(base + i + 7 * (1 - rig.rank()), 16 * i, 16);
        link.expect_next_send(sends[i]);
      }
    }
    link.expect_nothing();
    rig.sync("all messages");
  }
}

constexpr Case kCases[] = {
    {"levels.source_free",
     "When a send has completed its source may be changed, at every service level", Party::pair,
     source_is_free},
    {"levels.rdma_source_free", "So it is with RDMA writes", Party::pair, rdma_source_is_free},
    {"levels.reception",
     "At reliable reception a completion means that the data is in place at the target",
     Party::pair, reception_is_arrival},
    {"levels.exactly_once", "At both reliable levels every message arrives once, in order",
     Party::pair, exactly_once},
};

}  // namespace

std::span<const Case> level_cases() { return kCases; }

}  // namespace viaduct::conformance
