#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::conformance {
namespace {

using via::ConnectResult;
using via::ViState;

constexpr std::int64_t kShortNs = 60'000'000;

void connects(Rig& rig) {
  Link link(rig);
  connect(rig, link);
  expect_alive(rig, link);
}

void listener_first(Rig& rig) {
  Link link(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    rig.progress_for(kQuietNs);  // the listener is there by then, in most runs
    CHECK_EQ(link.vi().connect(rig.other(), discriminator, kLimitNs), ConnectResult::connected);
  } else {
    via::ConnectionRequest request;
    REQUIRE_EQ(rig.nic().listen(discriminator, request, kLimitNs), Status::ok);
    CHECK_EQ(request.reliability, via::Reliability::delivery);
    CHECK_EQ(rig.nic().accept(request, link.vi()), Status::ok);
  }
  expect_alive(rig, link);
}

void listen_times_out(Rig& rig) {
  via::ConnectionRequest request;
  const std::int64_t start = now_ns();
  CHECK_EQ(rig.nic().listen(rig.new_discriminator(), request, kShortNs), Status::timeout);
  CHECK(now_ns() - start >= kShortNs);
  CHECK_EQ(rig.nic().listen(rig.new_discriminator(), request, 0), Status::timeout);
}

/// Control messages of a pair of ranks are in order: when both have met, what either has sent
/// before is known.
void expect_control_handled(Rig& rig) {
  Link later(rig);
  connect_peer(rig, later.vi(), rig.other(), rig.new_discriminator());
  rig.sync("both have met");
}

void connect_times_out(Rig& rig) {
  Link link(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    const std::int64_t start = now_ns();
    CHECK_EQ(link.vi().connect(rig.other(), discriminator, kShortNs), ConnectResult::timed_out);
    CHECK(now_ns() - start >= kShortNs);
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.sync("the client has given up");
  expect_control_handled(rig);
  if (!rig.first()) {
    // The request is withdrawn: not heard any more, or not to be accepted.
    via::ConnectionRequest request;
    if (rig.nic().listen(discriminator, request, kShortNs) == Status::ok) {
      CHECK_EQ(rig.nic().accept(request, link.vi()), Status::bad_argument);
    }
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.sync("nothing came of it");
  connect(rig, link);
  expect_alive(rig, link);
}

void late_accept(Rig& rig) {
  Link link(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  via::ConnectionRequest request;
  if (rig.first()) {
    CHECK_EQ(link.vi().connect(rig.other(), discriminator, 2 * kShortNs), ConnectResult::timed_out);
  } else {
    REQUIRE_EQ(rig.nic().listen(discriminator, request, kLimitNs), Status::ok);
  }
  rig.sync("the client has given up after the listener has heard it");
  expect_control_handled(rig);
  if (!rig.first()) {
    CHECK_EQ(rig.nic().accept(request, link.vi()), Status::bad_argument);
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.sync("refused");
  connect(rig, link);
  expect_alive(rig, link);
}

void rejected(Rig& rig) {
  Link link(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    CHECK_EQ(link.vi().connect(rig.other(), discriminator, kLimitNs), ConnectResult::rejected);
    CHECK_EQ(link.vi().state(), ViState::idle);
  } else {
    via::ConnectionRequest request;
    REQUIRE_EQ(rig.nic().listen(discriminator, request, kLimitNs), Status::ok);
    rig.nic().reject(request);
    CHECK_EQ(rig.nic().accept(request, link.vi()), Status::bad_argument);
    CHECK_EQ(link.vi().state(), ViState::idle);
  }
  rig.sync("rejected");
  connect(rig, link);
  expect_alive(rig, link);
}

void discriminators(Rig& rig) {
  // Listened for in another order than requested: nobody gets another's request.
  constexpr std::size_t kCount = 4;
  std::vector<std::uint64_t> names;
  for (std::size_t i = 0; i < kCount; ++i) names.push_back(rig.new_discriminator());
  std::vector<std::unique_ptr<Link>> links;
  for (std::size_t i = 0; i < kCount; ++i) links.push_back(std::make_unique<Link>(rig));
  if (!rig.first()) {
    via::ConnectionRequest request;
    CHECK_EQ(rig.nic().listen(names[0] + 1000, request, kShortNs), Status::timeout);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    if (rig.first()) {
      REQUIRE_EQ(links[i]->vi().connect(rig.other(), names[i], kLimitNs), ConnectResult::connected);
    } else {
      via::ConnectionRequest request;
      REQUIRE_EQ(rig.nic().listen(names[i], request, kLimitNs), Status::ok);
      CHECK_EQ(request.discriminator, names[i]);
      REQUIRE_EQ(rig.nic().accept(request, links[i]->vi()), Status::ok);
    }
  }
  for (const auto& link : links) expect_alive(rig, *link);
}

void reliability_mismatch(Rig& rig) {
  if (offered_levels(rig).size() < 2) rig.skip("only one service level");
  Link link(rig, vi_attributes(8, offered_levels(rig)[rig.first() ? 0 : 1]));
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    CHECK_EQ(link.vi().connect(rig.other(), discriminator, kLimitNs), ConnectResult::mismatch);
  } else {
    via::ConnectionRequest request;
    REQUIRE_EQ(rig.nic().listen(discriminator, request, kLimitNs), Status::ok);
    CHECK_EQ(request.reliability, offered_levels(rig)[0]);
    CHECK_EQ(rig.nic().accept(request, link.vi()), Status::bad_argument);
  }
  CHECK_EQ(link.vi().state(), ViState::idle);
  rig.sync("no connection");
}

void accept_busy_vi(Rig& rig) {
  Link link(rig);
  connect(rig, link);
  Link second(rig);
  const std::uint64_t discriminator = rig.new_discriminator();
  if (rig.first()) {
    CHECK_EQ(second.vi().connect(rig.other(), discriminator, kLimitNs), ConnectResult::connected);
  } else {
    via::ConnectionRequest request;
    REQUIRE_EQ(rig.nic().listen(discriminator, request, kLimitNs), Status::ok);
    CHECK_EQ(rig.nic().accept(request, link.vi()), Status::bad_state);
    CHECK_EQ(rig.nic().accept(request, second.vi()), Status::ok);  // the request is still good
  }
  expect_alive(rig, link);
  expect_alive(rig, second);
}

void second_connect(Rig& rig) {
  Link link(rig);
  connect(rig, link);
  if (rig.first()) {
    ConnectResult result = ConnectResult::timed_out;
    try {
      result = link.vi().connect(rig.other(), rig.new_discriminator(), kShortNs);
    } catch (const Error&) {
    }
    CHECK(result != ConnectResult::connected);
    CHECK_EQ(link.vi().state(), ViState::connected);
  }
  rig.sync("refused");
  expect_alive(rig, link);
}

void bad_rank(Rig& rig) {
  Link link(rig);
  ConnectResult result = ConnectResult::timed_out;
  try {
    result = link.vi().connect(Rank{rig.size()}, rig.new_discriminator(), kShortNs);
  } catch (const Error&) {
  }
  CHECK(result != ConnectResult::connected);
  CHECK_EQ(link.vi().state(), ViState::idle);
}

void many(Rig& rig) {
  constexpr std::size_t kCount = 50;
  std::vector<std::unique_ptr<Link>> links;
  for (std::size_t i = 0; i < kCount; ++i) {
    links.push_back(std::make_unique<Link>(rig, vi_attributes(4)));
    connect(rig, *links.back());
  }
  std::vector<std::size_t> order(kCount);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), rig.random());
  for (std::size_t i = 0; i < 8; ++i) expect_alive(rig, *links[order[i]]);
}

void again_and_again(Rig& rig) {
  Link link(rig, vi_attributes(4));
  for (int i = 0; i < 30; ++i) {
    Note note("round {}", i);
    connect(rig, link);
    if (i % 10 == 0) expect_alive(rig, link);
    if (rig.first()) link.vi().disconnect();
    rig.expect_state(link.vi(), ViState::idle);
    rig.sync("disconnected");
  }
}

constexpr Case kCases[] = {
    {"connect.client_server", "A request that is accepted connects both VIs", Party::pair,
     connects},
    {"connect.listener_first",
     "It does so when the listener waits first; the request shows the service level", Party::pair,
     listener_first},
    {"connect.listen_timeout", "Listening ends with timeout when nobody asks, not before its time",
     Party::alone, listen_times_out},
    {"connect.timeout",
     "A request that nobody answers times out, is withdrawn, and leaves the VI idle", Party::pair,
     connect_times_out},
    {"connect.late_accept", "A request that has timed out cannot be accepted", Party::pair,
     late_accept},
    {"connect.reject", "A rejected requester is told so, is idle, and may ask again", Party::pair,
     rejected},
    {"connect.discriminators", "A listener hears only requests with its discriminator", Party::pair,
     discriminators},
    {"connect.mismatch", "VIs of different service levels cannot be connected", Party::pair,
     reliability_mismatch},
    {"connect.accept_bad_state", "Only an idle VI can accept; the request stays open for another",
     Party::pair, accept_busy_vi},
    {"connect.second", "A connected VI refuses to connect again and keeps its connection",
     Party::pair, second_connect},
    {"connect.bad_rank", "A rank outside the job cannot be connected to", Party::alone, bad_rank},
    {"connect.many", "Many VIs connect the same two ranks", Party::pair, many},
    {"connect.again", "A VI may connect and disconnect as often as it likes", Party::pair,
     again_and_again},
};

}  // namespace

std::span<const Case> connection_cases() { return kCases; }

}  // namespace viaduct::conformance
