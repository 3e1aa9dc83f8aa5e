#include <algorithm>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;

void send_depth(Rig& rig) {
  constexpr std::uint32_t kDepth = 6;
  for (const std::uint32_t bytes : {8U, 1000U}) {
    Note note("{} bytes", bytes);
    via::ViAttributes attributes = vi_attributes(2 * kDepth);
    attributes.send_depth = kDepth;
    Buffer buffer(rig, 1000);
    Buffer in(rig, 2 * kDepth * 1000);
    std::vector<Descriptor> receives(2 * kDepth);
    std::vector<Descriptor> sends(kDepth + 1);
    Link link(rig, attributes);  // goes first: it still has descriptors
    connect(rig, link);
    for (std::uint32_t i = 0; i < 2 * kDepth; ++i) {
      via::make_receive(receives[i], in.data() + 1000 * i, 1000, in.handle());
      link.post_receive(receives[i]);
    }
    for (Descriptor& d : sends) via::make_send(d, buffer.data(), bytes, buffer.handle());
    rig.sync("receives are posted");
    for (std::uint32_t i = 0; i < kDepth; ++i) link.post_send(sends[i]);
    // They may have completed, and are not reaped.
    CHECK_EQ(link.vi().post_send(sends[kDepth]), Status::retry);
    CHECK_EQ(link.vi().post_send(sends[kDepth]), Status::retry);
    rig.sync("both are full");
    // Reaped one by one, each makes room for one.
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      via::Completion completion;
      do {
        REQUIRE_EQ(link.queue().wait(completion, kLimitNs), Status::ok);
      } while (completion.queue != via::Queue::send);
      CHECK_EQ(completion.descriptor, &sends[i]);
      expect_done(sends[i], CompletedOperation::send, bytes);
      via::make_send(sends[i], buffer.data(), bytes, buffer.handle());
      link.post_send(sends[i]);
      CHECK_EQ(link.vi().post_send(sends[kDepth]), Status::retry);
    }
    rig.sync("full again");
  }
}

void receive_depth(Rig& rig) {
  constexpr std::uint32_t kDepth = 5;
  via::ViAttributes attributes = vi_attributes(2 * kDepth);
  attributes.receive_depth = kDepth;
  Buffer out(rig, 10);
  Buffer in(rig, 100 * (kDepth + 1));
  std::vector<Descriptor> receives(kDepth + 1);
  std::vector<Descriptor> sends(kDepth);
  Link link(rig, attributes);  // goes first: it still has descriptors
  connect(rig, link);
  for (std::uint32_t i = 0; i <= kDepth; ++i) {
    via::make_receive(receives[i], in.data() + 100 * i, 100, in.handle());
  }
  for (Descriptor& d : sends) via::make_send(d, out.data(), 10, out.handle());
  for (std::uint32_t i = 0; i < kDepth; ++i) link.post_receive(receives[i]);
  CHECK_EQ(link.vi().post_receive(receives[kDepth]), Status::retry);
  rig.sync("both have filled their receive queues");
  for (Descriptor& d : sends) link.post_send(d);
  rig.sync("sent");
  // Messages are there, but nothing has been reaped.
  CHECK_EQ(link.vi().post_receive(receives[kDepth]), Status::retry);
  link.expect_next_receive(receives[0]);
  link.post_receive(receives[kDepth]);
  for (std::uint32_t i = 1; i < kDepth; ++i) link.expect_next_receive(receives[i]);
  CHECK(!receives[kDepth].is_done());
  rig.sync("seen");
}

// The smallest queues: traffic at the pace of the reaping.
void small_depths(Rig& rig) {
  constexpr std::uint64_t kMessages = 400;
  for (const std::uint32_t depth : {1U, 2U, 3U}) {
    for (const via::Reliability level : offered_reliable_levels(rig)) {
      Note note("depth {}, {}", depth, name_of(level));
      Link link(rig, vi_attributes(depth, level));
      Buffer out(rig, 4096 * depth);
      Buffer in(rig, 4096 * depth);
      connect(rig, link);
      std::vector<Descriptor> sends(depth);
      std::vector<Descriptor> receives(depth);
      const auto post = [&](std::uint64_t i) {
        via::make_receive(receives[i % depth], in.data() + 4096 * (i % depth), 4096, in.handle());
        link.post_receive(receives[i % depth]);
      };
      for (std::uint32_t i = 0; i < depth; ++i) post(i);
      rig.sync("receives are posted");
      // Rank 0 sends up to depth messages; each answer allows one more.
      const auto bytes_of = [](std::uint64_t i) {
        return static_cast<std::uint32_t>(i % 7 == 0 ? 2000 + i : i % 61);
      };
      const auto send = [&](std::uint64_t i) {
        if (i >= depth) link.expect_next_send(sends[i % depth]);
        fill_pattern(out.data() + 4096 * (i % depth), bytes_of(i), 2 * i + rig.rank());
        via::make_send(sends[i % depth], out.data() + 4096 * (i % depth), bytes_of(i),
                       out.handle());
        link.post_send(sends[i % depth]);
      };
      for (std::uint64_t i = 0; i < depth && rig.first(); ++i) send(i);
      for (std::uint64_t i = 0; i < kMessages; ++i) {
        link.expect_next_receive(receives[i % depth]);
        expect_done(receives[i % depth], CompletedOperation::receive, bytes_of(i));
        in.expect(2 * i + 1 - rig.rank(), 4096 * (i % depth), bytes_of(i));
        if (i + depth < kMessages) post(i + depth);
        if (!rig.first()) send(i);
        if (rig.first() && i + depth < kMessages) send(i + depth);
      }
      for (std::uint64_t i = kMessages - depth; i < kMessages; ++i)  // before they are gone
        link.expect_next_send(sends[i % depth]);
      rig.sync("all messages");
    }
  }
}

// A provider may size its queue of messages by the sender's own depths, and has no room there to
// tell of all receives at once: each becomes known as an earlier one is used, the last one too.
void unequal_depths(Rig& rig) {
  constexpr std::uint32_t kReceives = 40;
  constexpr std::uint32_t kRoom = 2000;
  for (const via::Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Buffer out(rig, kRoom);
    Buffer in(rig, std::size_t{kReceives} * kRoom);
    std::vector<Descriptor> receives(kReceives);
    Descriptor send{};
    Link link(rig, vi_attributes(rig.first() ? 2 : kReceives, level));  // goes first
    connect(rig, link);
    for (std::uint32_t i = 0; i < kReceives && !rig.first(); ++i) {
      via::make_receive(receives[i], in.data() + std::size_t{i} * kRoom, kRoom, in.handle());
      link.post_receive(receives[i]);
    }
    rig.sync("all receives are posted");
    for (std::uint32_t i = 0; i < kReceives; ++i) {
      const std::uint32_t bytes = i % 2 == 0 ? kRoom - i : i;
      Note which("message {} of {} bytes", i, bytes);
      if (rig.first()) {
        fill_pattern(out.data(), bytes, i);
        via::make_send(send, out.data(), bytes, out.handle());
        link.post_send(send);
        expect_done(link.next_send(), CompletedOperation::send, bytes);
      } else {
        link.expect_next_receive(receives[i]);
        expect_done(receives[i], CompletedOperation::receive, bytes);
        in.expect(i, std::size_t{i} * kRoom, bytes);
      }
    }
    rig.sync("all messages");
  }
}

void deepest(Rig& rig) {
  const std::uint32_t depth =
      std::min(rig.limits().max_queue_depth, rig.limits().max_completion_queue / 2);
  Link link(rig, vi_attributes(depth));
  Buffer out(rig, 64);
  Buffer in(rig, std::size_t{64} * depth);
  connect(rig, link);
  std::vector<Descriptor> receives(depth);
  std::vector<Descriptor> sends(depth);
  for (std::uint32_t i = 0; i < depth; ++i) {
    via::make_receive(receives[i], in.data() + std::size_t{64} * i, 64, in.handle());
    via::make_send(sends[i], out.data(), i % 64, out.handle());
    link.post_receive(receives[i]);
  }
  rig.sync("receives are posted");
  for (Descriptor& d : sends) link.post_send(d);
  for (std::uint32_t i = 0; i < depth; ++i) {
    link.expect_next_receive(receives[i]);
    expect_done(receives[i], CompletedOperation::receive, i % 64);
    link.expect_next_send(sends[i]);
  }
  rig.sync("all messages");
}

constexpr Case kCases[] = {
    {"depth.send",
     "send_depth descriptors may be posted and not reaped; the next post answers retry and does "
     "nothing",
     Party::pair, send_depth},
    {"depth.receive", "So it is with receive_depth", Party::pair, receive_depth},
    {"depth.small", "Queues of depth 1, 2 and 3 work", Party::pair, small_depths},
    {"depth.unequal",
     "A receive queue much deeper than the sender's queues is used to its last receive",
     Party::pair, unequal_depths},
    {"depth.max", "Queues of the greatest depth work, filled to the brim", Party::pair, deepest},
};

}  // namespace

std::span<const Case> depth_cases() { return kCases; }

}  // namespace viaduct::conformance
