/// Names: the translation table, several endpoints and bundles of a rank, an endpoint to itself.

#include <array>
#include <string>

#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am_test {
namespace {

thread_local std::uint32_t t_handled = 0;
thread_local std::uint32_t t_replies = 0;
thread_local std::uint16_t t_endpoint = 0;  // number of the endpoint that the last request came to
thread_local std::uint32_t t_source = 0;
thread_local std::uint32_t t_reply_source = 0;

void reset(Rig& rig) {
  t_handled = t_replies = 0;
  rig.barrier();
}

void on_replied(am::Token& token, std::uint16_t number) {
  t_reply_source = am::value(token.source());
  CHECK_EQ(token.source_name().number, number);
  ++t_replies;
}
void on_named(am::Token& token) {
  ++t_handled;
  t_endpoint = token.endpoint().name().number;
  t_source = am::value(token.source());
  token.reply<on_replied>(t_endpoint);
}
void on_unanswered(am::Token&) { ++t_handled; }

/// One request to @p index of @p endpoint and its reply.
void talk(Rig& rig, am::Endpoint& endpoint, am::Index to) {
  const std::uint32_t before = t_replies;
  rig.ok(endpoint.request<on_named>(to));
  rig.until([&] { return t_replies == before + 1; });
}

void wrong_index(Rig& rig) {
  am::Endpoint& ep = rig.endpoint();
  const am::Index beyond{ep.translations()};
  std::vector<std::byte> data(8);
  CHECK(ep.translations() >= 1024);
  CHECK_EQ(ep.request<on_named>(beyond), Status::bad_argument);
  CHECK_EQ(ep.try_request<on_named>(beyond), Status::bad_argument);
  CHECK_EQ(ep.request_raw(am::Index{am::kNoIndex}, am::HandlerId{1}, {}), Status::bad_argument);
  CHECK_EQ(ep.request_medium_raw(beyond, am::HandlerId{1}, data, {}), Status::bad_argument);
  CHECK_EQ(ep.map(beyond, ep.name(), am::kTagAll), Status::bad_argument);
  CHECK_EQ(ep.map(am::Index{500}, {Rank{rig.size()}, 0}, am::kTagAll), Status::bad_argument);
  CHECK_EQ(ep.map(am::Index{0}, ep.name(), am::kTagAll), Status::bad_state);
  CHECK_EQ(ep.unmap(am::Index{500}), Status::bad_argument);
  CHECK_EQ(ep.unmap(beyond), Status::bad_argument);
  CHECK(rig.back.empty());
}

/// Numbers that no endpoint has are refused, and none is taken for another one.
void wrong_number(Rig& rig) {
  for (const std::int32_t number : {65536, 65536 + 4, -2, INT32_MIN, INT32_MAX}) {
    try {
      am::Endpoint endpoint(rig.bundle(), am::kTagAll, number);
      conformance::check(false, "the number was taken", Where::here());
    } catch (const Error& error) {
      CHECK(error.sentence().find("not " + std::to_string(number)) != std::string::npos);
    }
  }
  am::Endpoint last(rig.bundle(), am::kTagAll, 65535);
  CHECK_EQ(last.name().number, 65535);
  am::Endpoint any(rig.bundle(), am::kTagAll, am::Endpoint::kAnyNumber);
  CHECK(any.name().number != 65535);
}

void on_bulk_never(am::Token&, std::span<std::byte>) {
  conformance::check(false, "must not run", Where::here());
}

void unmapped_index(Rig& rig) {
  am::Endpoint& ep = rig.endpoint();
  std::vector<std::byte> data(8);
  rig.ok(ep.request<on_named>(am::Index{900}));
  rig.ok(ep.try_request<on_named>(am::Index{900}));
  rig.ok(ep.request_bulk<on_bulk_never>(am::Index{901}, std::span(data), 0));
  rig.ok(ep.get<on_bulk_never>(am::Index{902}, std::span(data), 0));
  REQUIRE_EQ(rig.back.size(), 4);
  for (const Back& b : rig.back) {
    CHECK_EQ(b.status, am::Undeliverable::bad_entry);
    CHECK_EQ(b.rank, rig.rank());
  }
  CHECK_EQ(rig.back[0].peer, 900);
  CHECK_EQ(rig.back[2].peer, 901);
  CHECK(rig.back[2].operation == am::Operation::bulk);
  CHECK(rig.back[3].operation == am::Operation::get);
}

void map_and_unmap(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  const auto names = rig.exchange(ep.name());
  const am::EndpointName next = names[am::value(rig.next())];
  talk(rig, ep, rig.next());
  for (int i = 0; i < 5; ++i) {
    for (std::uint32_t n = 0; n < 3; ++n) rig.ok(ep.request<on_unanswered>(rig.next()));
    CHECK_EQ(ep.unmap(rig.next()), Status::ok);
    CHECK(!ep.is_mapped(rig.next()));
    CHECK_EQ(ep.translation_tag(rig.next()), am::kTagNone);
    const std::size_t back = rig.back.size();
    rig.ok(ep.request<on_named>(rig.next()));
    REQUIRE_EQ(rig.back.size(), back + 1);
    CHECK_EQ(rig.back.back().status, am::Undeliverable::bad_entry);
    const am::Index again{700 + static_cast<std::uint32_t>(i)};
    rig.ok(ep.map(again, next, am::kTagAll));
    CHECK_EQ(ep.translation_name(again).number, next.number);
    CHECK_EQ(index(ep.translation_name(again).rank), am::value(rig.next()));
    talk(rig, ep, again);
    CHECK_EQ(ep.unmap(again), Status::ok);
    rig.ok(ep.map(rig.next(), next, am::kTagAll));
    talk(rig, ep, rig.next());
  }
  rig.barrier();
  CHECK_EQ(t_handled, 1 + 5 * 5);
  CHECK_EQ(rig.back.size(), 5);
  rig.barrier();
  rig.expect_all_credits();
}

/// What the peer has under way while this side unmaps it is delivered all the same, and nothing
/// comes back.
void unmap_under_traffic(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  const auto names = rig.exchange(ep.name());
  constexpr std::uint32_t kEach = 2000;
  for (std::uint32_t i = 0; i < kEach; ++i) {
    rig.ok(ep.request<on_unanswered>(rig.next()));
    if (i % 100 == rig.rank() % 100 && rig.size() > 2) {
      rig.ok(ep.unmap(rig.previous()));
      rig.ok(ep.map(rig.previous(), names[am::value(rig.previous())], am::kTagAll));
    }
  }
  rig.until([] { return t_handled == kEach; });
  rig.barrier();
  CHECK_EQ(t_handled, kEach);
  CHECK(rig.back.empty());
}

void many_translations(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  const auto names = rig.exchange(ep.name());
  talk(rig, ep, rig.next());
  ep.set_translations(5000);
  CHECK_EQ(ep.translations(), 5000);
  ep.set_translations(10);  // it only grows
  CHECK_EQ(ep.translations(), 5000);
  CHECK_THROWS(ep.set_translations(65537));
  rig.ok(ep.unmap(rig.next()));
  rig.ok(ep.map(am::Index{4999}, names[am::value(rig.next())], am::kTagAll));
  talk(rig, ep, am::Index{4999});
  CHECK(ep.is_mapped(am::Index{4999}));
  rig.ok(ep.unmap(am::Index{4999}));
  rig.ok(ep.map(rig.next(), names[am::value(rig.next())], am::kTagAll));
  rig.barrier();
}

void to_itself(Rig& rig) {
  reset(rig);
  for (int i = 0; i < 200; ++i) rig.ok(rig.endpoint().request<on_named>(am::Index{rig.rank()}));
  rig.until([] { return t_replies == 200; });
  CHECK_EQ(t_handled, 200);
  CHECK_EQ(t_source, rig.rank());
}

/// Two endpoints of one rank, in one bundle, talk to each other, asked from either side first.
void two_of_one_rank(Rig& rig) {
  reset(rig);
  for (const bool first_asks : {true, false}) {
    am::Endpoint one(rig.bundle());
    am::Endpoint two(rig.bundle());
    rig.ok(one.map(am::Index{3}, two.name(), am::kTagAll));
    rig.ok(two.map(am::Index{4}, one.name(), am::kTagAll));
    talk(rig, first_asks ? one : two, am::Index{first_asks ? 3U : 4U});
    CHECK_EQ(t_endpoint, first_asks ? two.name().number : one.name().number);
    CHECK_EQ(t_source, first_asks ? 4 : 3);
    talk(rig, first_asks ? two : one, am::Index{first_asks ? 4U : 3U});
    for (int i = 0; i < 100; ++i) {
      rig.ok(one.request<on_named>(am::Index{3}));
      rig.ok(two.request<on_named>(am::Index{4}));
    }
    const std::uint32_t wanted = first_asks ? 202 : 404;
    rig.until([&] { return t_replies == wanted; });
  }
  rig.barrier();
}

/// Several endpoints in a bundle: every pair across ranks, each with its own MAP.
void several_endpoints(Rig& rig) {
  reset(rig);
  constexpr std::uint32_t kEach = 3;
  std::array<std::unique_ptr<am::Endpoint>, kEach> mine;
  std::array<am::EndpointName, kEach> names{};
  for (std::uint32_t i = 0; i < kEach; ++i) {
    mine[i] = std::make_unique<am::Endpoint>(rig.bundle());
    names[i] = mine[i]->name();
  }
  const auto all = rig.exchange(names);
  const auto& theirs = all[am::value(rig.next())];
  std::uint32_t sent = 0;
  for (std::uint32_t i = 0; i < kEach; ++i)
    for (std::uint32_t j = 0; j < kEach; ++j) {
      rig.ok(mine[i]->map(am::Index{j}, theirs[j], am::kTagAll));
      for (int n = 0; n < 50; ++n, ++sent) rig.ok(mine[i]->request<on_named>(am::Index{j}));
    }
  rig.until([&] { return t_replies == sent && t_handled == sent; });
  rig.barrier();
  CHECK_EQ(t_handled, sent);
}

/// Two bundles of one rank: a poll of one leaves the other's messages alone, and a wait in one
/// serves both.
void two_bundles(Rig& rig) {
  reset(rig);
  am::Bundle other(rig.context());
  am::Endpoint ep(other);
  const auto names = rig.exchange(ep.name());
  rig.ok(rig.endpoint().map(am::Index{800}, names[am::value(rig.next())], am::kTagAll));
  rig.ok(ep.map(am::Index{0}, names[am::value(rig.next())], am::kTagAll));
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t before = t_replies;
    rig.ok(ep.request<on_named>(am::Index{0}));
    const Status status = other.wait_until([&] { return t_replies == before + 1; }, kLimitNs);
    REQUIRE_EQ(status, Status::ok);
  }
  // The rank before this one may have sent its next request already, which any wait serves.
  REQUIRE_EQ(other.wait_until([&] { return t_handled >= 20; }, kLimitNs), Status::ok);
  rig.ok(rig.endpoint().request<on_named>(am::Index{800}));  // connects
  rig.until([&] { return t_handled == 21 && t_replies == 21; });
  REQUIRE_EQ(other.barrier(), Status::ok);
  rig.fence();  // nobody polls the other's any more
  rig.ok(rig.endpoint().try_request<on_named>(am::Index{800}));
  rig.fence();  // all are sent
  for (int i = 0; i < 1000; ++i) (void)rig.bundle().poll();
  CHECK_EQ(t_handled, 21);  // polls of ours handle nothing of the other's
  rig.fence();
  rig.until([&] { return t_handled == 22 && t_replies == 22; });
  REQUIRE_EQ(other.barrier(), Status::ok);
  rig.ok(rig.endpoint().unmap(am::Index{800}));
  rig.barrier();
}

/// One endpoint under two indices: both work, together and alone, and what comes from it names the
/// lower one.
void two_indices(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  const am::EndpointName next = ep.translation_name(rig.next());
  constexpr am::Index kSecond{810};
  constexpr am::Index kThird{811};
  rig.ok(ep.map(kSecond, next, am::kTagAll));
  std::uint32_t sent = 0;
  const auto talk_over = [&](am::Index to) {
    talk(rig, ep, to);
    ++sent;
    CHECK_EQ(t_reply_source, am::value(ep.is_mapped(rig.next()) ? rig.next() : kSecond));
  };
  talk_over(kSecond);
  talk_over(rig.next());
  talk_over(kSecond);
  rig.ok(ep.map(kThird, next, am::kTagAll));
  talk_over(kThird);
  for (std::uint32_t i = 0; i < 3 * ep.credits(); ++i, sent += 2) {
    rig.ok(ep.request<on_unanswered>(rig.next()));
    rig.ok(ep.request<on_unanswered>(kSecond));
  }
  rig.ok(ep.unmap(kThird));
  for (int i = 0; i < 3; ++i) {
    rig.ok(ep.unmap(rig.next()));
    CHECK(!ep.is_mapped(rig.next()));
    CHECK(ep.is_mapped(kSecond));
    talk_over(kSecond);
    rig.ok(ep.map(rig.next(), next, am::kTagAll));
    talk_over(kSecond);
    talk_over(rig.next());
    rig.ok(ep.unmap(kSecond));
    talk_over(rig.next());
    rig.ok(ep.map(kSecond, next, am::kTagAll));
  }
  rig.until([&] { return t_handled == sent; });
  rig.barrier();
  CHECK_EQ(t_handled, sent);
  CHECK_EQ(ep.active_peers() <= 2, true);
  rig.ok(ep.unmap(kSecond));
  rig.barrier();
  rig.expect_all_credits();
}

constexpr std::array kCases{
    Case{"name.wrong_index", Needs::any, wrong_index},
    Case{"name.wrong_number", Needs::any, wrong_number},
    Case{"name.unmapped_index", Needs::any, unmapped_index},
    Case{"name.map_and_unmap", Needs::any, map_and_unmap},
    Case{"name.unmap_under_traffic", Needs::any, unmap_under_traffic},
    Case{"name.many_translations", Needs::any, many_translations},
    Case{"name.to_itself", Needs::any, to_itself},
    Case{"name.two_of_one_rank", Needs::any, two_of_one_rank},
    Case{"name.several_endpoints", Needs::any, several_endpoints},
    Case{"name.two_bundles", Needs::any, two_bundles},
    Case{"name.two_indices", Needs::any, two_indices},
};

}  // namespace

std::span<const Case> name_cases() { return kCases; }

}  // namespace viaduct::am_test
