/// The part of a channel that decides which bytes its transport takes to the peer, and when
/// (via/channel/remote.cpp): two ends of one rank, and a transport by memcpy.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#ifdef COUNTS_ALLOCATIONS
#include "tests/unit/allocations.hpp"
#endif
#include "tests/unit/via/channel_words.hpp"
#include "tests/unit/via/fake_transport.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/channel/group.hpp"

namespace viaduct::via::channel {
namespace {

constexpr std::uint32_t kSlots = 8;
constexpr std::size_t kExtra = 256;
constexpr std::uint32_t kExtraAt = 256 + 64 * kSlots;
// Upper four bits of a notification.
constexpr std::uint32_t kWakeMe = 1U << 28;
constexpr std::uint32_t kWake = 2U << 28;

class RemoteChannelTest : public ::testing::Test {
 protected:
  RemoteChannelTest() {
    auto made = std::make_unique<FakeTransport>();
    transport = made.get();
    nic.use_transport(std::move(made), [](Rank) { return true; });
    nic.on_ended([this](ChannelEnd&, ErrorCause cause) { causes.push_back(cause); });
  }
  void connect(std::uint32_t release_every = 1) {
    connect(a, b, 1, release_every);
    transport->posted.clear();
  }
  void connect(std::unique_ptr<Channel>& one, std::unique_ptr<Channel>& other,
               std::uint64_t discriminator, std::uint32_t release_every = 1) {
    Options options;
    options.slots = kSlots;
    options.release_every = release_every;
    options.extra_bytes = kExtra;
    options.remote = true;
    options.notifications = kSlots + 4;
    one = nic.create_channel(here, nullptr, options);
    other = nic.create_channel(there, nullptr, options);
    mine = one->prepare_extra();
    EXPECT_EQ(one->connect_peer_start(job.rank(), discriminator), Status::ok);
    EXPECT_EQ(other->connect_peer_start(job.rank(), discriminator), Status::ok);
    for (int i = 0; i < 8; ++i) nic.progress();
    ASSERT_EQ(one->state(), ViState::connected);
    ASSERT_EQ(other->state(), ViState::connected);
  }

  /// The writes since the last call, as "owner: offset+bytes ...", "<" for those that go back, "!"
  /// for those that notify.
  std::string writes() {
    std::string all;
    for (const Posted& post : transport->posted) {
      all += post.owner == static_cast<ChannelEnd*>(a.get()) ? "a" : "b";
      all += post.back ? "<" : "";
      for (std::size_t i = 0; i < post.count; ++i)
        all += (i == 0 ? "" : ",") + std::to_string(post.pieces[i].offset) + "+" +
               std::to_string(post.pieces[i].bytes);
      all += post.tell ? "! " : " ";
    }
    transport->posted.clear();
    return all;
  }
  void notify(Channel& of, std::uint32_t notification, ErrorCause failure = ErrorCause::none) {
    transport->events.push_back({static_cast<ChannelEnd*>(&of), notification, failure});
  }

  std::vector<ErrorCause> causes;
  Job job;
  Nic nic{job};
  Group here{nic};
  Group there{nic};
  FakeTransport* transport = nullptr;
  std::unique_ptr<Channel> a, b;
  std::byte* mine = nullptr;  // extra bytes of a, or of the first channel that was connected last
};

// Messages.

TEST_F(RemoteChannelTest, MessageIsOneWriteAndHandedOverInThePollThatFindsIt) {
  connect();
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(send(*a, i));
    EXPECT_EQ(writes(), "a" + std::to_string(256 + 64 * (i % kSlots)) + "+64! ");
    EXPECT_FALSE(b->has_arrivals());  // its phase bit travels inverted
    EXPECT_EQ(take(there), Words{i});
    (void)writes();
  }
}

TEST_F(RemoteChannelTest, MessageOfSeveralLinesIsOneWriteAlsoRoundTheEnd) {
  connect();
  const Words words = numbers(0, 21);
  const auto send_three = [&] {
    return a->try_send_lines(header::make(MessageKind::inline_data, 21 * 8, 0),
                             std::span(words).first(21), {});
  };
  const char* const expected[] = {"a256+192! ", "a448+192! ", "a640+128,256+64! ", "a320+192! "};
  for (const char* wanted : expected) {
    ASSERT_TRUE(send_three());
    EXPECT_EQ(writes(), wanted);
    Words got;
    auto note = [&](Channel& c, Slot& first, std::uint64_t h) {
      EXPECT_EQ(header::extra_lines(h), 2U);
      const Slot* slot = &first;
      for (std::uint32_t i = 0; i < 21; ++i) {
        if (i != 0 && i % 7 == 0) slot = &c.slot_after(*slot);
        got.push_back(slot->words[i % 7]);
      }
    };
    EXPECT_EQ(there.drain(kAll, note), 1U);
    EXPECT_EQ(got, words);
    (void)writes();
  }
}

TEST_F(RemoteChannelTest, WithoutRoomMessagesStayInTheRingAndGoOnceInOrder) {
  connect();
  transport->room = 2;
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(send(*a, i));
  EXPECT_EQ(writes(), "a256+64! a320+64! ");
  EXPECT_EQ(take(there), (Words{0, 1}));
  (void)writes();
  transport->room = 1;
  EXPECT_EQ(take(here), Words{});  // any poll posts the backlog
  EXPECT_EQ(writes(), "a384+64! ");
  ASSERT_TRUE(send(*a, 5));
  transport->room = FakeTransport::kNoLimit;
  EXPECT_EQ(take(here), Words{});
  EXPECT_EQ(writes(), "a448+64! a512+64! a576+64! ");
  EXPECT_EQ(take(there), numbers(2, 6));
  ASSERT_TRUE(send(*a, 6));  // the short way again
  EXPECT_EQ(take(there), Words{6});
}

// Credits and counters.

TEST_F(RemoteChannelTest, SenderStopsAtAFullRingAndGoesOnAfterARelease) {
  connect(4);
  for (std::uint64_t i = 0; i < kSlots; ++i) ASSERT_TRUE(send(*a, i));
  EXPECT_EQ(a->claim(), nullptr);
  (void)writes();
  EXPECT_EQ(take(there, 3), numbers(0, 3));
  EXPECT_EQ(writes(), "");  // withheld
  EXPECT_EQ(a->claim(), nullptr);
  EXPECT_EQ(take(there, 1), Words{3});
  EXPECT_EQ(writes(), "b<24+24 ");
  EXPECT_EQ(a->slots_returned(), 4U);
  for (std::uint64_t i = kSlots; i < kSlots + 4; ++i) ASSERT_TRUE(send(*a, i));
  EXPECT_EQ(a->claim(), nullptr);
  EXPECT_EQ(take(there), numbers(4, kSlots + 4));
}

TEST_F(RemoteChannelTest, CountersAreTakenOnlyWhenTheirWordIsWhole) {
  connect();
  b->publish_counter(0, 300);
  b->publish_counter(1, 7);
  EXPECT_EQ(a->peer_counter(0), 300U);
  EXPECT_EQ(a->peer_counter(1), 7U);
  auto& line = *reinterpret_cast<ReceiverLine*>(mine - kExtraAt);
  line.checked[0 + 1].store(checked_counter::word_of(301) ^ 0xff);
  EXPECT_EQ(a->peer_counter(0), 300U);
  line.checked[0 + 1].store(checked_counter::word_of(301));
  EXPECT_EQ(a->peer_counter(0), 301U);
}

TEST_F(RemoteChannelTest, CountersGoBeforeLaterMessages) {
  connect();
  transport->back_room = 0;
  b->publish_counter(0, 1);
  ASSERT_TRUE(send(*b, 5));
  EXPECT_EQ(writes(), "");  // the message waits for the counters
  EXPECT_EQ(a->peer_counter(0), 0U);
  transport->back_room = 1;
  EXPECT_EQ(take(there), Words{});
  EXPECT_EQ(writes(), "b<24+24 b256+64! ");
  EXPECT_EQ(a->peer_counter(0), 1U);
  transport->back_room = FakeTransport::kNoLimit;
  EXPECT_EQ(take(here), Words{5});
}

TEST_F(RemoteChannelTest, PeerThatGoesToSleepIsToldOfCounters) {
  connect(4);
  ASSERT_TRUE(send(*a, 1));
  EXPECT_EQ(take(there), Words{1});
  (void)writes();
  notify(*b, kWakeMe);
  EXPECT_EQ(take(there), Words{});
  EXPECT_EQ(writes(), "b<24+24! ");  // the slot that was withheld
  ASSERT_EQ(transport->events.size(), 1U);
  EXPECT_EQ(transport->events[0].notification, kWake);
  EXPECT_EQ(a->slots_returned(), 1U);

  notify(*b, kWakeMe);
  EXPECT_EQ(take(there), Words{});
  EXPECT_EQ(writes(), "");  // nothing has changed: the next change tells
  b->publish_counter(0, 9);
  EXPECT_EQ(writes(), "b<24+24! ");
  b->publish_counter(0, 10);
  EXPECT_EQ(writes(), "b<24+24 ");  // once asked, once told
  notify(*b, kWakeMe);
  EXPECT_EQ(take(there), Words{});
  EXPECT_EQ(writes(), "b<24+24! ");  // the peer may sleep over the one before
}

// Extra bytes.

TEST_F(RemoteChannelTest, ExtraBytesGoWithTheNextMessage) {
  connect();
  std::memset(mine, 1, kExtra);
  a->forward_extra(mine + 64, 100);
  EXPECT_EQ(writes(), "");
  ASSERT_TRUE(send(*a, 1));
  EXPECT_EQ(writes(), "a" + std::to_string(kExtraAt + 64) + "+100,256+64! ");
  EXPECT_EQ(std::memcmp(b->peer_extra() + 64, mine, 100), 0);
  EXPECT_EQ(b->peer_extra()[63], std::byte{0});
  EXPECT_EQ(b->peer_extra()[164], std::byte{0});
  EXPECT_EQ(take(there), Words{1});
}

TEST_F(RemoteChannelTest, ExtraBytesOfEachMessageGoBeforeItAlsoWithoutRoom) {
  connect();
  transport->room = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    a->forward_extra(mine + 10 * std::size_t{i}, 10);
    if (i == 1) a->forward_extra(mine + 200, 5);  // two before one message
    ASSERT_TRUE(send(*a, i));
  }
  a->forward_extra(mine + 100, 20);  // for a message that has not been sent
  transport->room = 3;
  EXPECT_EQ(take(here), Words{});
  const auto at = [](std::uint32_t offset, std::uint32_t bytes) {
    return std::to_string(kExtraAt + offset) + "+" + std::to_string(bytes);
  };
  EXPECT_EQ(writes(),
            "a" + at(0, 10) + ",256+64! a" + at(10, 10) + " a" + at(200, 5) + ",320+64! ");
  transport->room = FakeTransport::kNoLimit;
  EXPECT_EQ(take(here), Words{});
  EXPECT_EQ(writes(), "a" + at(20, 10) + ",384+64! a" + at(100, 20) + " ");
  EXPECT_EQ(take(there), numbers(0, 3));
}

TEST_F(RemoteChannelTest, BytesOfTheCopyGoBackBeforeTheCounters) {
  connect();
  transport->back_room = 0;
  std::memset(b->peer_extra(), 3, 32);
  b->return_extra(b->peer_extra(), 16);
  b->return_extra(b->peer_extra() + 16, 16);
  ASSERT_TRUE(send(*b, 1));
  EXPECT_EQ(writes(), "");
  EXPECT_EQ(mine[0], std::byte{0});
  transport->back_room = FakeTransport::kNoLimit;
  EXPECT_EQ(take(there), Words{});
  const std::string first = std::to_string(kExtraAt) + "+16 ";
  const std::string second = std::to_string(kExtraAt + 16) + "+16 ";
  EXPECT_EQ(writes(), "b<" + first + "b<" + second + "b<24+24 b256+64! ");
  EXPECT_EQ(std::memcmp(mine, b->peer_extra(), 32), 0);
}

TEST_F(RemoteChannelTest, FlushedExtraBytesAreThereWithoutAMessage) {
  connect();
  std::memset(mine, 4, 8);
  a->forward_extra(mine, 8);
  EXPECT_TRUE(a->flush_extra());
  EXPECT_EQ(writes(), "a" + std::to_string(kExtraAt) + "+8 ");
  EXPECT_EQ(b->peer_extra()[7], std::byte{4});
  EXPECT_EQ(take(there), Words{});
}

#ifdef COUNTS_ALLOCATIONS  // sanitizers allocate by functions of their own
TEST_F(RemoteChannelTest, MessagesAllocateNothing) {
  connect(2);
  Words got;
  got.reserve(kSlots);
  auto note = [&got](Channel&, Slot& slot, std::uint64_t) { got.push_back(slot.get(0)); };
  const std::uint64_t before = allocations();
  ASSERT_NE(before, 0U);
  for (std::uint32_t round = 0; round < 200; ++round) {
    transport->room = round % 3 == 0 ? 0 : FakeTransport::kNoLimit;  // through the backlog, too
    transport->back_room = round % 5 == 0 ? 0 : FakeTransport::kNoLimit;
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      a->forward_extra(mine + 8 * std::size_t{i}, 8);
      ASSERT_TRUE(send(*a, i));
    }
    transport->room = transport->back_room = FakeTransport::kNoLimit;
    got.clear();
    (void)here.drain(kAll, note);
    (void)there.drain(kAll, note);
    ASSERT_EQ(got.size(), kSlots);
    b->return_extra(b->peer_extra(), 8);
    transport->posted.clear();
  }
  EXPECT_EQ(allocations(), before);
}
#endif

// The end.

TEST_F(RemoteChannelTest, DisconnectPostsWhatWaits) {
  connect();
  transport->room = 0;
  ASSERT_TRUE(send(*a, 1));
  ASSERT_TRUE(send(*a, 2));
  transport->room = FakeTransport::kNoLimit;
  a->disconnect();
  EXPECT_EQ(a->link(), nullptr);
  EXPECT_FALSE(send(*a, 3));
  EXPECT_EQ(take(there), (Words{1, 2}));
  nic.progress();
  EXPECT_EQ(b->state(), ViState::error);
  EXPECT_EQ(causes, std::vector{ErrorCause::disconnected});
}

TEST_F(RemoteChannelTest, LinesOutOfTurnEndTheConnectionOnBothSides) {
  connect();
  EXPECT_NE(b->link(), nullptr);
  notify(*b, 5);
  EXPECT_EQ(take(there), Words{});
  EXPECT_EQ(b->state(), ViState::error);
  EXPECT_EQ(b->link(), nullptr);
  nic.progress();
  EXPECT_EQ(a->state(), ViState::error);
  EXPECT_EQ(causes, (std::vector{ErrorCause::format, ErrorCause::format}));
}

TEST_F(RemoteChannelTest, FailedLinkEndsTheConnectionOnBothSides) {
  connect();
  ASSERT_TRUE(send(*b, 1));
  notify(*a, 0, ErrorCause::connection_lost);
  EXPECT_EQ(take(here), Words{});
  EXPECT_EQ(a->state(), ViState::error);
  EXPECT_EQ(take(*a), Words{1});  // the client drains what has come
  EXPECT_FALSE(send(*a, 2));
  nic.progress();
  EXPECT_EQ(b->state(), ViState::error);
}

/// The end of a connection polls the transport again, and may end other channels. By then the poll
/// that found the failure has taken all of its events.
TEST_F(RemoteChannelTest, EventsBehindAFailureAreTakenBeforeItIsHandled) {
  for (const bool out_of_turn : {true, false}) {
    connect();
    std::unique_ptr<Channel> c, d;
    connect(c, d, 2);
    causes.clear();
    a->disconnect();  // a control message is on its way
    if (out_of_turn)
      notify(*b, 5);
    else
      notify(*b, 0, ErrorCause::connection_lost);
    for (std::uint64_t i = 0; i < kSlots; ++i) {
      ASSERT_TRUE(send(*c, i));
      ASSERT_TRUE(send(*d, i));
    }
    ASSERT_GT(transport->events.size(), std::tuple_size_v<LinkEvents>);
    EXPECT_EQ(take(there), numbers(0, kSlots)) << out_of_turn;
    EXPECT_EQ(take(here), numbers(0, kSlots)) << out_of_turn;
    EXPECT_EQ(b->state(), ViState::error);
    EXPECT_EQ(c->state(), ViState::connected) << out_of_turn;
    EXPECT_EQ(causes.size(), 1U);
  }
}

/// The write that the failure belongs to has met a link that the peer has ended: a rank that looks
/// at its control messages finds both.
TEST_F(RemoteChannelTest, PeerThatHasEndedTheConnectionIsNotOutOfReach) {
  for (const bool looks_at_messages_first : {true, false}) {
    connect();
    causes.clear();
    b->disconnect();
    notify(*a, 0, ErrorCause::connection_lost);
    if (looks_at_messages_first) nic.progress();
    EXPECT_EQ(take(here), Words{});
    EXPECT_EQ(a->state(), ViState::error);
    EXPECT_EQ(causes, std::vector{ErrorCause::disconnected}) << looks_at_messages_first;
    a->disconnect();
    nic.progress();
  }
}

TEST_F(RemoteChannelTest, FailureIsHandledAlsoWhereControlMessagesCannotBe) {
  connect();
  notify(*a, 0, ErrorCause::connection_lost);
  transport->lacks_memory = true;
  EXPECT_EQ(take(here), Words{});
  EXPECT_FALSE(transport->lacks_memory);
  EXPECT_EQ(a->state(), ViState::error);
  EXPECT_EQ(causes, std::vector{ErrorCause::connection_lost});
}

/// Both have failed when the poll looks, and the end of the first one is the end of the second.
TEST_F(RemoteChannelTest, ChannelThatIsGoneIsNotToldOfItsFailure) {
  connect();
  nic.on_ended([this](ChannelEnd&, ErrorCause cause) {
    causes.push_back(cause);
    b.reset();
  });
  notify(*a, 0, ErrorCause::connection_lost);
  notify(*b, 0, ErrorCause::connection_lost);
  EXPECT_EQ(take(here), Words{});
  EXPECT_EQ(a->state(), ViState::error);
  EXPECT_EQ(causes, std::vector{ErrorCause::connection_lost});
}

}  // namespace
}  // namespace viaduct::via::channel
