#include "via/connections.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>

namespace viaduct::via {
namespace {

using Kind = ControlMessage::Kind;

constexpr std::uint64_t kWhich = 5;

/// An end that only has an address.
class NamedEnd final : public Connectable {};

/// One rank's connections, which write down what is asked of the provider.
class Side final : private Connections::Provider {
 public:
  explicit Side(Rank self) : connections(self, *this), self_(self) {}

  EndWish wish(Rank peer, std::uint32_t shape = 1) {
    EndWish w;
    w.peer = peer;
    w.discriminator = kWhich;
    w.shape = shape;
    w.half = 100 + index(self_);
    w.owner = static_cast<Connectable*>(&own);
    return w;
  }
  /// Hands the messages of this side to @p other.
  void deliver_to(Side& other) {
    for (auto sent = std::exchange(messages, {}); const ControlMessage& message : sent)
      other.connections.handle(self_, message);
  }
  std::string said() { return std::exchange(log_, {}); }

  Status listen(ConnectionRequest& out) {
    return connections.listen(kWhich, out,
                              [](const std::function<bool()>& done) { return done(); });
  }
  Status accept(const ConnectionRequest& request, std::uint32_t shape,
                ViState state = ViState::idle, bool lost = false) {
    return connections.accept(request, lost,
                              {state, shape, end, [&] { return wish(request.from, shape); },
                               [this](const std::vector<std::byte>&) {
                                 if (!out_of_reach) log_ += "taken ";
                                 return !out_of_reach;
                               }});
  }

  NamedEnd own;
  EndName end;
  std::deque<ControlMessage> messages;
  Connections connections;
  bool closes_when_attached = false;
  bool out_of_reach = false;

 private:
  void post(Rank, const ControlMessage& message) override { messages.push_back(message); }
  void attach(Connectable& to, const ControlMessage&) override {
    log_ += &to == &own && end.number != EndNumber::none ? "attach " : "unknown ";
    if (closes_when_attached) connections.close(end, ErrorCause::connection_lost);
  }
  void refused(Connectable&, const ControlMessage& m) override {
    log_ += std::string("refused:") + to_string(m.result) + " ";
    connections.close(end, ErrorCause::none);
  }
  void ended(Connectable&, const ControlMessage& m) override {
    log_ += std::string("ended:") + to_string(m.cause) + " ";
  }
  void parted(std::uint64_t half) override { log_ += "parted:" + std::to_string(half) + " "; }
  void asked() override { log_ += "asked "; }

  Rank self_;
  std::string log_;
};

class ConnectionsTest : public ::testing::Test {
 protected:
  Side a{Rank{0}};
  Side b{Rank{1}};
};

TEST_F(ConnectionsTest, RequestIsToldOfLaterAndTakenFromWithinTheCallback) {
  ASSERT_TRUE(a.connections.open(Kind::request, a.wish(Rank{1}), a.end));
  a.deliver_to(b);
  EXPECT_EQ(b.said(), "asked ");
  ASSERT_TRUE(b.connections.has_requests());
  int calls = 0;
  b.connections.tell_of_requests([&](Rank from, std::uint64_t which) {
    ++calls;
    EXPECT_EQ(from, Rank{0});
    EXPECT_EQ(which, kWhich);
    EXPECT_TRUE(b.connections.open(Kind::request, b.wish(from), b.end));
  });
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(b.connections.has_requests());
  EXPECT_EQ(b.said(), "attach ");  // its name was known by then
  b.deliver_to(a);
  EXPECT_EQ(a.said(), "attach ");
  EXPECT_TRUE(a.connections.connector().is_open(a.end));
  EndName second;
  EXPECT_FALSE(a.connections.open(Kind::request, a.wish(Rank{1}), second));
  EXPECT_EQ(second, EndName{});
}

TEST_F(ConnectionsTest, RequestThatIsTakenBackIsNotToldOf) {
  ASSERT_TRUE(a.connections.open(Kind::request, a.wish(Rank{1}), a.end));
  a.connections.close(a.end, ErrorCause::none);
  a.deliver_to(b);
  b.connections.tell_of_requests([](Rank, std::uint64_t) { FAIL() << "it is gone"; });
  b.deliver_to(a);
  EXPECT_EQ(a.said(), "parted:100 ");
}

TEST_F(ConnectionsTest, EndThatClosesWithinAnActionHearsNoMore) {
  ASSERT_TRUE(a.connections.open(Kind::request, a.wish(Rank{1}), a.end));
  ASSERT_TRUE(b.connections.open(Kind::request, b.wish(Rank{0}), b.end));
  a.closes_when_attached = true;  // as where its device does not connect
  b.deliver_to(a);
  EXPECT_EQ(a.said(), "attach ");
  a.deliver_to(b);
  EXPECT_EQ(b.said(), std::string("attach ended:") + to_string(ErrorCause::connection_lost) + " ");
  b.connections.close(b.end, ErrorCause::disconnected);
  b.deliver_to(a);
  EXPECT_EQ(a.said(), "parted:100 ");
  EXPECT_EQ(b.said(), "parted:101 ");
  EXPECT_TRUE(a.connections.connector().ends().empty());
  EXPECT_TRUE(b.connections.connector().ends().empty());
}

TEST_F(ConnectionsTest, ServerFindsEachRequestOnceAndAcceptsOrRejects) {
  ConnectionRequest request;
  EXPECT_EQ(b.listen(request), Status::timeout);
  constexpr std::uint32_t kOwnBits = 0x480;
  const auto shape = static_cast<std::uint32_t>(Reliability::reception) | kOwnBits;
  ASSERT_TRUE(a.connections.open(Kind::client_request, a.wish(Rank{1}, shape), a.end));
  a.deliver_to(b);
  ASSERT_EQ(b.listen(request), Status::ok);
  EXPECT_EQ(request.from, Rank{0});
  EXPECT_EQ(request.reliability, Reliability::reception);
  ConnectionRequest again;
  EXPECT_EQ(b.listen(again), Status::timeout);
  EXPECT_EQ(b.accept(request, shape), Status::ok);
  EXPECT_EQ(b.said(), "taken ");
  EXPECT_EQ(b.accept(request, shape), Status::bad_argument);  // it is gone
  b.connections.reject(request);
  b.deliver_to(a);
  EXPECT_EQ(a.said(), "attach ");
}

TEST_F(ConnectionsTest, AcceptThatCannotBeLeavesTheRequestOrRefusesIt) {
  ConnectionRequest request;
  ASSERT_TRUE(a.connections.open(Kind::client_request, a.wish(Rank{1}), a.end));
  a.deliver_to(b);
  ASSERT_EQ(b.listen(request), Status::ok);
  EXPECT_EQ(b.accept(request, 1, ViState::connected), Status::bad_state);
  EXPECT_EQ(b.accept(request, 1, ViState::idle, true), Status::peer_lost);
  EXPECT_TRUE(b.messages.empty());  // the client still waits
  b.out_of_reach = true;
  EXPECT_EQ(b.accept(request, 1), Status::peer_lost);
  EXPECT_EQ(b.end, EndName{});
  b.deliver_to(a);
  EXPECT_EQ(a.said(),
            std::string("refused:") + to_string(ConnectResult::unreachable) + " parted:100 ");
}

TEST_F(ConnectionsTest, RefusalNamesItsReasonAndReleasesTheHalf) {
  for (const ConnectResult result : {ConnectResult::mismatch, ConnectResult::rejected}) {
    ASSERT_TRUE(a.connections.open(Kind::client_request, a.wish(Rank{1}), a.end));
    a.deliver_to(b);
    ConnectionRequest request;
    ASSERT_EQ(b.listen(request), Status::ok);
    if (result == ConnectResult::mismatch)
      EXPECT_EQ(b.accept(request, 2), Status::bad_argument);
    else
      b.connections.reject(request);
    b.deliver_to(a);
    EXPECT_EQ(a.said(), std::string("refused:") + to_string(result) + " parted:100 ");
    EXPECT_TRUE(a.connections.connector().ends().empty());
  }
}

TEST_F(ConnectionsTest, LossEndsWhatThereIs) {
  ASSERT_TRUE(a.connections.open(Kind::request, a.wish(Rank{1}), a.end));
  a.connections.lose([](Rank rank) { return rank == Rank{1}; }, ErrorCause::connection_lost);
  EXPECT_EQ(a.said(),
            std::string("refused:") + to_string(ConnectResult::unreachable) + " parted:100 ");
}

}  // namespace
}  // namespace viaduct::via
