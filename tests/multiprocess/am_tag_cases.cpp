/// Protection tags: checked when a MAP is made, changed while messages are under way.

#include <array>

#include "tests/multiprocess/am_rig.hpp"
#include "via/channel/nic.hpp"

namespace viaduct::am_test {
namespace {

thread_local std::uint32_t t_handled = 0;
thread_local std::uint32_t t_replies = 0;
thread_local bool t_open = true;  // whether a request may be handled now

void on_replied(am::Token&) { ++t_replies; }
void on_tagged(am::Token& token, std::uint32_t reply) {
  CHECK(t_open);
  ++t_handled;
  if (reply != 0) token.reply<on_replied>();
}

/// An endpoint of every rank with @p tag; the case's own endpoint maps the next rank's as index 800
/// under @p named.
struct Tagged {
  am::Endpoint endpoint;
  std::vector<am::EndpointName> names;

  Tagged(Rig& rig, am::Tag tag) : endpoint(rig.bundle(), tag) {
    rig.collect_returned(endpoint);
    t_handled = t_replies = 0;
    t_open = true;
    names = rig.exchange(endpoint.name());
  }
};

constexpr am::Index kThere{800};

void map_next(Rig& rig, const Tagged& tagged, am::Tag named) {
  rig.ok(rig.endpoint().map(kThere, tagged.names[am::value(rig.next())], named));
}

/// A request over @p endpoint that is handled, or comes back with @p why.
void ask_over(Rig& rig, am::Endpoint& endpoint, am::Index to, am::Undeliverable why,
              Where where = Where::here()) {
  const std::size_t back = rig.back.size();
  const std::uint32_t replies = t_replies;
  rig.ok(endpoint.request<on_tagged>(to, 1U), where);
  rig.until([&] { return t_replies > replies || rig.back.size() > back; }, where);
  const am::Undeliverable got =
      rig.back.size() > back ? rig.back.back().status : am::Undeliverable::none;
  conformance::check_equal(got, why, "what became of the request", where);
}
void ask(Rig& rig, am::Undeliverable why, Where where = Where::here()) {
  ask_over(rig, rig.endpoint(), kThere, why, where);
}

void wrong_tag(Rig& rig) {
  Tagged tagged(rig, 77);
  map_next(rig, tagged, 78);
  for (int i = 0; i < 3; ++i) ask(rig, am::Undeliverable::bad_tag);
  rig.barrier();
  CHECK_EQ(t_handled, 0);
  CHECK_EQ(rig.back.size(), 3);
  for (const Back& b : rig.back) {
    CHECK_EQ(b.peer, 800);
    CHECK_EQ(b.rank, am::value(rig.next()));
    CHECK_EQ(b.args.size(), 4);
  }
  rig.fence();  // all have looked
  rig.ok(rig.endpoint().unmap(kThere));
  map_next(rig, tagged, 77);
  ask(rig, am::Undeliverable::none);
  rig.barrier();
  rig.ok(rig.endpoint().unmap(kThere));
  rig.barrier();
}

void on_tagged_block(am::Token&, std::span<std::byte>) { ++t_handled; }

void on_tagged_get(am::Token&, std::span<std::byte>) { ++t_handled; }

/// After the tag has changed, a get comes back, and data of any size stay away from the segment.
/// Peers that reach it by RDMA are not kept from the segment.
void reach_into_segment(Rig& rig, std::span<std::byte> segment) {
  if (rig.context().nic().transport() != nullptr) return;
  constexpr std::size_t kSmall = 64;
  std::array<std::byte, kSmall> own{};
  own.fill(std::byte{9});
  segment[0] = std::byte{7};
  rig.barrier();
  const std::size_t before = rig.back.size();
  rig.ok(rig.endpoint().request_bulk<on_tagged_block>(kThere, std::span(own), 0));
  rig.ok(rig.endpoint().get<on_tagged_get>(kThere, std::span(own), 0));
  rig.until([&] { return rig.back.size() == before + 2; });
  CHECK_EQ(rig.back[before].status, am::Undeliverable::bad_tag);
  CHECK_EQ(rig.back[before + 1].status, am::Undeliverable::bad_tag);
  CHECK_EQ(static_cast<int>(own[0]), 9);
  rig.barrier();
  CHECK_EQ(static_cast<int>(segment[0]), 7);
  CHECK_EQ(t_handled, 1);
}

/// A bulk message that is refused leaves the segment alone where its data were only offered, and
/// its sender goes on.
void refused_bulk(Rig& rig) {
  constexpr std::size_t kBlock = 256 << 10;
  Tagged tagged(rig, 77);
  tagged.endpoint.make_segment(kBlock);
  const auto source = rig.endpoint().make_segment(kBlock);
  map_next(rig, tagged, 77);
  ask(rig, am::Undeliverable::none);
  rig.barrier();
  tagged.endpoint.set_tag(78);
  rig.fence();
  for (std::size_t i = 1; i <= 3; ++i) {
    rig.ok(rig.endpoint().request_bulk<on_tagged_block>(kThere, source, 0));
    rig.until([&] { return rig.back.size() == i; });
    CHECK_EQ(rig.back.back().status, am::Undeliverable::bad_tag);
    CHECK_EQ(rig.back.back().operation, am::Operation::bulk);
  }
  rig.barrier();
  CHECK_EQ(t_handled, 1);
  rig.barrier();
  reach_into_segment(rig, tagged.endpoint.segment());
  rig.ok(rig.endpoint().unmap(kThere));
  rig.barrier();
}

void all_and_none(Rig& rig) {
  Tagged all(rig, am::kTagAll);
  map_next(rig, all, 5);
  ask(rig, am::Undeliverable::none);
  rig.ok(rig.endpoint().unmap(kThere));
  rig.barrier();
  Tagged none(rig, am::kTagNone);
  for (const am::Tag named : {am::kTagNone, am::kTagAll, am::Tag{5}}) {
    map_next(rig, none, named);
    ask(rig, am::Undeliverable::bad_tag);
    rig.ok(rig.endpoint().unmap(kThere));
  }
  rig.barrier();
}

/// After set_tag has returned, nothing named under the old tag is handled; the new tag is heard,
/// and again the old one.
void changed_tag(Rig& rig) {
  Tagged tagged(rig, 10);
  map_next(rig, tagged, 10);
  ask(rig, am::Undeliverable::none);
  rig.barrier();
  tagged.endpoint.set_tag(11);
  rig.barrier();
  for (int i = 0; i < 3; ++i) ask(rig, am::Undeliverable::bad_tag);
  rig.ok(rig.endpoint().unmap(kThere));
  map_next(rig, tagged, 11);
  for (int i = 0; i < 3; ++i) ask(rig, am::Undeliverable::none);
  rig.barrier();
  tagged.endpoint.set_tag(10);
  rig.barrier();
  ask(rig, am::Undeliverable::bad_tag);
  rig.ok(rig.endpoint().unmap(kThere));
  map_next(rig, tagged, 12);
  ask(rig, am::Undeliverable::bad_tag);
  rig.ok(rig.endpoint().unmap(kThere));
  map_next(rig, tagged, 10);
  ask(rig, am::Undeliverable::none);
  rig.barrier();
  rig.ok(rig.endpoint().unmap(kThere));
  rig.barrier();
}

/// Requests are under way, some of them deferred, when the tag changes: each is handled before or
/// comes back.
void changed_under_way(Rig& rig) {
  Tagged tagged(rig, 20);
  map_next(rig, tagged, 20);
  ask(rig, am::Undeliverable::none);
  rig.barrier();
  t_handled = 0;
  rig.barrier();
  for (int round = 0; round < 20; ++round) {
    const std::size_t back = rig.back.size();
    const std::uint32_t handled_before = t_handled;
    rig.fence();
    rig.endpoint().set_wait_run(am::Bundle::Run::replies);
    std::uint32_t sent = 0;
    while (sent < 10 && rig.endpoint().try_request<on_tagged>(kThere, 0U) == Status::ok) ++sent;
    (void)rig.bundle().poll(am::Bundle::Run::replies);
    if (round % 2 == 0) (void)rig.bundle().poll();
    tagged.endpoint.set_tag(21);
    t_open = false;
    rig.endpoint().set_wait_run(am::Bundle::Run::all);
    rig.barrier();
    struct Counts {
      std::size_t sent, handled, back;
    };
    std::vector<Counts> all;
    const auto ended = [&](std::uint32_t r) {
      return all[r].back + all[(r + 1) % rig.size()].handled;
    };
    bool under_way = true;
    for (int looks = 0; under_way && looks < 2000; ++looks) {
      rig.settle();
      all = rig.exchange(Counts{sent, t_handled - handled_before, rig.back.size() - back});
      under_way = false;
      for (std::uint32_t r = 0; r < rig.size(); ++r)
        under_way = under_way || ended(r) < all[r].sent;
    }
    CHECK_EQ(ended(rig.rank()), sent);
    rig.barrier();
    tagged.endpoint.set_tag(20);
    t_open = true;
    rig.barrier();
  }
  for (const Back& b : rig.back) CHECK_EQ(b.status, am::Undeliverable::bad_tag);
  ask(rig, am::Undeliverable::none);
  rig.barrier();
  rig.ok(rig.endpoint().unmap(kThere));
  rig.barrier();
}

/// The other side spoke first, before this one had named it: the tag that is named later is the one
/// that counts.
void named_after_contact(Rig& rig) {
  Tagged asked(rig, 30);
  Tagged asking(rig, am::kTagAll);
  rig.ok(asking.endpoint.map(kThere, asked.names[am::value(rig.next())], 30));
  t_replies = 0;
  rig.barrier();
  rig.ok(
      asking.endpoint.request<on_tagged>(kThere, 1U));  // to `asked`, which has not mapped `asking`
  rig.until([] { return t_replies == 1; });
  rig.barrier();
  asking.endpoint.set_tag(40);
  rig.barrier();
  for (const am::Tag named : {am::Tag{40}, am::Tag{41}, am::Tag{40}}) {
    rig.ok(asked.endpoint.map(am::Index{0}, asking.names[am::value(rig.previous())], named));
    const std::size_t back = rig.back.size();
    const std::uint32_t replies = t_replies;
    rig.ok(asked.endpoint.request<on_tagged>(am::Index{0}, 1U));
    rig.until([&] { return t_replies > replies || rig.back.size() > back; });
    CHECK_EQ(rig.back.size() - back, named == 40 ? 0 : 1);
    CHECK_EQ(t_replies - replies, named == 40 ? 1 : 0);
    rig.ok(asked.endpoint.unmap(am::Index{0}));
  }
  rig.barrier();
}

void on_answer_in_short(am::Token&, std::uint32_t) { ++t_replies; }
void on_answer_in_ring(am::Token&, std::span<const std::byte> data) {
  ++t_replies;
  CHECK_EQ(first_wrong(data, data.size()), data.size());
}
void on_answer_in_segment(am::Token&, std::span<std::byte> data) {
  ++t_replies;
  CHECK_EQ(first_wrong(data, data.size()), data.size());
}
void on_answer_wanted(am::Token& token, std::uint64_t bytes) {
  std::vector<std::byte> data(bytes);
  fill(data, bytes);
  CHECK_EQ(token.reply_bulk<on_answer_in_segment>(data, 0), Status::ok);
}
void on_medium_wanted(am::Token& token) {
  std::array<std::byte, 100> data{};
  fill(data, data.size());
  CHECK_EQ(token.reply_medium<on_answer_in_ring>(data), Status::ok);
}
void on_short_wanted(am::Token& token) { token.reply<on_answer_in_short>(0U); }

/// The asked endpoint has not mapped the asking one, whose tag it so does not name: replies of
/// every kind arrive, the large one also where the requester takes the data itself.
void replies_without_map(Rig& rig) {
  for (const am::Tag own : {am::kTagNone, am::Tag{77}}) {
    Tagged asked(rig, 5);
    Tagged asking(rig, own);
    constexpr std::uint64_t kLarge = 256 << 10;
    asking.endpoint.make_segment(kLarge);
    rig.barrier();
    am::Endpoint& ep = asking.endpoint;
    rig.ok(ep.map(kThere, asked.names[am::value(rig.next())], 5));
    const auto answered = [&](Status status, std::uint32_t n) {
      rig.ok(status);
      rig.until([&] { return t_replies == n || !rig.back.empty(); });
    };
    answered(ep.request<on_short_wanted>(kThere), 1);
    answered(ep.request<on_medium_wanted>(kThere), 2);
    answered(ep.request<on_answer_wanted>(kThere, std::uint64_t{100}), 3);
    answered(ep.request<on_answer_wanted>(kThere, kLarge), 4);
    CHECK(rig.back.empty());
    rig.barrier();
  }
}

/// This side gave up on a MAP that was refused; then the other side asks for one.
void refused_then_asked(Rig& rig) {
  Tagged tagged(rig, 50);
  Tagged other(rig, am::kTagAll);
  rig.ok(other.endpoint.map(kThere, tagged.names[am::value(rig.next())], 51));
  (void)other.endpoint.try_request<on_tagged>(kThere,
                                              1U);  // retry, refused later, and never tried again
  rig.barrier();
  rig.settle();
  rig.barrier();
  t_replies = 0;
  rig.barrier();
  rig.ok(tagged.endpoint.map(am::Index{0}, other.names[am::value(rig.previous())], am::kTagAll));
  rig.ok(tagged.endpoint.request<on_tagged>(am::Index{0}, 1U));
  rig.until([] { return t_replies == 1; });
  rig.barrier();
}

/// Rank 0 has asked for a MAP and only polls, so that it meets rank 1 in a poll: what rank 1 sends
/// under a wrong tag is not handled all the same.
void asked_and_polls(Rig& rig) {
  Tagged tagged(rig, rig.rank() == 0 ? 77 : am::kTagAll);
  if (rig.rank() < 2)
    rig.ok(tagged.endpoint.map(am::Index{0}, tagged.names[1 - rig.rank()],
                               rig.rank() == 0 ? am::kTagAll : am::Tag{78}));
  if (rig.rank() == 0)
    CHECK_EQ(tagged.endpoint.try_request<on_tagged>(am::Index{0}, 0U), Status::retry);
  rig.fence();
  if (rig.rank() == 1)
    for (int i = 0; i < 3; ++i)
      ask_over(rig, tagged.endpoint, am::Index{0}, am::Undeliverable::bad_tag);
  rig.barrier();
  CHECK_EQ(t_handled, 0);
}

/// A MAP is mapped under another tag while it is still being made: rank 1 has read the tag that
/// rank 0 named first, and hears it at that time or not.
void retagged_while_connecting(Rig& rig) {
  for (const bool heard : {true, false}) {
    Tagged before(rig,
                  am::kTagAll);  // its MAPs are made when all earlier control messages have come
    rig.ok(before.endpoint.map(kThere, before.names[am::value(rig.next())], am::kTagAll));
    ask_over(rig, before.endpoint, kThere, am::Undeliverable::none);
    rig.barrier();
    Tagged tagged(rig, rig.rank() == 1 && !heard ? 20 : 10);
    am::Endpoint& endpoint = tagged.endpoint;
    if (rig.rank() == 0) {
      rig.ok(endpoint.map(kThere, tagged.names[1], 10));
      CHECK_EQ(endpoint.try_request<on_tagged>(kThere, 0U), Status::retry);
    }
    rig.fence();
    if (rig.rank() == 1) {
      if (heard)
        rig.until([&] { return endpoint.active_peers() == 1; });
      else
        rig.settle();
      endpoint.set_tag(20);
    }
    rig.fence();
    if (rig.rank() == 0) {
      rig.ok(endpoint.unmap(kThere));
      rig.ok(endpoint.map(kThere, tagged.names[1], 20));
      for (int i = 0; i < 3; ++i) ask_over(rig, endpoint, kThere, am::Undeliverable::none);
    }
    rig.barrier();
  }
}

/// One endpoint under two indices has one tag for both; another can be named when both are free.
void two_indices_one_tag(Rig& rig) {
  Tagged tagged(rig, 60);
  am::Endpoint& ep = rig.endpoint();
  const am::EndpointName next = tagged.names[am::value(rig.next())];
  constexpr am::Index kOther{801};
  const auto ask_both = [&](am::Undeliverable why) {
    for (int i = 0; i < 3; ++i) {
      ask_over(rig, ep, kThere, why);
      ask_over(rig, ep, kOther, why);
    }
  };
  for (const am::Tag named : {am::Tag{61}, am::Tag{60}, am::Tag{62}, am::Tag{60}}) {
    rig.ok(ep.map(kOther, next, named));
    CHECK_EQ(ep.map(kThere, next, 63), Status::bad_state);
    CHECK(!ep.is_mapped(kThere));
    rig.ok(ep.map(kThere, next, named));
    ask_both(named == 60 ? am::Undeliverable::none : am::Undeliverable::bad_tag);
    rig.ok(ep.unmap(kOther));
    CHECK_EQ(ep.map(kOther, next, 63), Status::bad_state);
    ask(rig, named == 60 ? am::Undeliverable::none : am::Undeliverable::bad_tag);
    rig.ok(ep.unmap(kThere));
  }
  rig.barrier();
}

constexpr std::array kCases{
    Case{"tag.wrong_tag", Needs::any, wrong_tag},
    Case{"tag.refused_bulk", Needs::any, refused_bulk},
    Case{"tag.all_and_none", Needs::any, all_and_none},
    Case{"tag.changed_tag", Needs::any, changed_tag},
    Case{"tag.changed_under_way", Needs::any, changed_under_way},
    Case{"tag.named_after_contact", Needs::two, named_after_contact},
    Case{"tag.replies_without_map", Needs::any, replies_without_map},
    Case{"tag.refused_then_asked", Needs::two, refused_then_asked},
    Case{"tag.asked_and_polls", Needs::two, asked_and_polls},
    Case{"tag.retagged_while_connecting", Needs::two, retagged_while_connecting},
    Case{"tag.two_indices_one_tag", Needs::any, two_indices_one_tag},
};

}  // namespace

std::span<const Case> tag_cases() { return kCases; }

}  // namespace viaduct::am_test
