#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::ConnectResult;
using via::ViState;

constexpr std::int64_t kShortNs = 60'000'000;

void one_before_the_other(Rig& rig) {
  for (const std::uint32_t leader : {0U, 1U}) {
    Note note("rank {} starts", leader);
    Link link(rig);
    const std::uint64_t discriminator = rig.new_discriminator();
    if (rig.rank() == leader) {
      REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
      CHECK_EQ(link.vi().state(), ViState::connecting);
      CHECK_EQ(link.vi().connect_peer_done(), Status::retry);
    }
    rig.sync("one has started");
    if (rig.rank() != leader) {
      REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
    }
    CHECK_EQ(link.vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
    CHECK_EQ(link.vi().connect_peer_done(), Status::ok);
    CHECK_EQ(link.vi().state(), ViState::connected);
    expect_alive(rig, link);
  }
}

void crossing(Rig& rig) {
  constexpr std::size_t kCount = 40;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::unique_ptr<Link>> links;
    std::vector<std::uint64_t> names;
    std::vector<std::size_t> order(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      links.push_back(std::make_unique<Link>(rig, vi_attributes(4)));
      names.push_back(rig.new_discriminator());
    }
    // Both sides start at once, each in an order of its own.
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 own(rig.random()() + rig.rank());
    std::shuffle(order.begin(), order.end(), own);
    rig.sync("ready to start");
    for (const std::size_t i : order) {
      REQUIRE_EQ(links[i]->vi().connect_peer_start(rig.other(), names[i]), Status::ok);
    }
    for (const auto& link : links)
      REQUIRE_EQ(link->vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
    expect_alive(rig, *links[rig.random_below(kCount)]);
  }
}

void polled(Rig& rig) {
  Link link(rig);
  REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), rig.new_discriminator()), Status::ok);
  Status status = Status::retry;
  rig.progress_until([&] { return (status = link.vi().connect_peer_done()) != Status::retry; });
  CHECK_EQ(status, Status::ok);
  expect_alive(rig, link);
}

void not_started(Rig& rig) {
  Link link(rig);
  CHECK_EQ(link.vi().connect_peer_done(), Status::bad_state);
  CHECK_EQ(link.vi().state(), ViState::idle);
}

void start_twice(Rig& rig) {
  Link link(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
  CHECK_EQ(link.vi().connect_peer_start(rig.other(), rig.new_discriminator()), Status::bad_state);
  REQUIRE_EQ(link.vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
  CHECK_EQ(link.vi().connect_peer_start(rig.other(), rig.new_discriminator()), Status::bad_state);
  expect_alive(rig, link);
}

void times_out(Rig& rig) {
  Link link(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
    const std::int64_t start = now_ns();
    CHECK_EQ(link.vi().connect_peer_wait(kShortNs), ConnectResult::timed_out);
    CHECK(now_ns() - start >= kShortNs);
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.sync("the first has given up");
  {  // behind its control message that says so
    Link later(rig);
    connect_peer(rig, later.vi(), rig.other(), rig.new_discriminator());
    rig.sync("both have met");
  }
  if (!rig.first()) {
    REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
    CHECK_EQ(link.vi().connect_peer_wait(kShortNs), ConnectResult::timed_out);
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.sync("so has the second");
  connect_peer(rig, link.vi(), rig.other(), rig.new_discriminator());
  expect_alive(rig, link);
}

void mismatch(Rig& rig) {
  if (offered_levels(rig).size() < 2) rig.skip("only one service level");
  Link link(rig, vi_attributes(8, offered_levels(rig)[rig.first() ? 0 : 1]));
  REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), rig.new_discriminator()), Status::ok);
  CHECK_EQ(link.vi().connect_peer_wait(kLimitNs), ConnectResult::mismatch);
  CHECK_EQ(link.vi().state(), ViState::idle);
  rig.sync("no connection");
}

void same_name(Rig& rig) {
  Link first(rig);
  Link second(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  REQUIRE_EQ(first.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
  CHECK_EQ(second.vi().connect_peer_start(rig.other(), discriminator), Status::bad_state);
  CHECK_EQ(second.vi().state(), ViState::idle);
  REQUIRE_EQ(first.vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
  CHECK_EQ(second.vi().connect_peer_start(rig.other(), discriminator), Status::bad_state);
  expect_alive(rig, first);
  rig.sync("neither side has asked twice");
  first.vi().disconnect();
  connect_peer(rig, second.vi(), rig.other(), discriminator);
  expect_alive(rig, second);
}

/// The second side may be connecting to a request at the moment at which it is taken back.
void taken_back(Rig& rig) {
  constexpr int kAttempts = 200;
  constexpr std::uint64_t kMostLooks = 20;
  Link link(rig, vi_attributes(4));
  Buffer buffer(rig, 64);
  via::Descriptor message;
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    for (int i = 0; i < kAttempts; ++i) {
      REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
      for (std::uint64_t looks = rig.random_below(kMostLooks); looks != 0; --looks)
        rig.nic().progress();
      link.vi().disconnect();
      REQUIRE_EQ(link.vi().state(), ViState::idle);
    }
    connect_peer(rig, link.vi(), rig.other(), discriminator);
    buffer.fill(1);
    via::make_send(message, buffer.data(), 64, buffer.handle());
    link.post_send(message);
    link.expect_next_send(message);
  } else {
    do {  // the receive fails where the connection was to a request that is taken back
      via::make_receive(message, buffer.data(), 64, buffer.handle());
      link.post_receive(message);
      REQUIRE_EQ(link.vi().connect_peer_start(rig.other(), discriminator), Status::ok);
      REQUIRE_EQ(link.vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
      link.expect_next_receive(message);
      if (message.failed()) link.vi().disconnect();
    } while (message.failed());
    expect_done(message, via::CompletedOperation::receive, 64);
    CHECK_EQ(matching(buffer.data(), 64, 1), 64);
    rig.forget_errors();
  }
  rig.sync("the last attempt holds");
}

enum class Answer : std::uint8_t { within_callback, later, reject };

void incoming(Rig& rig) {
  for (const Answer answer : {Answer::within_callback, Answer::later, Answer::reject}) {
    Note note("answer {}", static_cast<int>(answer));
    std::unique_ptr<Link> link;
    const std::uint64_t discriminator = rig.new_discriminator();
    std::vector<std::pair<std::uint32_t, std::uint64_t>> calls;
    const auto start = [&] {
      link = std::make_unique<Link>(rig);
      check_equal(link->vi().connect_peer_start(rig.other(), discriminator), Status::ok,
                  "start in answer", Where::here());
    };
    if (!rig.first()) {
      rig.nic().on_incoming_peer([&](Rank from, std::uint64_t name) {
        calls.emplace_back(index(from), name);
        if (answer == Answer::within_callback) start();
        if (answer == Answer::reject) rig.nic().reject_peer(from, name);
      });
    }
    rig.sync("ready for peers");
    if (rig.first()) {
      start();
    } else {
      REQUIRE(rig.progress_until([&] { return !calls.empty(); }));
      if (answer == Answer::later) start();
    }
    const ConnectResult wanted =
        answer == Answer::reject ? ConnectResult::rejected : ConnectResult::connected;
    if (link != nullptr) CHECK_EQ(link->vi().connect_peer_wait(kLimitNs), wanted);
    if (!rig.first()) {
      rig.progress_for(kQuietNs);
      CHECK_EQ(calls.size(), 1);
      CHECK_EQ(calls[0].first, index(rig.other()));
      CHECK_EQ(calls[0].second, discriminator);
      rig.nic().on_incoming_peer({});
    }
    rig.sync("answered");
    if (answer == Answer::reject) {
      if (rig.first()) CHECK_EQ(link->vi().state(), ViState::idle);
      if (rig.first()) CHECK_EQ(link->vi().connect_peer_done(), Status::bad_state);
    } else {
      expect_alive(rig, *link);
    }
  }
}

void everyone(Rig& rig) {
  const std::uint64_t discriminator = rig.new_discriminator();
  std::vector<std::unique_ptr<Link>> links;
  for (std::uint32_t r = 0; r < rig.size(); ++r)
    links.push_back(std::make_unique<Link>(rig, vi_attributes(4)));
  for (std::uint32_t r = 0; r < rig.size(); ++r) {
    if (r == rig.rank()) continue;
    REQUIRE_EQ(links[r]->vi().connect_peer_start(Rank{r}, discriminator), Status::ok);
  }
  for (std::uint32_t r = 0; r < rig.size(); ++r) {
    if (r == rig.rank()) continue;
    REQUIRE_EQ(links[r]->vi().connect_peer_wait(kLimitNs), ConnectResult::connected);
    CHECK_EQ(index(links[r]->vi().peer()), r);
  }
  // One message to each, which says where it is from.
  Buffer out(rig, 64);
  Buffer in(rig, 64 * rig.size());
  out.fill(rig.rank());
  std::vector<via::Descriptor> receives(rig.size());
  std::vector<via::Descriptor> sends(rig.size());
  for (std::uint32_t r = 0; r < rig.size(); ++r) {
    via::make_receive(receives[r], in.data() + 64 * r, 64, in.handle());
    via::make_send(sends[r], out.data(), 64, out.handle());
    if (r != rig.rank()) links[r]->post_receive(receives[r]);
  }
  rig.sync("all receives are posted");
  for (std::uint32_t r = 0; r < rig.size(); ++r) {
    if (r != rig.rank()) links[r]->post_send(sends[r]);
  }
  for (std::uint32_t r = 0; r < rig.size(); ++r) {
    if (r == rig.rank()) continue;
    expect_done(links[r]->next_receive(), via::CompletedOperation::receive, 64);
    expect_done(links[r]->next_send(), via::CompletedOperation::send, 64);
    const std::byte* const got = in.data() + 64 * r;
    CHECK_EQ(matching(got, 64, r), 64);
  }
  rig.sync("all messages are there");
}

constexpr Case kCases[] = {
    {"peer.either_first", "Peer-to-peer: whichever side starts first, both connect", Party::pair,
     one_before_the_other},
    {"peer.crossing", "Requests that cross, of many VIs in any order, meet by their discriminators",
     Party::pair, crossing},
    {"peer.polled", "connect_peer_done answers retry until both have met, then ok", Party::pair,
     polled},
    {"peer.not_started", "connect_peer_done of a VI that has not started answers bad_state",
     Party::alone, not_started},
    {"peer.start_twice", "A VI that is connecting or connected cannot start", Party::pair,
     start_twice},
    {"peer.same_name",
     "A second VI cannot start with a peer and a discriminator that another VI has; later it can",
     Party::pair, same_name},
    {"peer.taken_back",
     "A request that is taken back at any moment leaves the peer free to connect to the next one",
     Party::pair, taken_back},
    {"peer.timeout", "A peer that never starts: time-out; disconnect() takes the request back",
     Party::pair, times_out},
    {"peer.mismatch", "Different service levels: both sides are told, both are idle", Party::pair,
     mismatch},
    {"peer.incoming",
     "on_incoming_peer hears once of an unmatched request and may start in it, later, or reject",
     Party::pair, incoming},
    {"peer.everyone", "All ranks connect to all others at once", Party::all, everyone},
};

}  // namespace

std::span<const Case> peer_connection_cases() { return kCases; }

}  // namespace viaduct::conformance
