#include <algorithm>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;

std::vector<std::uint32_t> sizes(const Rig& rig) {
  std::vector<std::uint32_t> result = {0,    1,    7,    8,     15,    16,    17,      24,  48,
                                       55,   56,   57,   63,    64,    65,    95,      100, 127,
                                       1000, 4095, 4096, 16385, 32768, 65536, 1U << 20};
  result.push_back(rig.limits().inline_bytes);
  result.push_back(rig.limits().inline_bytes + 1);
  std::erase_if(result,
                [&](std::uint32_t bytes) { return bytes > rig.limits().max_transfer_bytes; });
  return result;
}

// One message of each size from every rank to the other, from and to both kinds of memory.
void every_size_at(Rig& rig, via::Reliability level, Memory from, Memory to) {
  Note note("{}, from {} to {} memory", name_of(level), name_of(from), name_of(to));
  const std::vector<std::uint32_t> all = sizes(rig);
  const std::uint32_t most = *std::max_element(all.begin(), all.end());
  Link link(rig, vi_attributes(4, level));
  Buffer out(rig, most + 8, from);
  Buffer in(rig, most + 8, to);
  connect(rig, link);
  std::uint64_t seed = 0;
  for (const std::uint32_t bytes : all) {
    Note size("{} bytes", bytes);
    seed += 2;
    const std::size_t at = seed % 8;  // every alignment
    in.clear();
    fill_pattern(out.data() + at, bytes, seed + rig.rank());
    Descriptor receive{};
    Descriptor send{};
    via::make_receive(receive, in.data() + at, bytes, in.handle());
    link.post_receive(receive);
    rig.sync("a receive is posted");
    CHECK(!receive.is_done());
    via::make_send(send, out.data() + at, bytes, out.handle());
    link.post_send(send);
    link.expect_next_receive(receive);
    expect_done(receive, CompletedOperation::receive, bytes);
    CHECK(!receive.has_immediate());
    link.expect_next_send(send);
    expect_done(send, CompletedOperation::send, bytes);
    in.expect(seed + 1 - rig.rank(), at, bytes);
    in.expect_clear(0, at);
    in.expect_clear(at + bytes, in.bytes() - at - bytes);
    in.expect_guards();
  }
  rig.sync("all sizes");
}

void every_size(Rig& rig) {
  for (const via::Reliability level : offered_levels(rig)) {
    for (const Memory from : kMemories) {
      for (const Memory to : kMemories) every_size_at(rig, level, from, to);
    }
  }
}

void shorter_than_receive(Rig& rig) {
  Link link(rig);
  Buffer out(rig, 5000);
  Buffer in(rig, 10000);
  out.fill(5);
  connect(rig, link);
  for (const std::uint32_t bytes : {0U, 3U, 40U, 500U, 5000U}) {
    Note note("{} bytes into a receive of 10000", bytes);
    in.clear();
    Descriptor receive{};
    Descriptor send{};
    via::make_receive(receive, in.data(), in.length(), in.handle());
    link.post_receive(receive);
    rig.sync("a receive is posted");
    via::make_send(send, out.data(), bytes, out.handle());
    link.post_send(send);
    expect_done(link.next_receive(), CompletedOperation::receive, bytes);
    expect_done(link.next_send(), CompletedOperation::send, bytes);
    in.expect(5, 0, bytes);
    in.expect_clear(bytes, in.bytes() - bytes);
    rig.sync("seen");
  }
}

void without_segments(Rig& rig) {
  Link link(rig);
  connect(rig, link);
  Descriptor receive{};
  Descriptor send{};
  via::make_list(receive, nullptr, 0);
  link.post_receive(receive);
  rig.sync("a receive is posted");
  via::make_list(send, nullptr, 0);
  link.post_send(send);
  expect_done(link.next_receive(), CompletedOperation::receive, 0);
  expect_done(link.next_send(), CompletedOperation::send, 0);
  rig.sync("seen");
}

void one_receive_each(Rig& rig) {
  constexpr std::uint32_t kMessages = 32;
  Link link(rig);
  Buffer out(rig, kMessages * 64);
  Buffer in(rig, kMessages * 64);
  connect(rig, link);
  std::vector<Descriptor> receives(kMessages);
  std::vector<Descriptor> sends(kMessages);
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    via::make_receive(receives[i], in.data() + 64 * i, 64, in.handle());
    link.post_receive(receives[i]);
    fill_pattern(out.data() + 64 * i, 64, 100 * rig.rank() + i);
    via::make_send(sends[i], out.data() + 64 * i, i, out.handle());
  }
  rig.sync("receives are posted");
  for (Descriptor& send : sends) link.post_send(send);
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    Note note("message {}", i);
    link.expect_next_receive(receives[i]);
    expect_done(receives[i], CompletedOperation::receive, i);
    in.expect(100 * (1 - rig.rank()) + i, 64 * i, i);
    link.expect_next_send(sends[i]);
    expect_done(sends[i], CompletedOperation::send, i);
  }
  link.expect_nothing();
  rig.sync("all arrived");
}

void untouched_before(Rig& rig) {
  for (const std::uint32_t bytes : {16U, 3000U}) {
    Note note("{} bytes", bytes);
    Link link(rig);
    Buffer out(rig, 3000);
    Buffer in(rig, 3000);
    connect(rig, link);
    Descriptor receive{};
    via::make_receive(receive, in.data(), in.length(), in.handle());
    const Descriptor posted = receive;
    link.post_receive(receive);
    rig.sync("a receive is posted");
    rig.progress_for(kQuietNs);
    CHECK_EQ(receive.control.status, 0);
    CHECK_EQ(receive.control.length, posted.control.length);
    in.expect_clear(0, in.bytes());
    rig.sync("nothing was touched");
    Descriptor send{};
    via::make_send(send, out.data(), bytes, out.handle());
    link.post_send(send);
    for (const Descriptor* d : {&link.next_send(), &link.next_receive()}) {
      CHECK_EQ(d->control.segment_count, 1);
      CHECK_EQ(d->control.control, 0);
    }
    CHECK_EQ(receive.segments()[0].local.address, in.data());
    CHECK_EQ(receive.segments()[0].local.length, in.length());
    CHECK_EQ(receive.segments()[0].local.handle, in.handle());
    CHECK_EQ(send.segments()[0].local.address, out.data());
    CHECK_EQ(send.segments()[0].local.length, bytes);
    rig.sync("seen");
  }
}

void reuse(Rig& rig) {
  constexpr int kRounds = 500;
  Link link(rig, vi_attributes(1));
  Buffer out(rig, 4096);
  Buffer in(rig, 4096);
  connect(rig, link);
  Descriptor receive{};
  Descriptor send{};
  // Rank 0 begins each round; the answer says that the next receive is posted.
  via::make_receive(receive, in.data(), in.length(), in.handle());
  link.post_receive(receive);
  rig.sync("receives are posted");
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto bytes = static_cast<std::uint32_t>(1 + rig.random_below(round % 2 == 0 ? 56 : 4096));
    const auto answer = [&] {
      fill_pattern(out.data(), bytes, 2 * round + rig.rank());
      via::make_send(send, out.data(), bytes, out.handle());
      link.post_send(send);
      link.expect_next_send(send);
    };
    if (rig.first()) answer();
    link.expect_next_receive(receive);
    expect_done(receive, CompletedOperation::receive, bytes);
    in.expect(2 * round + 1 - rig.rank(), 0, bytes);
    if (round + 1 != kRounds) {
      via::make_receive(receive, in.data(), in.length(), in.handle());
      link.post_receive(receive);
    }
    if (!rig.first()) answer();
  }
  rig.sync("all rounds");
}

void inline_copy(Rig& rig) {
  const std::uint32_t bytes = rig.limits().inline_bytes;
  if (bytes == 0) rig.skip("no inline sends");
  Link link(rig);
  Buffer out(rig, bytes);
  Buffer in(rig, std::size_t{bytes} * 30);
  connect(rig, link);
  std::vector<Descriptor> receives(30);
  std::vector<Descriptor> sends(30);
  for (std::uint32_t i = 0; i < 30; ++i) {
    via::make_receive(receives[i], in.data() + i * bytes, bytes, in.handle());
    link.post_receive(receives[i]);
  }
  rig.sync("receives are posted");
  for (std::uint32_t i = 0; i < 30; ++i) {
    out.fill(i);
    via::make_send(sends[i], out.data(), bytes, out.handle());
    link.post_send(sends[i]);
    out.clear();  // the message has been copied
  }
  for (std::uint32_t i = 0; i < 30; ++i) {
    expect_done(link.next_receive(), CompletedOperation::receive, bytes);
    in.expect(i, i * bytes, bytes);
  }
  for (const Descriptor& send : sends)
    link.expect_next_send(send);  // they end before the link does
  rig.sync("all arrived");
}

constexpr Case kCases[] = {
    {"send.sizes",
     "Messages of 0 bytes to 1 MiB arrive whole, at every service level, between shared and "
     "private memory, nothing "
     "beside them is written, and status, operation and length are right",
     Party::pair, every_size},
    {"send.short", "A message shorter than its receive completes with its own length", Party::pair,
     shorter_than_receive},
    {"send.empty", "A descriptor without segments sends and receives 0 bytes", Party::pair,
     without_segments},
    {"send.one_receive_each", "Each send consumes one posted receive, in the order posted",
     Party::pair, one_receive_each},
    {"send.untouched", "A posted descriptor and its buffer are not touched before completion",
     Party::pair, untouched_before},
    {"send.reuse", "A descriptor may be used again once it has completed", Party::pair, reuse},
    {"send.inline", "Up to inline_bytes the source may change as soon as the send is posted",
     Party::pair, inline_copy},
};

}  // namespace

std::span<const Case> send_cases() { return kCases; }

}  // namespace viaduct::conformance
