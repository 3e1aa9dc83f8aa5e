/// Channels of one host without a client: bytes, rings, counters, groups (docs/channel.md). Both
/// ends of each channel belong to this rank.

#include "viaduct/via/channel/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "tests/unit/via/channel_words.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/channel/group.hpp"

namespace viaduct::via::channel {
namespace {

constexpr std::uint32_t kSlots = 8;
constexpr std::size_t kLine = 64;

using Lines = std::vector<std::size_t>;

/// The half that a channel sends on, as bytes and words at the offsets of the document.
class Half {
 public:
  explicit Half(Channel& c, std::size_t extra = 0)
      : begin_(c.prepare_extra() - (256 + 64 * kSlots)), size_(256 + 64 * kSlots + extra) {}

  [[nodiscard]] std::byte* at(std::size_t offset) const { return begin_ + offset; }
  [[nodiscard]] std::uint64_t word(std::size_t offset) const {
    return load_word(*reinterpret_cast<std::uint64_t*>(begin_ + offset), kRelaxed);
  }
  void put(std::size_t offset, std::uint64_t value) const {
    store_word(*reinterpret_cast<std::uint64_t*>(begin_ + offset), value, kRelaxed);
  }
  [[nodiscard]] std::uint64_t header_of(std::uint64_t slot) const {
    return word(256 + 64 * slot + 56);
  }
  [[nodiscard]] bool doorbell_wanted() const { return (word(128) & 0xffffffff) != 0; }
  /// The cache lines that @p act changes.
  template <class Act>
  Lines changed_by(Act act) const {
    const std::vector<std::byte> before(begin_, begin_ + size_);
    act();
    Lines changed;
    for (std::size_t at = 0; at < size_; at += kLine)
      if (std::memcmp(&before[at], begin_ + at, kLine) != 0) changed.push_back(at);
    return changed;
  }

 private:
  std::byte* begin_;
  std::size_t size_;
};

class ChannelTest : public ::testing::Test {
 protected:
  struct Ends {
    std::unique_ptr<Channel> a, b;
  };
  static Options options(std::uint32_t release_every = 1, std::size_t extra = 0) {
    Options made;
    made.slots = kSlots;
    made.release_every = release_every;
    made.extra_bytes = extra;
    return made;
  }
  Ends make(const Options& how) {
    return {nic.create_channel(here, nullptr, how), nic.create_channel(there, nullptr, how)};
  }
  void connect(const Ends& ends) { connect_ends(nic, job.rank(), *ends.a, *ends.b, ++which_); }
  Ends connected(const Options& how = options()) {
    Ends ends = make(how);
    connect(ends);
    return ends;
  }
  /// As many polls as it takes until the group has looked at every channel that is aside.
  void poll_long(Group& group) {
    for (int i = 0; i < 64 * 4; ++i) EXPECT_EQ(take(group), Words{});
  }

  Job job;
  Nic nic{job};
  Group here{nic};
  Group there{nic};

 private:
  std::uint64_t which_ = 0;
};

// Bytes.

TEST_F(ChannelTest, BytesLieWhereTheDocumentSays) {
  EXPECT_EQ(offsetof(ChannelHead, receiver), 0U);
  EXPECT_EQ(offsetof(ReceiverLine, posted), 0U);
  EXPECT_EQ(offsetof(ReceiverLine, client_counter), 8U);
  EXPECT_EQ(offsetof(ReceiverLine, checked), 24U);
  EXPECT_EQ(sizeof(ReceiverLine), 128U);
  EXPECT_EQ(offsetof(ChannelHead, notify), 128U);
  EXPECT_EQ(offsetof(NotifyLine, wanted), 0U);
  EXPECT_EQ(ChannelHead::bytes_for(kSlots), 256U + 64 * kSlots);
  EXPECT_EQ(checked_counter::word_of(0x500000007) & 0xffffffff, 7U);

  const Ends ends = make(options());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Half(*ends.a).at(0)) % 128, 0U);
}

TEST_F(ChannelTest, HeaderHasItsFieldsWhereTheDocumentSays) {
  const Ends ends = connected();
  const Half half(*ends.a);
  const Words words = numbers(500, 500 + 15);
  ASSERT_TRUE(ends.a->try_send_lines(header::make(MessageKind::inline_data, 15 * 8, kClient),
                                     std::span(words).first(15), {}));
  const std::uint64_t first = half.header_of(0);
  EXPECT_EQ(first & 1, 1U);
  EXPECT_EQ(first >> 1 & 7, static_cast<std::uint64_t>(MessageKind::inline_data));
  EXPECT_EQ(first >> 4 & 3, 2U);
  EXPECT_EQ(first >> 8 & 0xff, 15U * 8);
  EXPECT_EQ(first >> 16, kClient);
  EXPECT_EQ(half.header_of(1), 1 | static_cast<std::uint64_t>(MessageKind::continuation) << 1);
  for (std::uint64_t i = 0; i < 15; ++i)
    EXPECT_EQ(half.word(256 + i / 7 * 64 + i % 7 * 8), 500 + i);
}

TEST_F(ChannelTest, EachLineHasOneWriter) {
  const Ends ends = connected(options(1, kLine));
  std::byte* const extra = ends.a->prepare_extra();
  const Half half(*ends.a, kLine);
  const Half other(*ends.b, kLine);
  const auto expect = [&](const Lines& wanted, auto act) {
    Lines changed;
    EXPECT_EQ(other.changed_by([&] { changed = half.changed_by(act); }), Lines{});
    EXPECT_EQ(changed, wanted);
  };
  // The sender writes slots and extra bytes, and nothing else.
  expect({256}, [&] { EXPECT_TRUE(send(*ends.a, 1)); });
  expect({320}, [&] { EXPECT_TRUE(send(*ends.a, 2)); });
  expect({256 + 64 * kSlots}, [&] { extra[0] = std::byte{1}; });
  // The receiver writes its two lines.
  expect({128}, [&] { EXPECT_EQ(take(there, 0), Words{}); });  // hot: no doorbell from here on
  expect({0}, [&] { EXPECT_EQ(take(*ends.b), (Words{1, 2})); });
  expect({0}, [&] { ends.b->publish_counter(0, 5); });
  expect({128}, [&] { there.set_all_aside(); });
}

TEST_F(ChannelTest, ExtraBytesAreZeroAndReadByThePeer) {
  constexpr std::size_t kExtra = 200;
  const Ends ends = make(options(1, kExtra));
  std::byte* const mine = ends.a->prepare_extra();
  EXPECT_TRUE(std::all_of(mine, mine + kExtra, [](std::byte b) { return b == std::byte{0}; }));
  connect(ends);
  std::memset(mine, 0x5A, kExtra);
  for (std::uint64_t i = 0; i < 2 * kSlots; ++i) {
    ASSERT_TRUE(send(*ends.a, i));
    EXPECT_EQ(take(*ends.b), Words{i});
  }
  EXPECT_EQ(std::memcmp(ends.b->peer_extra(), mine, kExtra), 0);
  EXPECT_TRUE(std::all_of(mine, mine + kExtra, [](std::byte b) { return b == std::byte{0x5A}; }));
}

TEST_F(ChannelTest, RingIsAPowerOfTwoFromFourOn) {
  for (const std::uint32_t slots : {0U, 2U, 12U, 131072U}) {
    Options how = options();
    how.slots = slots;
    EXPECT_THROW((void)nic.create_channel(here, nullptr, how), Error) << slots;
  }
  EXPECT_THROW((void)nic.create_channel(here, nullptr, options(0)), Error);
  EXPECT_THROW((void)nic.create_channel(here, nullptr, options(kSlots / 2 + 1)), Error);
}

// The ring.

TEST_F(ChannelTest, MessagesComeInTheirOrderLapAfterLap) {
  const Ends ends = connected();
  const Half half(*ends.a);
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  for (std::uint32_t step = 0; step < 200; ++step) {
    for (std::uint32_t i = 0; i < step % (kSlots + 1); ++i, ++sent) {
      ASSERT_TRUE(send(*ends.a, sent));
      EXPECT_EQ(half.header_of(sent % kSlots) & 1, (sent / kSlots + 1) % 2);
    }
    EXPECT_EQ(ends.a->slots_sent(), sent);
    EXPECT_EQ(take(*ends.b), numbers(taken, sent));
    taken = sent;
    EXPECT_EQ(take(*ends.b), Words{});
  }
  EXPECT_GT(sent, 90U * kSlots);
}

TEST_F(ChannelTest, NothingIsThereBeforeItIsPublished) {
  const Ends ends = connected();
  EXPECT_EQ(take(*ends.b), Words{});
  Slot* const slot = ends.a->claim();
  ASSERT_NE(slot, nullptr);
  slot->put(0, 7);
  EXPECT_EQ(take(*ends.b), Words{});
  EXPECT_FALSE(ends.b->has_arrivals());
  EXPECT_EQ(ends.a->claim(), slot);  // nothing has been taken
  ends.a->publish(*slot, header::make(MessageKind::inline_data, 8, 0));
  EXPECT_TRUE(ends.b->has_arrivals());
  EXPECT_EQ(take(*ends.b), Words{7});
}

TEST_F(ChannelTest, SenderStopsAtAFullRingAndGoesOnAfterARelease) {
  const Ends ends = connected(options(2));
  for (std::uint64_t i = 0; i < kSlots; ++i) ASSERT_TRUE(send(*ends.a, i));
  EXPECT_EQ(ends.a->claim(), nullptr);
  EXPECT_EQ(ends.a->slots_returned(), 0U);

  EXPECT_EQ(take(*ends.b, 1), Words{0});  // withheld: slots are returned two at a time
  EXPECT_EQ(ends.a->claim(), nullptr);
  EXPECT_EQ(take(*ends.b, 2), (Words{1, 2}));
  EXPECT_EQ(ends.a->known_room(), 0U);  // does not look at the peer's line
  EXPECT_TRUE(send(*ends.a, 8));
  EXPECT_TRUE(send(*ends.a, 9));
  EXPECT_FALSE(send(*ends.a, 10));
  EXPECT_EQ(ends.a->slots_returned(), 2U);

  ends.b->release_slots();
  EXPECT_EQ(ends.a->slots_returned(), 3U);
  EXPECT_TRUE(send(*ends.a, 10));
  EXPECT_EQ(take(*ends.b), numbers(3, 11));
}

TEST_F(ChannelTest, MessagesOfSeveralLinesStayWhole) {
  const Ends ends = connected();
  std::uint32_t crossed = 0;
  for (std::uint32_t count = 1, round = 0; round < 63; count = count % 21 + 1, ++round) {
    const Words words = numbers(round * 100, round * 100 + count);
    const std::uint32_t lines = (count + 6) / 7;
    const std::uint64_t sent = ends.a->slots_sent();
    ASSERT_TRUE(ends.a->try_send_lines(header::make(MessageKind::inline_data, count * 8, round),
                                       std::span(words).first(count), {}));
    EXPECT_EQ(ends.a->slots_sent(), sent + lines);
    if (sent % kSlots + lines > kSlots) ++crossed;
    int messages = 0;
    auto check = [&](Channel& c, Slot& first, std::uint64_t h) {
      ++messages;
      EXPECT_EQ(header::length(h), count * 8);
      EXPECT_EQ(header::client(h), round);
      EXPECT_EQ(header::extra_lines(h), lines - 1);
      const Slot* slot = &first;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (i != 0 && i % 7 == 0) slot = &c.slot_after(*slot);
        EXPECT_EQ(slot->words[i % 7], words[i]);
      }
    };
    EXPECT_EQ(ends.b->drain(kAll, check), 1U);
    EXPECT_EQ(messages, 1);
  }
  EXPECT_GT(crossed, 5U);
}

/// Data lie behind the words, from the next whole word on, whatever their number.
TEST_F(ChannelTest, DataFollowTheWords) {
  const Ends ends = connected();
  std::vector<std::byte> data(160);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i + 1);
  constexpr std::array<std::size_t, 8> kCounts{0, 1, 6, 7, 8, 13, 14, 20};
  for (const std::size_t count : kCounts)
    for (std::size_t bytes = 0; bytes <= data.size() && 8 * count + bytes <= 168; ++bytes) {
      if (count + bytes == 0) continue;
      const Words words = numbers(1000, 1000 + count);
      ASSERT_TRUE(ends.a->try_send_lines(header::make(MessageKind::inline_data, 0, 0), words,
                                         std::span(data).first(bytes)));
      auto check = [&](Channel& c, Slot& first, std::uint64_t h) {
        EXPECT_EQ(header::extra_lines(h), (8 * count + bytes + 55) / 56 - 1);
        std::array<std::uint64_t, 21> all{};
        const Slot* slot = &first;
        for (std::uint32_t i = 0; i <= header::extra_lines(h); ++i) {
          if (i != 0) slot = &c.slot_after(*slot);
          slot->get_line(all.data() + 7 * i);
        }
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(all[i], words[i]);
        EXPECT_EQ(std::memcmp(all.data() + count, data.data(), bytes), 0) << count << " " << bytes;
      };
      EXPECT_EQ(ends.b->drain(kAll, check), 1U);
    }
}

TEST_F(ChannelTest, MessageOfSeveralLinesNeedsRoomForAll) {
  const Ends ends = connected(options(kSlots / 2));
  const Words words = numbers(0, 21);
  const std::uint64_t head = header::make(MessageKind::inline_data, 21 * 8, 0);
  for (std::uint64_t i = 0; i < kSlots - 2; ++i) ASSERT_TRUE(send(*ends.a, i));
  EXPECT_FALSE(ends.a->try_send_lines(head, std::span(words).first(21), {}));
  EXPECT_EQ(take(*ends.b), numbers(0, kSlots - 2));
  EXPECT_TRUE(ends.a->try_send_lines(head, std::span(words).first(21), {}));
  EXPECT_EQ(take(*ends.b).size(), 1U);
}

TEST_F(ChannelTest, SlotIsOffTheRingBeforeItsMessageIsHandedOver) {
  const Ends ends = connected();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(send(*ends.a, i));
  Words inside;
  auto poll_again = [&](Channel& c, Slot& slot, std::uint64_t) {
    EXPECT_EQ(slot.get(0), 0U);
    inside = take(c);
  };
  EXPECT_EQ(ends.b->drain(kAll, poll_again), 1U);
  EXPECT_EQ(inside, (Words{1, 2}));
}

// Counters.

TEST_F(ChannelTest, CountersTakeNoSlotAndDoNotMix) {
  const Ends ends = connected(options(4));
  const Half half(*ends.a);
  ends.b->publish_counter(0, 11);
  ends.b->publish_counter(1, 1ULL << 40);
  EXPECT_EQ(ends.a->peer_counter(0), 11U);
  EXPECT_EQ(ends.a->peer_counter(1), 1ULL << 40);
  EXPECT_EQ(half.word(8), 11U);
  EXPECT_EQ(half.word(16), 1ULL << 40);
  EXPECT_EQ(half.word(0), kSlots);  // posted
  EXPECT_EQ(ends.b->peer_counter(0), 0U);
  EXPECT_EQ(ends.b->slots_sent(), 0U);

  ASSERT_TRUE(send(*ends.a, 1));
  EXPECT_EQ(take(*ends.b), Words{1});
  EXPECT_EQ(ends.a->slots_returned(), 0U);
  ends.b->release_and_publish(0, 12);
  EXPECT_EQ(ends.a->slots_returned(), 1U);
  EXPECT_EQ(ends.a->peer_counter(0), 12U);
}

// Groups.

TEST_F(ChannelTest, GroupTakesABudgetOfEachChannelInItsOrder) {
  std::vector<Ends> all;
  for (int i = 0; i < 3; ++i) all.push_back(connected());
  EXPECT_EQ(take(there), Words{});  // all are hot from here on
  EXPECT_TRUE(there.has_hot());
  for (std::uint64_t c = 0; c < 3; ++c)
    for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(send(*all[c].a, c * 10 + i));
  std::vector<Words> of(3);
  auto note = [&](Channel&, Slot& slot, std::uint64_t) {
    of[slot.get(0) / 10].push_back(slot.get(0));
  };
  for (std::uint64_t polled : {2U, 4U, 5U}) {
    (void)there.drain(2, note);
    for (std::uint64_t c = 0; c < 3; ++c) EXPECT_EQ(of[c], numbers(c * 10, c * 10 + polled));
  }
}

TEST_F(ChannelTest, ChannelsThatFindNoPlaceRingTheDoorbell) {
  constexpr std::uint64_t kChannels = 10;
  constexpr std::ptrdiff_t kMostHot = 8;
  std::vector<Ends> all;
  for (std::uint64_t i = 0; i < kChannels; ++i) all.push_back(connected());
  EXPECT_EQ(take(there), Words{});
  const auto wants = [](const Ends& ends) { return Half(*ends.a).doorbell_wanted(); };
  EXPECT_EQ(std::count_if(all.begin(), all.end(), wants), kChannels - kMostHot);
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < kChannels; ++i) ASSERT_TRUE(send(*all[i].a, i));
    EXPECT_TRUE(there.looks_busy());
    Words got = take(there);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, numbers(0, kChannels));
    EXPECT_FALSE(there.looks_busy());
  }
  // More than the budget on a channel that stays aside: the next polls go on with it.
  const auto aside = std::find_if(all.begin(), all.end(), wants);
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(send(*aside->a, i));
  EXPECT_EQ(take(there, 2), (Words{0, 1}));
  EXPECT_EQ(take(there, 2), (Words{2, 3}));
  EXPECT_EQ(take(there, 2), Words{4});
}

TEST_F(ChannelTest, SetAsideHasTheSenderRingAndReturnsWhatWasWithheld) {
  const Ends ends = connected(options(4));
  EXPECT_EQ(take(there), Words{});
  EXPECT_FALSE(Half(*ends.a).doorbell_wanted());
  ASSERT_TRUE(send(*ends.a, 1));
  EXPECT_EQ(take(there), Words{1});
  EXPECT_EQ(ends.a->slots_returned(), 0U);
  there.set_all_aside();
  EXPECT_FALSE(there.has_hot());
  EXPECT_TRUE(Half(*ends.a).doorbell_wanted());
  EXPECT_EQ(ends.a->slots_returned(), 1U);
  ASSERT_TRUE(send(*ends.a, 2));
  EXPECT_EQ(take(there), Words{2});
  EXPECT_TRUE(there.has_hot());
}

/// The sender may miss once that its doorbell is wanted.
TEST_F(ChannelTest, MessageThatRangNoDoorbellIsFoundAllTheSame) {
  const Ends ends = connected();
  EXPECT_EQ(take(there), Words{});
  there.set_all_aside();
  Slot* const slot = ends.a->claim();
  ASSERT_NE(slot, nullptr);
  slot->put(0, 3);
  (void)ends.a->publish_quietly(*slot, header::make(MessageKind::inline_data, 8, 0));
  Words got;
  int polls = 0;
  for (; got.empty() && polls < 200; ++polls) got = take(there);
  EXPECT_EQ(got, Words{3});
  EXPECT_GT(polls, 1);
}

TEST_F(ChannelTest, DrainAcceptedStopsAtWhatIsNotAccepted) {
  const Ends ends = connected();
  EXPECT_EQ(take(there), Words{});
  struct Receiver {
    Words taken;
    bool accepts(Channel&, std::uint64_t h) const { return header::client(h) == 0; }
    bool wants_housekeeping() const { return false; }
    void operator()(Channel&, Slot& slot, std::uint64_t) { taken.push_back(slot.get(0)); }
  } receiver;
  const auto send_kind = [&](std::uint64_t word, std::uint64_t client) {
    Slot* const slot = ends.a->claim();
    ASSERT_NE(slot, nullptr);
    slot->put(0, word);
    ends.a->publish(*slot, header::make(MessageKind::inline_data, 8, client));
  };
  send_kind(1, 0), send_kind(2, 0), send_kind(3, 9), send_kind(4, 0);
  bool more = false;
  EXPECT_EQ(there.drain_accepted(1, receiver, more), 1U);
  EXPECT_FALSE(more);
  EXPECT_EQ(there.drain_accepted(kAll, receiver, more), 1U);
  EXPECT_TRUE(more);
  EXPECT_EQ(receiver.taken, (Words{1, 2}));
  EXPECT_EQ(take(there), (Words{3, 4}));
}

// The end, and nonsense.

TEST_F(ChannelTest, SentBeforeTheEndIsTakenAfterIt) {
  const Ends ends = connected();
  ASSERT_TRUE(send(*ends.a, 1));
  ASSERT_TRUE(send(*ends.b, 2));
  ends.a->disconnect();
  EXPECT_FALSE(send(*ends.a, 3));
  nic.progress();
  EXPECT_EQ(ends.b->state(), ViState::error);
  EXPECT_FALSE(send(*ends.b, 3));
  EXPECT_EQ(take(*ends.b), Words{1});
  ends.b->disconnect();
  nic.progress();
  connect(ends);  // the same objects, with rings of their own
  EXPECT_EQ(take(*ends.b), Words{});
  ASSERT_TRUE(send(*ends.a, 4));
  EXPECT_EQ(take(*ends.b), Words{4});
}

TEST_F(ChannelTest, LoopbackReceivesItsOwnMessages) {
  const auto c = nic.create_channel(here, nullptr, options());
  c->connect_loopback();
  for (std::uint64_t i = 0; i < 3 * kSlots; ++i) {
    ASSERT_TRUE(send(*c, i));
    EXPECT_EQ(take(here), Words{i});
  }
}

TEST_F(ChannelTest, RoomThatCannotBeEndsTheConnection) {
  for (const std::uint64_t posted : {std::uint64_t{2 * kSlots + 1}, std::uint64_t{kSlots - 1}}) {
    const Ends ends = connected();
    std::vector<ErrorCause> causes;
    nic.on_ended([&](ChannelEnd&, ErrorCause cause) { causes.push_back(cause); });
    for (std::uint64_t i = 0; i < kSlots; ++i) ASSERT_TRUE(send(*ends.a, i));
    Half(*ends.a).put(0, posted);
    EXPECT_EQ(ends.a->claim(), nullptr);
    EXPECT_EQ(ends.a->state(), ViState::error);
    nic.progress();
    EXPECT_EQ(ends.b->state(), ViState::error);
    EXPECT_EQ(causes, (std::vector{ErrorCause::format, ErrorCause::format}));
    nic.on_ended({});
  }
}

TEST_F(ChannelTest, BytesThatAreNoMessageEndTheConnection) {
  for (const std::uint64_t behind : {0U, 3U}) {  // in the next slot, or in one behind it
    const Ends ends = connected();
    Half(*ends.a).put(256 + 64 * behind + 56, behind == 0 ? 0x600 : 0x603);
    poll_long(there);
    EXPECT_EQ(ends.b->state(), ViState::error) << behind;
    nic.progress();
    EXPECT_EQ(ends.a->state(), ViState::error) << behind;
  }
}

}  // namespace
}  // namespace viaduct::via::channel
