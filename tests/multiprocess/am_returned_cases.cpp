/// Messages that cannot be delivered come back to handler 0 with all that was sent, and their
/// credits are not lost.

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "tests/multiprocess/am_rig.hpp"
#include "via/channel/nic.hpp"

namespace viaduct::am_test {
namespace {

thread_local std::uint32_t t_handled = 0;
thread_local std::uint32_t t_replies = 0;

void on_replied(am::Token&) { ++t_replies; }
void on_request(am::Token& token) {
  ++t_handled;
  token.reply<on_replied>();
}
void on_bulk(am::Token&, std::span<std::byte>, std::uint64_t) { ++t_handled; }

void reset(Rig& rig) {
  t_handled = t_replies = 0;
  rig.barrier();
}
std::uint64_t word(const Back& b, std::size_t at) {
  std::uint64_t value = 0;
  if (b.args.size() >= 8 * (at + 1)) std::memcpy(&value, b.args.data() + 8 * at, 8);
  return value;
}

/// Handler 9 is nowhere set: requests of every size come back, whole.
void bad_handler(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  std::vector<std::uint64_t> words(16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 1000 * rig.rank() + i;
  const std::span<const std::uint64_t> all(words);
  std::vector<std::byte> data(2000);
  const am::HandlerId nowhere{9};
  std::size_t wanted = 0;
  for (int round = 0; round < 30; ++round) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{3}, std::size_t{7}, std::size_t{8}, std::size_t{16}}) {
      rig.ok(ep.request_raw(rig.next(), nowhere, all.first(n)));
      ++wanted;
    }
    rig.ok(ep.request_medium_raw(rig.next(), nowhere, data, all.first(4)));
    ++wanted;
    rig.until([&] { return rig.back.size() == wanted; });
  }
  for (std::size_t i = 0; i < rig.back.size(); ++i) {
    const Back& b = rig.back[i];
    CHECK_EQ(b.status, am::Undeliverable::bad_handler);
    CHECK(b.direction == am::Direction::request);
    CHECK_EQ(b.handler, 9);
    CHECK_EQ(b.peer, am::value(rig.next()));
    CHECK_EQ(b.rank, am::value(rig.next()));
    constexpr std::array<std::size_t, 6> kWords{0, 3, 7, 8, 16, 4};
    CHECK(b.operation == (i % 6 == 5 ? am::Operation::medium : am::Operation::short_message));
    CHECK_EQ(b.args.size(), 8 * kWords[i % 6]);
    for (std::size_t w = 0; w < kWords[i % 6]; ++w) CHECK_EQ(word(b, w), 1000 * rig.rank() + w);
  }
  rig.barrier();
  rig.expect_all_credits();
}

/// The first message to a peer, refused there and tried without waiting.
void bad_handler_tried(Rig& rig) {
  reset(rig);
  const std::array<std::uint64_t, 1> words{5};
  while (rig.endpoint().try_request_raw(rig.next(), am::HandlerId{9}, words) == Status::retry)
    (void)rig.bundle().poll();
  rig.until([&] { return rig.back.size() == 1; });
  CHECK_EQ(rig.back[0].status, am::Undeliverable::bad_handler);
  CHECK_EQ(word(rig.back[0], 0), 5);
}

void on_medium_back(am::Token&, std::span<const std::byte>) {}
void on_asked_back(am::Token& token, std::uint64_t value) {
  static const std::vector<std::byte> data(std::size_t{1} << 20);
  const bool refused = token.reply_medium<on_medium_back>(data) == Status::bad_argument;
  conformance::check(refused && token.can_reply(), "a reply that is too long", Where::here());
  token.send_back(am::Undeliverable::bad_handler, {&value, 1}, sizeof value);
}

/// A handler whose reply was refused may send the request back: once, and its credit with it.
void sent_back_after_a_refusal(Rig& rig) {
  reset(rig);
  for (std::uint64_t i = 0; i < 100; ++i) {
    rig.ok(rig.endpoint().request<on_asked_back>(rig.next(), i));
    rig.until([&] { return rig.back.size() == i + 1; });
    CHECK_EQ(rig.back[i].status, am::Undeliverable::bad_handler);
    CHECK_EQ(word(rig.back[i], 0), i);
  }
  rig.barrier();
  CHECK_EQ(rig.back.size(), 100U);
  rig.expect_all_credits();
}

/// Bulk and get that do not fit, or where there is nothing to fit: found at the sender.
void bad_places(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  std::vector<std::byte> data(1000);
  const auto all = std::span(data);
  const auto expect = [&](am::Undeliverable why, am::Operation operation,
                          Where where = Where::here()) {
    if (rig.back.size() != 1) give_up("nothing came back", where);
    conformance::check_equal(rig.back[0].status, why, "status", where);
    conformance::check(rig.back[0].operation == operation, "another operation", where);
    conformance::check_equal(word(rig.back[0], 0), 42, "argument", where);
    rig.back.clear();
  };
  // No segment.
  rig.ok(ep.request_bulk<on_bulk>(rig.next(), all, 0, std::uint64_t{42}));
  expect(am::Undeliverable::bad_offset, am::Operation::bulk);
  rig.ok(ep.get<on_bulk>(rig.next(), all, 0, std::uint64_t{42}));
  expect(am::Undeliverable::bad_offset, am::Operation::get);
  rig.barrier();
  ep.make_segment(5000);
  rig.barrier();
  rig.ok(ep.request_bulk<on_bulk>(rig.next(), all, 5001, std::uint64_t{42}));
  expect(am::Undeliverable::bad_offset, am::Operation::bulk);
  rig.ok(ep.request_bulk<on_bulk>(rig.next(), all, ~std::size_t{0} - 10, std::uint64_t{42}));
  expect(am::Undeliverable::bad_offset, am::Operation::bulk);
  rig.ok(ep.request_bulk<on_bulk>(rig.next(), all, 4001, std::uint64_t{42}));
  expect(am::Undeliverable::bad_length, am::Operation::bulk);
  rig.ok(ep.get<on_bulk>(rig.next(), all, 5001, std::uint64_t{42}));
  expect(am::Undeliverable::bad_offset, am::Operation::get);
  rig.ok(ep.get<on_bulk>(rig.next(), all, 4500, std::uint64_t{42}));
  expect(am::Undeliverable::bad_length, am::Operation::get);
  CHECK_EQ(t_handled, 0);
  rig.barrier();
  rig.ok(ep.request_bulk<on_bulk>(rig.next(), all, 4000, std::uint64_t{42}));  // just fits
  rig.until([] { return t_handled == 1; });
  CHECK(rig.back.empty());
  rig.barrier();
  rig.expect_all_credits();
}

// Replies that come back: typed handlers cannot be unknown, so the tag or the segment must be wrong
// for them.

void on_bulk_reply(am::Token&, std::span<std::byte>, std::uint64_t) {
  conformance::check(false, "must not run", Where::here());
}
void on_ask_bulk(am::Token& token, std::uint64_t offset) {
  std::vector<std::byte> data(100);
  ++t_handled;
  (void)token.reply_bulk<on_bulk_reply>(std::span(data), offset, std::uint64_t{7});
}
/// A bulk reply that does not fit comes back to the replier, and its request to the requester,
/// whose credit is free again.
void bad_reply_place(Rig& rig) {
  reset(rig);
  rig.endpoint().make_segment(1000);
  rig.barrier();
  constexpr std::uint32_t kEach = 200;
  for (std::uint32_t i = 0; i < kEach; ++i)
    rig.ok(
        rig.endpoint().request<on_ask_bulk>(rig.next(), std::uint64_t{i % 2 == 0 ? 5000U : 950U}));
  rig.until([&] { return rig.back.size() == 2 * kEach; });
  rig.barrier();
  CHECK_EQ(t_handled, kEach);
  REQUIRE_EQ(rig.back.size(), 2 * kEach);
  std::size_t replies = 0;
  for (const Back& b : rig.back) {
    if (b.direction == am::Direction::request) {
      CHECK_EQ(b.status, am::Undeliverable::bad_arguments);
      CHECK_EQ(b.peer, am::value(rig.next()));
      continue;
    }
    CHECK_EQ(b.status,
             replies++ % 2 == 0 ? am::Undeliverable::bad_offset : am::Undeliverable::bad_length);
    CHECK(b.operation == am::Operation::bulk);
    CHECK_EQ(b.peer, am::value(rig.previous()));
    CHECK_EQ(word(b, 0), 7);
  }
  CHECK_EQ(replies, kEach);
  rig.expect_all_credits();
}

/// The requester's segment has shrunk between the data's arrival and the message's: EREPLYREJECTED
/// at the replier, over the request's credit. Even ranks ask, odd ones reply.
void rejected_reply(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  const am::Index peer{rig.rank() ^ 1U};
  const bool paired = am::value(peer) < rig.size();
  const bool asks = paired && rig.rank() % 2 == 0;
  const bool replies = paired && !asks;
  if (asks) rig.ok(ep.request<on_request>(peer));
  rig.until([&] { return !asks || t_replies == 1; });
  const std::uint32_t rounds = ep.credits() + 5;  // a credit lost each time would end in a hang
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    ep.make_segment(1000);
    rig.barrier();
    const std::uint32_t before = t_handled;
    rig.fence();
    if (asks) rig.ok(ep.request<on_ask_bulk>(peer, std::uint64_t{900}));
    rig.fence();
    if (replies) rig.until([&] { return t_handled == before + 1; });
    rig.fence();
    if (asks) ep.make_segment(500);
    if (replies) rig.until([&] { return rig.back.size() == i; });
    rig.barrier();  // the asking rank polls here until the reply has come and gone back
  }
  CHECK_EQ(rig.back.size(), replies ? rounds : 0);
  for (const Back& b : rig.back) {
    CHECK_EQ(b.status, am::Undeliverable::reply_rejected);
    CHECK(b.direction == am::Direction::reply);
    CHECK(b.operation == am::Operation::bulk);
    CHECK_EQ(b.peer, am::value(peer));
    CHECK_EQ(word(b, 0), 7);
  }
  rig.barrier();
  rig.expect_all_credits();
}

/// Endpoints that never were, and that are no more.
void no_endpoint(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  rig.ok(ep.map(am::Index{800}, {Rank{am::value(rig.next())}, 60000}, am::kTagAll));
  for (int i = 0; i < 3; ++i) rig.ok(ep.request<on_request>(am::Index{800}));
  rig.until([&] { return rig.back.size() == 3; });
  for (const Back& b : rig.back) CHECK_EQ(b.status, am::Undeliverable::bad_endpoint);
  rig.ok(ep.unmap(am::Index{800}));
  rig.back.clear();
  rig.barrier();  // all have heard of it

  std::vector<am::EndpointName> names;
  {
    am::Endpoint other(rig.bundle());
    names = rig.exchange(other.name());
    rig.ok(ep.map(am::Index{801}, names[am::value(rig.next())], am::kTagAll));
    rig.ok(ep.request<on_request>(am::Index{801}));
    rig.until([] { return t_replies == 1; });
    rig.barrier();
  }
  rig.fence();  // all of these are gone
  for (int i = 0; i < 3; ++i) rig.ok(ep.request<on_request>(am::Index{801}));
  rig.until([&] { return rig.back.size() == 3; });
  for (const Back& b : rig.back) {
    CHECK_EQ(b.status, am::Undeliverable::bad_endpoint);
    CHECK_EQ(b.peer, 801);
    CHECK_EQ(b.rank, am::value(rig.next()));
  }
  rig.ok(ep.unmap(am::Index{801}));
  rig.barrier();
  CHECK_EQ(t_replies, 1);
}

/// An endpoint is freed while requests to it are under way, and with a sender that waits for
/// replies alone: each is answered or comes back, and the sender goes on.
void freed_under_way(Rig& rig) {
  for (const auto run : {am::Bundle::Run::all, am::Bundle::Run::replies}) {
    reset(rig);
    rig.back.clear();
    am::Endpoint& ep = rig.endpoint();
    auto other = std::make_unique<am::Endpoint>(rig.bundle());
    const auto names = rig.exchange(other->name());
    rig.ok(ep.map(am::Index{802}, names[am::value(rig.next())], am::kTagAll));
    rig.ok(ep.request<on_request>(am::Index{802}));
    rig.until([] { return t_replies == 1; });
    rig.barrier();
    ep.set_wait_run(run);
    const std::uint32_t each = 3 * ep.credits() + 10;
    std::uint32_t sent = 1;
    for (std::uint32_t i = 0; i < each; ++i, ++sent) {
      if (i == ep.credits() / 2) other.reset();  // with requests of the previous rank in its ring
      rig.ok(ep.request<on_request>(am::Index{802}));
    }
    ep.set_wait_run(am::Bundle::Run::all);
    rig.barrier();
    rig.ok(ep.request<on_request>(am::Index{802}));  // gone for certain
    ++sent;
    rig.until([&] { return t_replies + rig.back.size() == sent; });
    rig.barrier();
    CHECK_EQ(t_replies + rig.back.size(), sent);
    for (const Back& b : rig.back) CHECK_EQ(b.status, am::Undeliverable::bad_endpoint);
    CHECK(!rig.back.empty());
    rig.ok(ep.unmap(am::Index{802}));
    rig.barrier();
  }
}

thread_local std::uint64_t t_data = 0;
void on_data(am::Token&, std::span<const std::byte>, std::uint64_t) { ++t_data; }
/// Payloads that are announced half by half, to an endpoint that ends before it handles them: each
/// message comes back, and nothing else. (A rank that sends may poll, and handle some.)
void announced_to_the_ended(Rig& rig) {
  reset(rig);
  rig.back.clear();
  am::Endpoint& ep = rig.endpoint();
  auto other = std::make_unique<am::Endpoint>(rig.bundle());
  const auto names = rig.exchange(other->name());
  rig.ok(ep.map(am::Index{803}, names[am::value(rig.next())], am::kTagAll));
  rig.ok(ep.request<on_request>(am::Index{803}));
  rig.until([] { return t_replies == 1; });
  rig.barrier();
  const std::vector<std::byte> data(ep.max_medium());
  const std::uint64_t sent = std::min(2U, ep.credits());  // a try in vain would poll
  t_data = 0;
  rig.fence();
  for (std::uint64_t i = 0; i < sent; ++i)
    rig.ok(ep.try_request_medium<on_data>(am::Index{803}, data, 100 + i));
  const std::uint64_t handled = rig.exchange(t_data)[am::value(rig.next())];
  other.reset();
  rig.until([&] { return rig.back.size() + handled >= sent; });
  rig.barrier();
  CHECK_EQ(rig.back.size() + handled, sent);
  for (std::size_t i = 0; i < rig.back.size(); ++i) {
    CHECK_EQ(rig.back[i].status, am::Undeliverable::bad_endpoint);
    CHECK(rig.back[i].operation == am::Operation::medium);
    CHECK_EQ(word(rig.back[i], 0), 100 + handled + i);
  }
  rig.ok(ep.unmap(am::Index{803}));
  rig.barrier();
}

void on_medium_answer(am::Token&, std::span<const std::byte>) {}
void on_ask_medium(am::Token& token) {
  const std::vector<std::byte> data(token.endpoint().max_medium());
  ++t_handled;
  (void)token.reply_medium<on_medium_answer>(std::span(data));
}
/// An endpoint ends with replies that it has not taken, the last of them in the replier's overflow
/// block: the next endpoint that lets its ring run full finds the block free.
void overflow_left_by_the_ended(Rig& rig) {
  reset(rig);
  if (rig.endpoint().credits() < 3) return;  // nobody serves the bundle that must not wait
  for (int round = 0; round < 3; ++round) {
    const std::uint32_t before = t_handled;
    rig.fence();
    am::Bundle unpolled(rig.context());
    {
      am::Endpoint other(unpolled);
      other.set_undeliverable_handler([](const am::Returned&) {});
      rig.ok(other.map(am::Index{0}, rig.endpoint().translation_name(rig.next()), am::kTagAll));
      constexpr std::uint32_t kReplies = 3;  // two fill the ring
      for (std::uint32_t i = 0; i < kReplies; ++i)
        rig.ok(other.request<on_ask_medium>(am::Index{0}));
      rig.until([&] { return t_handled == before + kReplies; });
      rig.barrier();
    }
    rig.barrier();
  }
}

/// What answers rank 0's request for a MAP is no endpoint: a VI whose block says something else, or
/// points out of its window. Nothing there is followed, and the message comes back.
void bad_map_block(Rig& rig) {
  reset(rig);
  // Where a transport takes messages the block is a copy, which points to nothing.
  const bool remote = rig.context().nic().is_remote(Rank{rig.rank() == 0 ? 1U : 0U});
  for (std::uint32_t round = 0; round < (remote ? 2U : 3U); ++round) {
    am::Endpoint endpoint(rig.bundle());
    rig.collect_returned(endpoint);
    const auto names = rig.exchange(endpoint.name());
    const std::uint64_t which =
        std::uint64_t{0x414d} << 48 | std::uint64_t{names[0].number} << 16 | names[1].number;
    via::channel::Nic& nic = rig.context().nic();
    via::channel::Group group(nic);
    std::unique_ptr<via::channel::Channel> vi;
    if (rig.rank() == 0) {
      rig.ok(endpoint.map(am::Index{1}, names[1], am::kTagAll));
      CHECK_EQ(endpoint.try_request<on_request>(am::Index{1}), Status::retry);
    }
    rig.fence();
    if (rig.rank() == 1) {
      const am::Settings& settings = rig.context().settings();
      via::channel::Options options;
      options.slots = static_cast<std::uint32_t>(settings.slots);
      options.extra_bytes = 4096;
      options.remote = remote;
      options.notifications = options.slots;
      vi = nic.create_channel(group, nullptr, options);
      auto* block = new (vi->prepare_extra()) am::detail::MapBlock{};
      block->magic = am::detail::MapBlock::kMagic + (round == 0 ? 1 : 0);
      block->slots = options.slots;
      block->medium_bytes = static_cast<std::uint32_t>(settings.medium_bytes)
                            << (round == 1 ? 9 : 0);
      block->endpoint_page = round == 2 ? ~std::uint64_t{63} : 0;
      block->tag.store(am::kTagAll);
      CHECK_EQ(vi->connect_peer_start(Rank{0}, which), Status::ok);
    }
    rig.fence();
    if (rig.rank() == 0) {
      rig.ok(endpoint.request<on_request>(am::Index{1}));
      rig.until([&] { return rig.back.size() == round + 1; });
      CHECK_EQ(rig.back.back().status, am::Undeliverable::bad_endpoint);
    }
    rig.barrier();
    vi.reset();
  }
}

/// Handlers of the own table that say what they take: other argument bytes and other kinds come
/// back whole, in the order sent, and the handler never sees them; also when they were put off.
void bad_arguments(Rig& rig) {
  reset(rig);
  am::Endpoint& ep = rig.endpoint();
  const am::RawHandler count = [](am::Token&, const am::Arrival& arrival) {
    ++t_handled;
    CHECK_EQ(arrival.arg_bytes, 16);
  };
  constexpr am::HandlerId kShort{20};
  constexpr am::HandlerId kMedium{21};
  constexpr am::HandlerId kAny{22};
  rig.ok(ep.set_handler(kShort, count, am::Takes{am::Operation::short_message, 16}));
  rig.ok(ep.set_handler(kMedium, count, am::Takes{am::Operation::medium, 16}));
  rig.ok(ep.set_handler(kAny, [](am::Token&, const am::Arrival&) { ++t_handled; }));
  CHECK_EQ(ep.set_handler(am::HandlerId{0}, count, am::Takes{}), Status::bad_argument);
  rig.barrier();
  std::vector<std::uint64_t> words(16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 1000 * rig.rank() + i;
  const std::span<const std::uint64_t> all(words);
  const std::vector<std::byte> data(700);
  constexpr std::array<std::size_t, 5> kCounts{0, 1, 2, 3, 16};
  std::uint32_t right = 0;
  for (int round = 0; round < 20; ++round) {
    rig.fence();  // nobody polls: what is sent first is put off by the sends that wait
    ep.set_wait_run(round % 2 == 0 ? am::Bundle::Run::all : am::Bundle::Run::replies);
    (void)rig.bundle().poll(am::Bundle::Run::replies);
    for (const std::size_t n : kCounts) {
      while (ep.try_request_raw(rig.next(), kShort, all.first(n)) == Status::retry)
        (void)rig.bundle().poll();
      right += n == 2 ? 1 : 0;
    }
    ep.set_wait_run(am::Bundle::Run::all);
    rig.ok(ep.request_medium_raw(rig.next(), kShort, data, all.first(2)));
    rig.ok(ep.request_raw(rig.next(), kMedium, all.first(2)));
    rig.ok(ep.request_medium_raw(rig.next(), kMedium, data, all.first(3)));
    rig.ok(ep.request_medium_raw(rig.next(), kMedium, data, all.first(2)));
    rig.ok(ep.request_raw(rig.next(), kAny, all.first(5)));
    right += 2;
    const std::size_t wanted = 7 * (static_cast<std::size_t>(round) + 1);
    rig.until([&] { return rig.back.size() == wanted && t_handled == right; });
    rig.barrier();  // which polls: the neighbour may still wait for what is handled here
  }
  constexpr std::array<std::size_t, 7> kBack{0, 1, 3, 16, 2, 2, 3};
  for (std::size_t i = 0; i < rig.back.size(); ++i) {
    const Back& b = rig.back[i];
    const std::size_t at = i % kBack.size();
    CHECK_EQ(b.status, am::Undeliverable::bad_arguments);
    CHECK(b.direction == am::Direction::request);
    CHECK_EQ(b.handler, at < 5 ? 20 : 21);
    CHECK(b.operation ==
          (at == 4 || at == 6 ? am::Operation::medium : am::Operation::short_message));
    CHECK_EQ(b.args.size(), 8 * kBack[at]);
    for (std::size_t w = 0; w < kBack[at]; ++w) CHECK_EQ(word(b, w), 1000 * rig.rank() + w);
  }
  // A handler that is set anew without a word takes everything.
  rig.barrier();
  rig.back.clear();
  rig.ok(ep.set_handler(kShort, [](am::Token&, const am::Arrival&) { ++t_handled; }));
  rig.barrier();
  rig.ok(ep.request_raw(rig.next(), kShort, all.first(7)));
  rig.until([&] { return t_handled == right + 1; });
  CHECK(rig.back.empty());
  rig.barrier();
  rig.expect_all_credits();
}

constexpr std::array kCases{
    Case{"returned.bad_handler", Needs::any, bad_handler},
    Case{"returned.bad_handler_tried", Needs::any, bad_handler_tried},
    Case{"returned.bad_arguments", Needs::any, bad_arguments},
    Case{"returned.sent_back_after_a_refusal", Needs::any, sent_back_after_a_refusal},
    Case{"returned.bad_places", Needs::any, bad_places},
    Case{"returned.bad_reply_place", Needs::any, bad_reply_place},
    Case{"returned.rejected_reply", Needs::any, rejected_reply},
    Case{"returned.no_endpoint", Needs::any, no_endpoint},
    Case{"returned.freed_under_way", Needs::any, freed_under_way},
    Case{"returned.announced_to_the_ended", Needs::any, announced_to_the_ended},
    Case{"returned.overflow_left_by_the_ended", Needs::any, overflow_left_by_the_ended},
    Case{"returned.bad_map_block", Needs::two, bad_map_block},
};

}  // namespace

std::span<const Case> returned_cases() { return kCases; }

}  // namespace viaduct::am_test
