#include <algorithm>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "tests/conformance/lists.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;

std::uint32_t random_total(Rig& rig) {
  constexpr std::uint32_t kBounds[] = {56, 300, 5000, 40000};
  const std::uint32_t bound =
      std::min(kBounds[rig.random_below(4)], rig.limits().max_transfer_bytes);
  return static_cast<std::uint32_t>(rig.random_below(bound + 1));
}

// Rank 0 gathers, rank 1 scatters. Both draw the same numbers.
void gather_and_scatter(Rig& rig) {
  const std::uint32_t most = rig.limits().max_segments;
  const std::size_t room = List::room(most, 60000);
  Link link(rig);
  connect(rig, link);
  for (const Memory memory : kMemories) {
    Buffer buffer(rig, room, memory);
    for (std::uint32_t round = 0; round < 6 * most; ++round) {
      const std::uint32_t gathered = round % most + 1;
      const auto scattered = static_cast<std::uint32_t>(rig.random_below(most) + 1);
      const std::uint32_t bytes = random_total(rig);
      const auto spare = static_cast<std::uint32_t>(rig.random_below(3) * rig.random_below(2000));
      Note note("{} bytes from {} segments to {} with {} bytes to spare, {} memory", bytes,
                gathered, scattered, spare, name_of(memory));
      const List from(rig.random(), buffer, gathered, bytes);
      const List to(rig.random(), buffer, scattered, bytes + spare);
      AnyDescriptor d{};
      buffer.clear();
      if (!rig.first()) {
        via::make_list(d, to.data(), to.count());
        link.post_receive(d);
      }
      rig.sync("a receive is posted");
      if (rig.first()) {
        from.fill(round);
        via::make_list(d, from.data(), from.count());
        link.post_send(d);
        link.expect_next_send(d);
        expect_done(d, CompletedOperation::send, bytes);
        from.expect(round, bytes);
      } else {
        link.expect_next_receive(d);
        expect_done(d, CompletedOperation::receive, bytes);
        to.expect(round, bytes);
        buffer.expect_guards();
        std::size_t written = 0;
        for (std::size_t i = 0; i < buffer.bytes(); ++i)
          written += buffer.data()[i] != std::byte{0xEE} ? 1 : 0;
        CHECK(written <= bytes);
      }
    }
  }
  rig.sync("all rounds");
}

// Segments of one list in shared and in private memory, of several regions. At reliable reception
// the send completes only when the receiver has taken the message out of any memory between them.
void mixed_regions(Rig& rig, via::Reliability level) {
  Note note("{}", name_of(level));
  Buffer a(rig, 100, Memory::shared);
  Buffer b(rig, 5000, Memory::private_);
  Buffer c(rig, 33, Memory::private_);
  Buffer d(rig, 1000, Memory::shared);
  const via::LocalSegment forward[] = {a.segment(0, 100), b.segment(0, 5000), c.segment(0, 33),
                                       d.segment(0, 1000)};
  const via::LocalSegment backward[] = {d.segment(0, 1000), c.segment(0, 33), b.segment(0, 5000),
                                        a.segment(0, 100)};
  AnyDescriptor descriptor{};
  Link link(rig, vi_attributes(4, level));  // goes first: it may still have the descriptor
  connect(rig, link);
  if (rig.first()) {
    a.fill(1), b.fill(2), c.fill(3), d.fill(4);
    rig.sync("a receive is posted");
    via::make_list(descriptor, backward, 4);
    link.post_send(descriptor);
    expect_done(link.next_send(), CompletedOperation::send, 6133);
  } else {
    via::make_list(descriptor, forward, 4);
    link.post_receive(descriptor);
    rig.sync("a receive is posted");
    expect_done(link.next_receive(), CompletedOperation::receive, 6133);
    a.expect(4, 0, 100);  // the message: 1000 bytes of d, 33 of c, 5000 of b, 100 of a
    CHECK_EQ(matching(b.data(), 900, 4, 100), 900);
    CHECK_EQ(matching(b.data() + 900, 33, 3), 33);
    CHECK_EQ(matching(b.data() + 933, 4067, 2), 4067);
    CHECK_EQ(matching(c.data(), 33, 2, 4067), 33);
    CHECK_EQ(matching(d.data(), 900, 2, 4100), 900);
    CHECK_EQ(matching(d.data() + 900, 100, 1), 100);
    for (const Buffer* buffer : {&a, &b, &c, &d}) buffer->expect_guards();
  }
  rig.sync("seen");
}

void mixed_regions(Rig& rig) {
  if (rig.limits().max_segments < 4) rig.skip("fewer than 4 segments");
  for (const via::Reliability level : offered_reliable_levels(rig)) mixed_regions(rig, level);
}

constexpr Case kCases[] = {
    {"lists.random",
     "Any gather list of 1 to max_segments segments arrives in any scatter list, in order and "
     "nowhere else",
     Party::pair, gather_and_scatter},
    {"lists.mixed",
     "Segments of one list may lie in several regions, shared and private, at every reliable level",
     Party::pair, mixed_regions},
};

}  // namespace

std::span<const Case> list_cases() { return kCases; }

}  // namespace viaduct::conformance
