#include <cstring>
#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using Atomic = via::DescriptorWith<3>;

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t result = 0;
  std::memcpy(&result, at, sizeof result);
  return result;
}
void set_word(std::byte* at, std::uint64_t value) { std::memcpy(at, &value, sizeof value); }

void needs_atomics(Rig& rig) {
  if (!rig.limits().atomics) rig.skip("no atomic operations");
}

void old_values(Rig& rig) {
  needs_atomics(rig);
  for (const via::Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Link link(rig, vi_attributes(4, level));
    Buffer old(rig, 24);
    Buffer words(rig, 32, Memory::shared, via::Rights::atomic);
    connect(rig, link);
    set_word(words.data(), 100);
    set_word(words.data() + 8, 7);
    const RemoteBuffer remote = rig.exchange("the words", remote_view(words))[1];
    if (rig.first()) {
      Atomic d{};
      const auto expect_old = [&](std::uint64_t value) {
        link.post_send(d);
        link.expect_next_send(d);
        expect_done(d, CompletedOperation::atomic, 8);
        CHECK_EQ(word_at(old.data() + 8), value);
        old.expect_clear(0, 8);
        old.expect_clear(16, 8);
      };
      via::make_fetch_add(d, old.data() + 8, old.handle(), remote.address, remote.handle, 11);
      expect_old(100);
      via::make_fetch_add(d, old.data() + 8, old.handle(), remote.address, remote.handle,
                          ~std::uint64_t{0});
      expect_old(111);
      via::make_compare_swap(d, old.data() + 8, old.handle(), remote.address + 8, remote.handle, 7,
                             1ULL << 40);
      expect_old(7);
      via::make_compare_swap(d, old.data() + 8, old.handle(), remote.address + 8, remote.handle, 7,
                             5);
      expect_old(1ULL << 40);  // not equal: nothing is changed
    }
    rig.sync("done");
    if (!rig.first()) {
      CHECK_EQ(word_at(words.data()), 110);
      CHECK_EQ(word_at(words.data() + 8), 1ULL << 40);
      words.expect_clear(16, 16);
      words.expect_guards();
    }
    rig.sync("seen");
  }
}

void misaligned(Rig& rig) {
  needs_atomics(rig);
  for (const std::uint64_t offset : {1U, 4U, 7U}) {
    for (const bool add : {true, false}) {
      Note note("{} at offset {}", add ? "fetch-and-add" : "compare-and-swap", offset);
      Link link(rig, vi_attributes(4, offered_reliable_levels(rig)[0]));
      Buffer old(rig, 8);
      Buffer words(rig, 32, Memory::shared, via::Rights::all);
      connect(rig, link);
      const RemoteBuffer remote = rig.exchange("the words", remote_view(words))[1];
      if (rig.first()) {
        Atomic d{};
        if (add) {
          via::make_fetch_add(d, old.data(), old.handle(), remote.address + offset, remote.handle,
                              1);
        } else {
          via::make_compare_swap(d, old.data(), old.handle(), remote.address + offset,
                                 remote.handle, 0xEEEEEEEEEEEEEEEE, 1);
        }
        link.post_send(d);
        link.expect_next_send(d);
        expect_failed(d, via::descriptor_status::error_mask & ~via::descriptor_status::flushed);
      }
      rig.expect_state(link.vi(), via::ViState::error);
      words.expect_clear(0, 32);
      rig.sync("both in the error state");
      rig.forget_errors();
    }
  }
}

// Every rank adds to one word of rank 0, rank 0 by way of a connection to itself; nobody's addition
// is lost, and the old values that come back are all different.
struct Contention {
  Link link, self_end;
  Buffer old, words;
  RemoteBuffer remote;

  explicit Contention(Rig& rig)
      : link(rig, vi_attributes(4)),
        self_end(rig, vi_attributes(4)),
        old(rig, 8),
        words(rig, 16, Memory::shared, via::Rights::all) {
    const std::uint64_t discriminator = rig.new_discriminator();
    set_word(words.data(), 0);
    set_word(words.data() + 8, 0);
    if (rig.first()) {
      for (std::uint32_t r = 1; r < rig.size(); ++r) {
        ends.push_back(std::make_unique<Link>(rig, vi_attributes(4)));
        REQUIRE_EQ(ends.back()->vi().connect_peer_start(Rank{r}, discriminator), Status::ok);
      }
      connect_self(rig, link.vi(), self_end.vi());
      for (const auto& end : ends) {
        REQUIRE_EQ(end->vi().connect_peer_wait(kLimitNs), via::ConnectResult::connected);
      }
    } else {
      static_cast<void>(rig.new_discriminator());  // the one that connect_self took
      connect_peer(rig, link.vi(), Rank{0}, discriminator);
    }
    remote = rig.exchange("the words", remote_view(words))[0];
  }
  std::uint64_t run(Atomic& d) {
    link.post_send(d);
    link.expect_next_send(d);
    expect_done(d, CompletedOperation::atomic, 8);
    return word_at(old.data());
  }

  std::vector<std::unique_ptr<Link>> ends;
};

void contended_add(Rig& rig) {
  needs_atomics(rig);
  constexpr std::uint64_t kRounds = 3000;
  Contention c(rig);
  Atomic d{};
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    via::make_fetch_add(d, c.old.data(), c.old.handle(), c.remote.address, c.remote.handle, 1);
    const std::uint64_t before = c.run(d);
    if (i != 0 && !CHECK(before > last)) break;
    last = before;
  }
  rig.sync("all have added");
  if (rig.first()) CHECK_EQ(word_at(c.words.data()), kRounds * rig.size());
  rig.sync("seen");
}

void contended_swap(Rig& rig) {
  needs_atomics(rig);
  constexpr std::uint64_t kRounds = 500;
  Contention c(rig);
  Atomic d{};
  std::uint64_t seen = 0;
  std::uint64_t successes = 0;
  std::uint64_t attempts = 0;
  while (successes < kRounds && attempts < 1'000'000) {
    ++attempts;
    via::make_compare_swap(d, c.old.data(), c.old.handle(), c.remote.address + 8, c.remote.handle,
                           seen, seen + 1);
    const std::uint64_t before = c.run(d);
    if (before == seen) ++successes;
    seen = before == seen ? seen + 1 : before;
  }
  CHECK_EQ(successes, kRounds);
  rig.sync("all have swapped");
  if (rig.first()) CHECK_EQ(word_at(c.words.data() + 8), kRounds * rig.size());
  rig.sync("seen");
}

constexpr Case kCases[] = {
    {"atomics.values",
     "Fetch-and-add and compare-and-swap change 8 bytes at the peer and bring their old value",
     Party::pair, old_values},
    {"atomics.misaligned", "A word that is not aligned to 8 bytes is refused and not changed",
     Party::pair, misaligned},
    {"atomics.contended_add", "Additions of all ranks to one word: none is lost", Party::all,
     contended_add},
    {"atomics.contended_swap",
     "Compare-and-swap of all ranks on one word: each success counts once", Party::all,
     contended_swap},
};

}  // namespace

std::span<const Case> atomic_cases() { return kCases; }

}  // namespace viaduct::conformance
