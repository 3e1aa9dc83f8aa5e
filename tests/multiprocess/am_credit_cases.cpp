/// Credits: how many requests may be outstanding, and what happens when nobody gives them back for
/// a while.

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::am_test {
namespace {

thread_local std::uint64_t t_handled = 0;
thread_local std::uint64_t t_sum = 0;
thread_local std::uint64_t t_replies = 0;
thread_local bool t_in_request = false;
thread_local std::array<std::uint32_t, kMaxRanks> t_next{};

void reset(Rig& rig) {
  t_handled = t_sum = t_replies = 0;
  t_in_request = false;
  t_next.fill(0);
  rig.barrier();  // no rank sends before all have come here
}

void on_answered(am::Token&, std::uint64_t value) {
  ++t_replies;
  t_sum += value;
}
/// Replies when @p how says so: 0 never, 1 always, 2 when the value is odd.
void on_counted(am::Token& token, std::uint64_t value, std::uint32_t how) {
  ++t_handled;
  if (how == 1 || (how == 2 && value % 2 != 0)) token.reply<on_answered>(value);
}

/// Every rank sends @p each to every rank, then all are counted.
void exchange_all(Rig& rig, std::uint32_t how, std::uint32_t each) {
  Note note("replies {}", how == 0 ? "never" : how == 1 ? "always" : "at random");
  reset(rig);
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < each; ++i)
    for (std::uint32_t r = 0; r < rig.size(); ++r) {
      const std::uint64_t value = rig.random_below(1000);
      rig.ok(rig.endpoint().request<on_counted>(am::Index{r}, value, how));
      if (how == 1 || (how == 2 && value % 2 != 0)) {
        ++replies;
        sum += value;
      }
    }
  const std::uint64_t wanted = std::uint64_t{each} * rig.size();
  rig.until([&] { return t_handled >= wanted && t_replies >= replies; });
  rig.barrier();
  CHECK_EQ(t_handled, wanted);
  CHECK_EQ(t_replies, replies);
  CHECK_EQ(t_sum, sum);
}

void replies_or_not(Rig& rig) {
  const std::uint32_t each = rig.size() > 8 ? 50 : 1000;
  for (const std::uint32_t how : {0U, 1U, 2U}) exchange_all(rig, how, each);
}

void exactly_k(Rig& rig) {
  for (int i = 0; i < 3; ++i) rig.expect_all_credits();
  exchange_all(rig, 2, 100);
  rig.expect_all_credits();
}

/// The credits that handlers without a reply give back are all there again, however many there
/// were.
void all_come_back(Rig& rig) {
  for (const std::uint32_t n : {1U, 2U, 7U, 13U, 55U}) {
    exchange_all(rig, 0, n);
    rig.expect_all_credits();
  }
}

void all_to_one(Rig& rig) {
  reset(rig);
  const std::uint32_t each = rig.size() > 8 ? 100 : 2000;
  std::uint64_t wanted = 0;
  for (std::uint32_t i = 0; i < each && rig.rank() != 0; ++i)
    rig.ok(rig.endpoint().request<on_counted>(am::Index{0}, std::uint64_t{i}, i % 3));
  if (rig.rank() == 0) {
    wanted = std::uint64_t{each} * (rig.size() - 1);
    rig.until([&] { return t_handled >= wanted; });
  }
  rig.barrier();
  CHECK_EQ(t_handled, wanted);
}

/// Data too, with replies of the same size.
void on_data_answered(am::Token&, std::span<const std::byte> data, std::uint64_t seed) {
  CHECK_EQ(first_wrong(data, seed), data.size());
  ++t_replies;
}
void on_data(am::Token& token, std::span<const std::byte> data, std::uint64_t seed) {
  CHECK_EQ(first_wrong(data, seed), data.size());
  ++t_handled;
  CHECK_EQ(token.reply_medium<on_data_answered>(data, seed), Status::ok);
}
void all_to_one_medium(Rig& rig) {
  reset(rig);
  const std::uint32_t each = 60;
  std::vector<std::byte> data(3000);
  fill(data, rig.rank());
  if (rig.rank() != 0) {
    for (std::uint32_t i = 0; i < each; ++i)
      rig.ok(rig.endpoint().request_medium<on_data>(am::Index{0}, std::span(data),
                                                    std::uint64_t{rig.rank()}));
    rig.until([&] { return t_replies == each; });
  } else {
    rig.until([&] { return t_handled == std::uint64_t{each} * (rig.size() - 1); });
  }
  rig.barrier();
  CHECK_EQ(t_replies, rig.rank() == 0 ? 0 : each);
}

/// Both neighbours flood at once.
void flood(Rig& rig) {
  reset(rig);
  const std::uint32_t each = rig.size() > 8 ? 500 : 20000;
  for (std::uint32_t i = 0; i < each; ++i) {
    rig.ok(rig.endpoint().request<on_counted>(rig.next(), std::uint64_t{1}, 0U));
    rig.ok(rig.endpoint().request<on_counted>(rig.previous(), std::uint64_t{1}, i % 2));
  }
  rig.until([&] { return t_handled == 2 * each && t_replies == each / 2; });
  rig.barrier();
  CHECK_EQ(t_handled, 2 * each);
}

void pause_for(std::int64_t ns) {
  const timespec t{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&t, nullptr);
}

/// Rank 0 computes for half a second without a poll, while all others have more for it than their
/// credits.
void silent_half_second(Rig& rig) {
  reset(rig);
  constexpr std::uint32_t kEach = 500;
  rig.ok(
      rig.endpoint().request<on_counted>(am::Index{0}, std::uint64_t{0}, 1U));  // the MAP is made
  rig.until([] { return t_replies == 1; });
  rig.barrier();
  const std::uint64_t start = monotonic_ns();
  rig.fence();  // rank 0 handles nothing from here on
  if (rig.rank() == 0) {
    pause_for(500'000'000);
    rig.until([&] { return t_handled == rig.size() + std::uint64_t{kEach} * (rig.size() - 1); });
  } else {
    std::uint32_t sent = 0;
    while (sent < kEach - 1 && rig.endpoint().try_request<on_counted>(
                                   am::Index{0}, std::uint64_t{sent}, 0U) == Status::ok)
      ++sent;
    // The first request without a credit waits; those behind it have to do with a rank that polls.
    const std::int64_t cpu = thread_cpu_ns();
    rig.ok(rig.endpoint().request<on_counted>(am::Index{0}, std::uint64_t{sent++}, 0U));
    const auto wall = static_cast<std::int64_t>(monotonic_ns() - start);
    const std::int64_t used = thread_cpu_ns() - cpu;
    for (; sent < kEach; ++sent)
      rig.ok(rig.endpoint().request<on_counted>(am::Index{0}, std::uint64_t{sent}, 0U));
    Note note("{} us of CPU time in {} us", used / 1000, wall / 1000);
    CHECK(wall > 250'000'000);  // it did wait
    CHECK(used < wall / 2);
  }
  rig.barrier();
}

// Atomicity: with set_wait_run(replies) no request handler runs inside a request.

void on_atomic_answer(am::Token&) { ++t_replies; }
void take_atomic(am::Token& token, std::uint32_t seq) {
  CHECK(!t_in_request);
  const std::uint32_t from = am::value(token.source());
  CHECK_EQ(seq, t_next[from]);
  t_next[from] = seq + 1;
  ++t_handled;
  token.reply<on_atomic_answer>();
}
void on_atomic(am::Token& token, std::uint32_t seq) { take_atomic(token, seq); }
void on_atomic_medium(am::Token& token, std::span<const std::byte> data, std::uint32_t seq) {
  CHECK_EQ(first_wrong(data, seq), data.size());
  take_atomic(token, seq);
}
void on_atomic_long(am::Token& token, std::uint32_t seq, Bytes<100> tail) {
  CHECK(same(tail, value_of<Bytes<100>>(seq)));
  take_atomic(token, seq);
}

/// @p in_flight requests to every rank, then a poll that may run requests: what was deferred runs
/// in order.
void deferral(Rig& rig) {
  reset(rig);
  rig.endpoint().set_wait_run(am::Bundle::Run::replies);
  std::vector<std::byte> data(1000);
  std::uint32_t seq = 0;
  const std::uint32_t in_flight =
      std::min(rig.endpoint().credits(), 6U);  // two of them medium: they fit the ring
  for (std::uint32_t round = 0; round < 50; ++round) {
    for (std::uint32_t i = 0; i < in_flight; ++i, ++seq)
      for (std::uint32_t r = 0; r < rig.size(); ++r) {
        const am::Index to{r};
        t_in_request = true;
        if (i % 3 == 0)
          rig.ok(rig.endpoint().request<on_atomic>(to, seq));
        else if (i % 3 == 1) {
          fill(data, seq);
          rig.ok(rig.endpoint().request_medium<on_atomic_medium>(to, std::span(data), seq));
        } else
          rig.ok(rig.endpoint().request<on_atomic_long>(to, seq, value_of<Bytes<100>>(seq)));
        (void)rig.bundle().poll(am::Bundle::Run::replies);
        t_in_request = false;
      }
    rig.until([&] { return t_replies == std::uint64_t{seq} * rig.size(); });
  }
  rig.endpoint().set_wait_run(am::Bundle::Run::all);
  rig.barrier();
  CHECK_EQ(t_handled, std::uint64_t{seq} * rig.size());
}

/// As many medium requests as the rings hold, from all to all, each answered with as much while
/// requesters hold the rings: replies go round them.
void on_overflow_answer(am::Token&, std::span<const std::byte> data, std::uint64_t seed) {
  CHECK_EQ(data.size(), 4096);
  CHECK_EQ(first_wrong(data, seed), 4096);
  ++t_replies;
}
void on_overflow(am::Token& token, std::span<const std::byte> data, std::uint64_t seed) {
  CHECK(!t_in_request);
  CHECK_EQ(first_wrong(data, seed), 4096);
  ++t_handled;
  CHECK_EQ(token.reply_medium<on_overflow_answer>(data, seed), Status::ok);
}
void medium_all_to_all(Rig& rig) {
  reset(rig);
  rig.endpoint().set_wait_run(am::Bundle::Run::replies);
  const std::uint32_t at_once = std::min(rig.endpoint().credits(), 2U);
  std::uint64_t sent = 0;
  std::vector<std::byte> data(4096);
  for (std::uint64_t round = 0; round < 30; ++round) {
    for (std::uint32_t i = 0; i < at_once; ++i)
      for (std::uint32_t r = 0; r < rig.size(); ++r, ++sent) {
        fill(data, sent);
        t_in_request = true;
        rig.ok(rig.endpoint().request_medium<on_overflow>(am::Index{r}, std::span(data), sent));
        t_in_request = false;
      }
    rig.until([&] { return t_replies == sent; });
  }
  rig.barrier();
  CHECK_EQ(t_handled, sent);
  rig.endpoint().set_wait_run(am::Bundle::Run::all);
}

/// The ring to the requester is full of requests that it defers: the reply must still come, twice.
void reply_past_full_ring(Rig& rig) {
  reset(rig);
  const bool even = rig.rank() % 2 == 0;
  const am::Index peer{rig.rank() ^ 1U};
  const bool paired = am::value(peer) < rig.size();
  const std::uint32_t filling = std::min(rig.endpoint().credits(), 2U);
  std::vector<std::byte> data(4096);
  fill(data, 9);
  if (paired) rig.ok(rig.endpoint().request<on_counted>(peer, std::uint64_t{0}, 1U));
  rig.until([&] { return !paired || t_replies == 1; });
  rig.barrier();
  rig.settle();
  rig.fence();
  if (paired && !even)
    for (std::uint32_t i = 0; i < filling; ++i)
      rig.ok(rig.endpoint().request_medium<on_overflow>(peer, std::span(data), std::uint64_t{9}));
  rig.fence();
  if (paired && even) {
    rig.endpoint().set_wait_run(am::Bundle::Run::replies);
    for (std::uint64_t i = 0; i < 2; ++i) {
      t_in_request = true;
      rig.ok(rig.endpoint().request_medium<on_overflow>(peer, std::span(data), std::uint64_t{9}));
      const std::uint64_t start = monotonic_ns();
      while (t_replies != 2 + i) {
        REQUIRE(monotonic_ns() - start < static_cast<std::uint64_t>(kLimitNs));
        (void)rig.bundle().poll(am::Bundle::Run::replies);
      }
      t_in_request = false;
    }
    CHECK_EQ(t_handled, 1);  // its requests are deferred until now
    rig.endpoint().set_wait_run(am::Bundle::Run::all);
  }
  const std::uint64_t wanted = 1 + (even ? filling : 2U);
  rig.until([&] { return !paired || t_handled == wanted; });
  rig.barrier();
}

/// Endpoints end before rank 0 has looked at what they have sent: all of it is handled, also when
/// what rank 0 does first is something else.
void ended_behind_requests(Rig& rig) {
  reset(rig);
  constexpr am::Index kServer{0};
  const std::uint32_t each = rig.endpoint().credits();
  std::unique_ptr<am::Endpoint> endpoint = std::make_unique<am::Endpoint>(rig.bundle());
  const am::EndpointName server = rig.exchange(endpoint->name())[0];
  if (rig.rank() != 0) {
    rig.ok(endpoint->map(kServer, server, am::kTagAll));
    rig.ok(endpoint->request<on_counted>(kServer, std::uint64_t{0}, 1U));
    rig.until([] { return t_replies == 1; });
  }
  rig.barrier();
  rig.fence();
  if (rig.rank() != 0) {
    for (std::uint32_t i = 0; i < each; ++i)
      rig.ok(endpoint->try_request<on_counted>(kServer, std::uint64_t{0}, 0U));
    endpoint.reset();
  }
  rig.fence();  // rank 0 does not poll until here
  if (rig.rank() == 0) {
    (void)endpoint->make_segment(64);
    rig.until([&] { return t_handled == std::uint64_t{each + 1} * (rig.size() - 1); });
  }
  rig.barrier();
}

constexpr std::array kCases{
    Case{"credit.replies_or_not", Needs::any, replies_or_not},
    Case{"credit.exactly_k", Needs::any, exactly_k},
    Case{"credit.all_come_back", Needs::any, all_come_back},
    Case{"credit.all_to_one", Needs::two, all_to_one},
    Case{"credit.all_to_one_medium", Needs::two, all_to_one_medium},
    Case{"credit.flood", Needs::two, flood},
    Case{"credit.silent_half_second", Needs::two, silent_half_second},
    Case{"credit.deferral", Needs::any, deferral},
    Case{"credit.medium_all_to_all", Needs::any, medium_all_to_all},
    Case{"credit.reply_past_full_ring", Needs::two, reply_past_full_ring},
    Case{"credit.ended_behind_requests", Needs::two, ended_behind_requests},
};

}  // namespace

std::span<const Case> credit_cases() { return kCases; }

}  // namespace viaduct::am_test
