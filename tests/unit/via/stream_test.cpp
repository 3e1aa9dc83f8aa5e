/// The receiver of a stream stays behind its sender (docs/channel.md). Both ends of each channel
/// belong to this rank.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "tests/unit/via/channel_words.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/channel/channel.hpp"
#include "viaduct/via/channel/group.hpp"

namespace viaduct::via::channel {
namespace {

constexpr std::uint32_t kSlots = 64;  // a sender is well ahead with 12 slots behind the next one
constexpr std::uint32_t kBudget = 8;

/// Accepts all.
struct Accepting {
  Words taken;
  bool accepts(Channel&, std::uint64_t) const { return true; }
  bool wants_housekeeping() const { return false; }
  void operator()(Channel&, Slot& slot, std::uint64_t) { taken.push_back(slot.get(0)); }
};

class StreamTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0} / 1'000'000;
  StreamTest() { there.set_pace({0, kNever}); }

  struct Ends {
    std::unique_ptr<Channel> a, b;
  };
  Ends connected() {
    Options how;
    how.slots = kSlots;
    how.release_every = 1;
    Ends ends{nic.create_channel(here, nullptr, how), nic.create_channel(there, nullptr, how)};
    connect_ends(nic, job.rank(), *ends.a, *ends.b, ++which_);
    EXPECT_EQ(take(there), Words{});  // hot from here on
    return ends;
  }
  static void send_all(Channel& channel, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) ASSERT_TRUE(send(channel, i));
  }
  /// The numbers of messages that polls take until one takes nothing. The messages are numbered on
  /// from @p next.
  std::vector<std::size_t> polls(std::uint64_t next) {
    std::vector<std::size_t> counts;
    for (;;) {
      const Words words = take(there, kBudget);
      if (words.empty()) return counts;
      EXPECT_EQ(words, numbers(next, next + words.size()));
      next += words.size();
      counts.push_back(words.size());
    }
  }

  Job job;
  Nic nic{job};
  Group here{nic};
  Group there{nic};

 private:
  std::uint64_t which_ = 0;
};

/// The opposite of a stream: one message each.
TEST_F(StreamTest, EndsTakeTurnsFromTheSecondTurnOn) {
  const Ends ends = connected();
  const auto answer = [&] {
    ASSERT_TRUE(send(*ends.b, 2));
    ASSERT_EQ(take(*ends.a), Words{2});
  };
  EXPECT_FALSE(ends.a->takes_turns());
  EXPECT_TRUE(send(*ends.a, 1));
  EXPECT_FALSE(ends.a->takes_turns()) << "after what it has sent itself";
  ASSERT_TRUE(send(*ends.b, 2));
  EXPECT_FALSE(ends.a->takes_turns()) << "before the answer is taken";
  EXPECT_EQ(take(*ends.a), Words{2});
  EXPECT_FALSE(ends.a->takes_turns()) << "the first turn";
  answer();
  EXPECT_TRUE(ends.a->takes_turns());
  answer();
  EXPECT_TRUE(ends.a->takes_turns());
  EXPECT_FALSE(ends.a->takes_turns()) << "two messages in one turn";
  answer();
  EXPECT_FALSE(ends.a->takes_turns());
}

/// The fourth full poll goes on as long as the sender is well ahead. What is there besides is left
/// to the next poll.
TEST_F(StreamTest, FullPollsOfOneChannelGoOn) {
  const Ends ends = connected();
  send_all(*ends.a, 0, kSlots);
  EXPECT_EQ(polls(0), (std::vector<std::size_t>{8, 8, 8, 8 + 3 * 8, 8}));
}

/// Behind the fourth full poll there are 12 messages, and not 12 behind the next one. So the count
/// begins anew, with the fifth poll.
TEST_F(StreamTest, EndsWhenTheSenderIsNotAheadAndBeginsAnew) {
  const Ends ends = connected();
  send_all(*ends.a, 0, 44);
  EXPECT_EQ(polls(0), (std::vector<std::size_t>{8, 8, 8, 8, 8, 4}));
  send_all(*ends.a, 44, 44 + kSlots);
  EXPECT_EQ(polls(44), (std::vector<std::size_t>{8, 8, 8 + 4 * 8, 8}));
}

TEST_F(StreamTest, OfTwoChannelsNoneGoesOn) {
  const Ends first = connected();
  const Ends second = connected();
  send_all(*first.a, 0, kSlots);
  send_all(*second.a, 0, kSlots);
  for (std::uint32_t i = 0; i < kSlots / kBudget; ++i)
    EXPECT_EQ(take(there, kBudget).size(), 2 * kBudget);
  EXPECT_EQ(take(there, kBudget), Words{});
}

TEST_F(StreamTest, GoesOnAtACertainPaceAlone) {
  const Ends ends = connected();
  const std::vector<std::size_t> plain(kSlots / kBudget, kBudget);
  const Group::Pace too_fast{kNever, kNever};
  const Group::Pace too_slow{0, 0};
  std::uint64_t sent = 0;
  for (const Group::Pace pace : {too_fast, too_slow}) {
    there.set_pace(pace);
    send_all(*ends.a, sent, sent + kSlots);
    EXPECT_EQ(polls(sent), plain);
    sent += kSlots;
  }
}

/// The handlers of a stream may become slower.
TEST_F(StreamTest, EndsWhenItBecomesSlow) {
  const Ends ends = connected();
  send_all(*ends.a, 0, kSlots);
  int messages = 0;
  auto slow = [&](Channel&, Slot&, std::uint64_t) {
    if (++messages == 4 * kBudget + 1) there.set_pace({0, 0});
  };
  for (const std::uint32_t taken : {8U, 8U, 8U, 8U + 8U})
    EXPECT_EQ(there.drain(kBudget, slow), taken);
  there.set_pace({0, kNever});
  EXPECT_EQ(polls(5 * kBudget), (std::vector<std::size_t>{8, 8, 8}));
}

/// As many polls without a message as make the last full poll an old one.
TEST_F(StreamTest, BurstsAreNoStream) {
  const Ends ends = connected();
  for (std::uint64_t burst = 0; burst < 8; ++burst) {
    send_all(*ends.a, burst * 24, burst * 24 + 24);
    EXPECT_EQ(polls(burst * 24), (std::vector<std::size_t>{8, 8, 8}));
    for (int i = 0; i < 9; ++i) EXPECT_EQ(take(there), Words{});
  }
}

TEST_F(StreamTest, AStreamGoesOnBesideAChannelThatIsSilent) {
  const Ends ends = connected();
  const Ends silent = connected();
  ASSERT_TRUE(send(*silent.a, 1));
  EXPECT_EQ(take(there), Words{1});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(take(there), Words{});
  send_all(*ends.a, 0, kSlots);
  EXPECT_EQ(polls(0), (std::vector<std::size_t>{8, 8, 8, 8 + 3 * 8, 8}));
}

/// A message of another channel has its turn behind the next budget.
TEST_F(StreamTest, StopsForOthers) {
  const Ends ends = connected();
  const Ends silent = connected();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(take(there), Words{});
  send_all(*ends.a, 0, kSlots);
  std::uint32_t messages = 0;
  auto count = [&](Channel&, Slot&, std::uint64_t) {
    if (++messages == 4 * kBudget + 1) {
      EXPECT_TRUE(send(*silent.a, 0));
    }
  };
  for (const std::uint32_t taken : {8U, 8U, 8U, 8U + 8U, 8U + 1U})
    EXPECT_EQ(there.drain(kBudget, count), taken);
}

/// After each portion the receiver tells its client, who returns credits.
TEST_F(StreamTest, TellsTheClientOfPortions) {
  const Ends ends = connected();
  send_all(*ends.a, 0, kSlots);
  struct Receiver {
    int messages = 0;
    std::vector<int> portions;
    void operator()(Channel&, Slot&, std::uint64_t) { ++messages; }
    void after_portion(Channel&) { portions.push_back(messages); }
  } receiver;
  while (there.drain(kBudget, receiver) != 0) {
  }
  EXPECT_EQ(receiver.portions, (std::vector<int>{32, 40, 48, 56}));
}

/// Nothing comes while the one thread of both ends waits.
TEST_F(StreamTest, OfALoopbackNoneGoesOn) {
  Options how;
  how.slots = kSlots;
  how.release_every = 1;
  const auto c = nic.create_channel(there, nullptr, how);
  c->connect_loopback();
  ASSERT_TRUE(send(*c, 0));
  EXPECT_EQ(take(there), Words{0});
  send_all(*c, 0, kSlots);
  EXPECT_EQ(polls(0), std::vector<std::size_t>(kSlots / kBudget, kBudget));
}

TEST_F(StreamTest, AcceptedMessagesGoOn) {
  const Ends ends = connected();
  send_all(*ends.a, 0, kSlots);
  Accepting receiver;
  std::vector<std::uint32_t> counts;
  for (bool more = false; const std::uint32_t got = there.drain_accepted(kBudget, receiver, more);)
    counts.push_back(got);
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{8, 8, 8, 8 + 3 * 8, 8}));
  EXPECT_EQ(receiver.taken, numbers(0, kSlots));
}

}  // namespace
}  // namespace viaduct::via::channel
