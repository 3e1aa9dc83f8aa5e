/// The cells of the table in docs/channel.md, section "Connector", one by one. What several ranks
/// make of them in any order is tests/model/connector.cpp.

#include "via/connector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace viaduct::via {
namespace {

using Kind = ControlMessage::Kind;
using Does = Connector::Action::Kind;
using State = Connector::State;
using Name = Connector::Name;

constexpr Rank kMe{0};
constexpr Rank kPeer{1};
constexpr std::uint64_t kWhich = 77;
constexpr EndNumber kTheirs{900};  // of the peer's end
constexpr EndNumber kOther{901};

/// One Connector, whose peer this test plays by hand.
class ConnectorTest : public ::testing::Test {
 protected:
  static Connector::Wish wish(Rank peer, std::uint32_t shape = 0) {
    Connector::Wish w;
    w.peer = peer;
    w.discriminator = kWhich;
    w.shape = shape;
    w.half = 5000;
    w.owner = &owner;
    w.offer = {std::byte{1}, std::byte{2}};
    return w;
  }
  static ControlMessage message(Kind kind, EndNumber from, EndNumber to, std::uint32_t shape = 0) {
    ControlMessage m;
    m.kind = kind;
    m.from = from;
    m.to = to;
    m.shape = shape;
    m.discriminator = kWhich;
    return m;
  }
  Name open(Kind form = Kind::request, std::uint32_t shape = 0) {
    return connector.open(form, wish(kPeer, shape), actions);
  }
  void take(Kind kind, EndNumber from, EndNumber to = EndNumber::none, std::uint32_t shape = 0) {
    connector.handle(kPeer, message(kind, from, to, shape), actions);
  }
  /// An open end, and nothing in `actions`.
  Name connected() {
    const Name name = open();
    take(Kind::request, kTheirs);
    actions.clear();
    return name;
  }
  [[nodiscard]] State state(const Name& name) const { return connector.ends().at(name).state; }
  [[nodiscard]] bool exists(const Name& name) const {
    return connector.ends().find(name) != connector.ends().end();
  }
  /// What the last events asked for, one word each; forgotten then.
  std::string said() {
    std::string all;
    for (const Connector::Action& a : actions) {
      if (!all.empty()) all += ' ';
      all += text(a);
    }
    actions.clear();
    return all;
  }
  static std::string text(const Connector::Action& a) {
    const auto number = [](EndNumber n) { return std::to_string(static_cast<std::uint32_t>(n)); };
    switch (a.kind) {
      case Does::send:
        switch (a.message.kind) {
          case Kind::request:
          case Kind::client_request:
            return "request(" + number(a.message.from) + ")";
          case Kind::accept:
            return "accept(" + number(a.message.from) + "," + number(a.message.to) + ")";
          case Kind::reject:
            return "reject(" + number(a.message.to) + "," + to_string(a.message.result) + ")";
          case Kind::final:
            return "final(" + number(a.message.to) + "," + number(a.message.from) + ")";
          case Kind::none:
          case Kind::ready:
            break;
        }
        return "?";
      case Does::attach:
        return "attach(" + number(a.message.from) + ")";
      case Does::refused:
        return std::string("refused(") + to_string(a.message.result) + ")";
      case Does::ended:
        return std::string("ended(") + to_string(a.message.cause) + ")";
      case Does::offer:
        return "offer";
      case Does::release:
        return "release";
    }
    return "?";
  }

  static inline int owner = 0;
  Connector connector{kMe};
  Connector::Actions actions;
};

TEST_F(ConnectorTest, AsksAndIsAttachedByTheRequestOfThePeer) {
  const Name name = open();
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].name.peer, kPeer);
  EXPECT_EQ(actions[0].message.data, wish(kPeer).offer);
  EXPECT_EQ(said(), "request(1)");
  EXPECT_EQ(state(name), State::asking);
  EXPECT_EQ(connector.owner_of(name), &owner);
  take(Kind::request, kTheirs);
  EXPECT_EQ(said(), "attach(900)");
  EXPECT_EQ(state(name), State::open);
}

TEST_F(ConnectorTest, RequestThatIsKeptIsOfferedOnceAndTaken) {
  take(Kind::request, kTheirs);
  EXPECT_EQ(said(), "offer");
  ASSERT_NE(connector.request_of_peer(kPeer, kWhich), nullptr);
  EXPECT_EQ(connector.request_of_peer(kPeer, kWhich + 1), nullptr);
  const Name name = open();
  EXPECT_EQ(said(), "request(1) attach(900)");
  EXPECT_EQ(state(name), State::open);
  EXPECT_EQ(connector.request_of_peer(kPeer, kWhich), nullptr);
}

TEST_F(ConnectorTest, EndsOfDifferentShapesRejectEachOther) {
  const Name name = open(Kind::request, 1);
  take(Kind::request, kTheirs, EndNumber::none, 2);
  EXPECT_EQ(said(),
            std::string("request(1) reject(900,") + to_string(ConnectResult::mismatch) + ")");
  EXPECT_EQ(state(name), State::asking);  // until the peer has found the same
  ControlMessage theirs = message(Kind::reject, EndNumber::none, name.number);
  theirs.result = ConnectResult::mismatch;
  connector.handle(kPeer, theirs, actions);
  EXPECT_EQ(said(), std::string("refused(") + to_string(ConnectResult::mismatch) + ") release");
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "");
  EXPECT_FALSE(exists(name));
}

TEST_F(ConnectorTest, KeptRequestOfAnotherShapeIsRejectedBehindTheOwnRequest) {
  take(Kind::request, kTheirs, EndNumber::none, 2);
  (void)said();
  (void)open(Kind::request, 1);
  EXPECT_EQ(said(),
            std::string("request(1) reject(900,") + to_string(ConnectResult::mismatch) + ")");
}

TEST_F(ConnectorTest, SecondEndOfOneNameIsNotMade) {
  const Name first = open();
  (void)said();
  EXPECT_EQ(open().number, EndNumber::none);
  take(Kind::request, kTheirs);
  (void)said();
  EXPECT_EQ(open().number, EndNumber::none);
  EXPECT_EQ(said(), "");
  connector.close(first, ErrorCause::disconnected, actions);
  EXPECT_NE(open().number, EndNumber::none);
}

TEST_F(ConnectorTest, ClientRejects) {
  take(Kind::request, kTheirs);
  (void)said();
  connector.refuse(connector.request_of_peer(kPeer, kWhich)->ticket, ConnectResult::rejected, 42,
                   actions);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].message.reason, 42U);
  EXPECT_EQ(said(), std::string("reject(900,") + to_string(ConnectResult::rejected) + ")");
  EXPECT_EQ(connector.request_of_peer(kPeer, kWhich), nullptr);
}

TEST_F(ConnectorTest, PartsInGoodOrder) {
  const Name name = connected();
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "final(900,1)");
  EXPECT_EQ(state(name), State::draining);
  EXPECT_EQ(connector.owner_of(name), nullptr);
  take(Kind::final, kTheirs, name.number);
  EXPECT_EQ(said(), "release");
  EXPECT_FALSE(exists(name));
}

TEST_F(ConnectorTest, IsEndedByThePeerAndMayReadUntilItCloses) {
  const Name name = connected();
  take(Kind::final, kTheirs, name.number);
  EXPECT_EQ(said(), std::string("ended(") + to_string(ErrorCause::none) + ")");
  EXPECT_TRUE(connector.may_read(name));
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "final(900,1) release");
  EXPECT_FALSE(exists(name));
}

TEST_F(ConnectorTest, StopsOnceAndKeepsItsHalf) {
  const Name name = connected();
  connector.stop(name, ErrorCause::format, actions);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].message.cause, ErrorCause::format);
  EXPECT_EQ(said(), "final(900,1)");
  connector.stop(name, ErrorCause::format, actions);
  EXPECT_EQ(said(), "");
  EXPECT_FALSE(connector.may_read(name));
  take(Kind::final, kTheirs, name.number);
  EXPECT_EQ(said(), "");  // the owner knows
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "release");
}

TEST_F(ConnectorTest, CancelIsAnsweredWhereNobodyHadTakenTheRequest) {
  take(Kind::request, kTheirs);
  (void)said();
  take(Kind::final, kTheirs);
  EXPECT_EQ(said(), "final(900,0)");
  EXPECT_EQ(connector.request_of_peer(kPeer, kWhich), nullptr);
  take(Kind::final, kTheirs);  // nor does it do harm that the answer comes twice
  EXPECT_EQ(said(), "final(900,0)");
}

/// The fault that this machine has been built against. This end has been attached to a request that
/// the peer takes back, and its own request is with the peer.
TEST_F(ConnectorTest, CancelThatCrossesEndsWhatWasAttachedAndNamesBothEnds) {
  const Name name = connected();
  take(Kind::final, kTheirs);
  EXPECT_EQ(said(), std::string("final(900,1) ended(") + to_string(ErrorCause::none) + ")");
  EXPECT_FALSE(connector.may_read(name));
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "");  // the peer may still have its request
  EXPECT_EQ(state(name), State::draining);
  take(Kind::final, EndNumber::none, name.number);
  EXPECT_EQ(said(), "release");
}

/// The same, from the other side: the request that crosses is not taken before the answer to the
/// cancel has said whether its sender is still there.
TEST_F(ConnectorTest, RequestThatCrossesACancelWaitsForItsAnswer) {
  const Name first = open();
  connector.close(first, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "request(1) final(0,1)");
  take(Kind::request, kTheirs);
  EXPECT_EQ(said(), "");
  const Name second = open();
  EXPECT_EQ(said(), "request(2)");
  take(Kind::final, kTheirs, first.number);  // it had been attached to the first, and is no more
  EXPECT_EQ(said(), "final(900,0) release");
  EXPECT_EQ(state(second), State::asking);
  EXPECT_EQ(connector.request_of_peer(kPeer, kWhich), nullptr);
  take(Kind::request, kOther);
  EXPECT_EQ(said(), "attach(901)");
}

TEST_F(ConnectorTest, RequestThatCrossesACancelIsTakenWhenItsSenderIsStillThere) {
  const Name first = open();
  connector.close(first, ErrorCause::disconnected, actions);
  const Name second = open();
  take(Kind::request, kTheirs);
  EXPECT_EQ(said(), "request(1) final(0,1) request(2)");
  take(Kind::final, EndNumber::none, first.number);
  EXPECT_EQ(said(), "release attach(900)");
  EXPECT_EQ(state(second), State::open);
}

TEST_F(ConnectorTest, CancelThatCrossesARejectionIsAnsweredByIt) {
  const Name name = open();
  connector.close(name, ErrorCause::disconnected, actions);
  (void)said();
  take(Kind::reject, EndNumber::none, name.number);
  EXPECT_EQ(said(), "release");
  take(Kind::final, EndNumber::none, name.number);
  EXPECT_EQ(said(), "");
}

TEST_F(ConnectorTest, LateMessagesDoNotFitALaterEnd) {
  const Name first = connected();
  connector.close(first, ErrorCause::disconnected, actions);
  take(Kind::final, kTheirs, first.number);
  const Name second = open();
  take(Kind::request, kOther);
  (void)said();
  take(Kind::final, kTheirs, first.number);
  take(Kind::reject, EndNumber::none, first.number);
  EXPECT_EQ(said(), "final(900,0)");
  EXPECT_EQ(state(second), State::open);
  take(Kind::final, kOther, second.number);
  EXPECT_EQ(state(second), State::ended);
}

TEST_F(ConnectorTest, RequestBehindAnOldEndIsOfferedWhenThatIsClosed) {
  const Name old = connected();
  take(Kind::final, kTheirs, old.number);
  take(Kind::request, kOther);
  EXPECT_EQ(said(), std::string("ended(") + to_string(ErrorCause::none) + ")");
  connector.close(old, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "final(900,1) release offer");
}

TEST_F(ConnectorTest, LossEndsEverythingWithThePeer) {
  const Name open_end = connected();
  Connector::Wish other = wish(kPeer);
  other.discriminator = kWhich + 1;
  const Name asking = connector.open(Kind::request, other, actions);
  other.discriminator = kWhich + 2;
  const Name draining = connector.open(Kind::request, other, actions);
  connector.close(draining, ErrorCause::disconnected, actions);
  const Name elsewhere = connector.open(Kind::request, wish(Rank{2}), actions);
  ControlMessage kept = message(Kind::request, kOther, EndNumber::none);
  kept.discriminator = kWhich + 3;
  connector.handle(kPeer, kept, actions);
  (void)said();
  connector.lose([](Rank rank) { return rank == kPeer; }, ErrorCause::connection_lost, actions);
  EXPECT_EQ(said(), std::string("ended(") + to_string(ErrorCause::connection_lost) + ") refused(" +
                        to_string(ConnectResult::unreachable) + ") release release");
  EXPECT_FALSE(exists(draining));
  EXPECT_EQ(state(elsewhere), State::asking);
  EXPECT_EQ(connector.request_of_peer(kPeer, kWhich + 3), nullptr);
  connector.close(open_end, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "release");  // nothing is sent to a rank that is lost
  connector.close(asking, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "");
}

// Client and server.

TEST_F(ConnectorTest, ServerAccepts) {
  take(Kind::client_request, kTheirs);
  EXPECT_EQ(said(), "");
  const Connector::Request* request = connector.request_of_client(kWhich);
  ASSERT_NE(request, nullptr);
  const std::uint64_t ticket = request->ticket;
  connector.mark_offered(ticket);
  EXPECT_EQ(connector.request_of_client(kWhich), nullptr);
  ASSERT_NE(connector.request_of_ticket(ticket), nullptr);
  const Name name = connector.accept(ticket, wish(kPeer), actions);
  EXPECT_EQ(said(), "accept(1,900)");
  EXPECT_EQ(state(name), State::open);
  EXPECT_EQ(connector.request_of_ticket(ticket), nullptr);
  EXPECT_EQ(connector.accept(ticket, wish(kPeer), actions).number, EndNumber::none);
}

TEST_F(ConnectorTest, ClientIsAccepted) {
  const Name name = open(Kind::client_request);
  take(Kind::request, kOther);  // of the other form
  EXPECT_EQ(said(), "request(1) offer");
  take(Kind::accept, kTheirs, name.number);
  EXPECT_EQ(said(), "attach(900)");
  EXPECT_EQ(state(name), State::open);
}

TEST_F(ConnectorTest, ManyClientsAskForOneName) {
  EXPECT_NE(open(Kind::client_request).number, EndNumber::none);
  EXPECT_NE(open(Kind::client_request).number, EndNumber::none);
  EXPECT_NE(open(Kind::request).number, EndNumber::none);
}

TEST_F(ConnectorTest, ClientThatHasGivenUpIsNotAccepted) {
  const Name name = open(Kind::client_request);
  connector.close(name, ErrorCause::disconnected, actions);
  (void)said();
  take(Kind::accept, kTheirs, name.number);
  EXPECT_EQ(said(), "final(900,0)");
  take(Kind::final, kTheirs, name.number);  // the server has heard of it
  EXPECT_EQ(said(), "final(900,0) release");
}

TEST_F(ConnectorTest, ServerHearsThatItsClientHasGivenUp) {
  take(Kind::client_request, kTheirs);
  const Name name =
      connector.accept(connector.request_of_client(kWhich)->ticket, wish(kPeer), actions);
  (void)said();
  take(Kind::final, kTheirs);
  EXPECT_EQ(said(), std::string("final(900,1) ended(") + to_string(ErrorCause::none) + ")");
  take(Kind::final, EndNumber::none, name.number);
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "release");
}

// Within one rank.

TEST_F(ConnectorTest, TwoEndsOfOneRankMeet) {
  const Name a = connector.open(Kind::request, wish(kMe), actions);
  const Name b = connector.open(Kind::request, wish(kMe), actions);
  EXPECT_EQ(connector.open(Kind::request, wish(kMe), actions).number, EndNumber::none);
  EXPECT_EQ(said(), "request(1) request(2)");
  connector.handle(kMe, message(Kind::request, a.number, EndNumber::none), actions);
  connector.handle(kMe, message(Kind::request, b.number, EndNumber::none), actions);
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(actions[0].name, b);
  EXPECT_EQ(actions[1].name, a);
  EXPECT_EQ(said(), "attach(1) attach(2)");
}

TEST_F(ConnectorTest, OwnRequestIsOfferedToTheOwnClient) {
  const Name a = connector.open(Kind::request, wish(kMe), actions);
  (void)said();
  connector.handle(kMe, message(Kind::request, a.number, EndNumber::none), actions);
  EXPECT_EQ(said(), "offer");
}

// What no honest peer sends.

TEST_F(ConnectorTest, NonsenseDoesNoHarm) {
  const Name name = connected();
  take(Kind::none, kTheirs, name.number);
  take(Kind::ready, kTheirs, name.number);
  take(Kind::request, EndNumber::none);
  take(Kind::reject, EndNumber::none, EndNumber{12345});
  take(Kind::final, EndNumber::none, EndNumber{12345});
  take(Kind::final, EndNumber::none, EndNumber::none);
  EXPECT_EQ(said(), "");
  take(Kind::accept, kOther, name.number);
  EXPECT_EQ(said(), "final(901,0)");
  EXPECT_EQ(state(name), State::open);
  connector.handle(Rank{2}, message(Kind::final, kTheirs, name.number), actions);
  EXPECT_EQ(said(), "final(900,0)");
  EXPECT_EQ(state(name), State::open);  // another rank's word about it
  take(Kind::accept, kTheirs, name.number);
  connector.close(name, ErrorCause::disconnected, actions);
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "final(900,0) final(900,1)");
}

TEST_F(ConnectorTest, RejectionOfAnOpenEndEndsIt) {
  const Name name = connected();
  take(Kind::reject, EndNumber::none, name.number);
  EXPECT_EQ(said(), std::string("ended(") + to_string(ErrorCause::connection_lost) + ")");
  connector.close(name, ErrorCause::disconnected, actions);
  EXPECT_EQ(said(), "final(900,1) release");
}

TEST_F(ConnectorTest, DrainsUpTo) {
  const EndNumber before = connector.newest();
  const Name a = connected();
  const EndNumber with_a = connector.newest();
  EXPECT_FALSE(connector.drains_up_to(with_a));
  connector.close(a, ErrorCause::disconnected, actions);
  EXPECT_TRUE(connector.drains_up_to(with_a));
  EXPECT_FALSE(connector.drains_up_to(before));
  take(Kind::final, kTheirs, a.number);
  EXPECT_FALSE(connector.drains_up_to(with_a));
}

TEST_F(ConnectorTest, CopiesAreEqualUntilOneChanges) {
  (void)connected();
  Connector copy = connector;
  EXPECT_TRUE(copy == connector);
  take(Kind::final, kTheirs);
  EXPECT_FALSE(copy == connector);
}

}  // namespace
}  // namespace viaduct::via
