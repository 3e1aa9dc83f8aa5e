/// Waiting: time limits, what wakes a blocked rank, and what a blocked rank costs.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>

#include <fmt/format.h>

#include "tests/multiprocess/am_rig.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::am_test {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kBlockedNs = kSecondNs / 2;
constexpr std::int64_t kMostCpuNs = kBlockedNs / 50;  // of a rank that is blocked for that long
thread_local std::uint32_t t_woken = 0;

void on_wake(am::Token&) { ++t_woken; }
void on_nothing(am::Token&) {}
void on_wake_asked(am::Token& token) {
  ++t_woken;
  token.reply<on_nothing>();
}

void compute_for(std::int64_t ns) {
  const timespec t{ns / kSecondNs, ns % kSecondNs};
  nanosleep(&t, nullptr);
}

void time_limits(Rig& rig) {
  for (const std::int64_t limit :
       {std::int64_t{0}, std::int64_t{1'000'000}, std::int64_t{30'000'000}}) {
    const std::uint64_t start = monotonic_ns();
    CHECK_EQ(rig.bundle().wait_until([] { return false; }, limit), Status::timeout);
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    CHECK(waited >= limit);
    CHECK(waited < limit + kLimitNs);
  }
  CHECK_EQ(rig.bundle().wait_until([] { return true; }, 0), Status::ok);
  CHECK_EQ(rig.bundle().wait_until([] { return true; }), Status::ok);
  rig.drain();
  rig.fence();
  CHECK_EQ(rig.bundle().wait(10'000'000), Status::timeout);
  t_woken = 0;
  rig.fence();
  rig.ok(rig.endpoint().request<on_wake>(rig.next()));
  while (t_woken == 0) REQUIRE(rig.bundle().wait(kLimitNs) == Status::ok);
}

/// Rank 0 computes for kBlockedNs, then acts. @p before, not counted, and @p blocked run on the
/// others.
/// @return nanoseconds of CPU time that @p blocked took
template <class Before, class Blocked, class Act>
std::int64_t blocked_time(Rig& rig, const char* by, Before& before, Blocked& blocked, Act& act) {
  std::int64_t used = 0;
  rig.ok(rig.endpoint().request<on_wake_asked>(am::Index{0}));
  rig.ok(rig.endpoint().request<on_nothing>(rig.next()));
  rig.drain();
  t_woken = 0;
  const std::uint64_t start = monotonic_ns();
  rig.fence();
  if (rig.rank() == 0) {
    compute_for(kBlockedNs);
    act();
  } else {
    before();
    const std::int64_t cpu = thread_cpu_ns();
    blocked();
    used = thread_cpu_ns() - cpu;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    CHECK(waited > kBlockedNs * 8 / 10);
    CHECK(waited < kLimitNs);
    if (rig.rank() == 1) {
      std::fputs(fmt::format("blocked for {} ms until woken by {}: {} us of CPU time\n",
                             waited / 1'000'000, by, used / 1000)
                     .c_str(),
                 stdout);
      std::fflush(stdout);
    }
  }
  rig.barrier();
  return used;
}

/// What it costs to be blocked for kBlockedNs, and that it ends then.
template <class Before, class Blocked, class Act>
void expect_cheap_block(Rig& rig, const char* by, Before&& before, Blocked&& blocked, Act&& act) {
  Note note("woken by {}", by);
  // Remote ranks run in an emulated machine, which charges a thread for what others take from it
  // meanwhile: that adds, now and then, and never takes away. A rank that is not blocked pays each
  // time.
  const bool remote = rig.context().nic().is_remote(Rank{rig.rank() == 0 ? 1U : 0U});
  const int tries = remote ? 3 : 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  bool cheap = false;
  for (int i = 0; i < tries && !cheap; ++i) {
    least = std::min(least, blocked_time(rig, by, before, blocked, act));
    const auto all = rig.exchange(least);
    cheap = *std::max_element(all.begin(), all.end()) < kMostCpuNs;
  }
  Note costs("{} us of CPU time", least / 1000);
  CHECK(least < kMostCpuNs);
}

void woken_by_message(Rig& rig) {
  expect_cheap_block(
      rig, "a message", [] {},
      [&] {
        CHECK_EQ(rig.bundle().wait(kLimitNs), Status::ok);
        CHECK_EQ(t_woken, 1);
      },
      [&] {
        for (std::uint32_t r = 1; r < rig.size(); ++r)
          rig.ok(rig.endpoint().request<on_wake>(am::Index{r}));
      });
}

void woken_by_barrier(Rig& rig) {
  expect_cheap_block(
      rig, "a barrier", [] {}, [&] { rig.barrier(); }, [&] { rig.barrier(); });
}

/// Requests beyond the credits wait until rank 0 polls again. It may have some still from before.
void woken_by_credits(Rig& rig) {
  const std::uint32_t all = rig.endpoint().credits() + 1;
  std::uint32_t sent = 0;
  expect_cheap_block(
      rig, "credits",
      [&] {
        sent = 0;
        while (sent < all && rig.endpoint().try_request<on_wake>(am::Index{0}) == Status::ok)
          ++sent;
        CHECK(sent < all);
      },
      [&] {
        for (; sent < all; ++sent) rig.ok(rig.endpoint().request<on_wake>(am::Index{0}));
      },
      [&] {
        for (std::uint32_t r = 1; r < rig.size(); ++r) rig.until_waits_for_room(r);
        rig.until([&] { return t_woken == all * (rig.size() - 1); });
      });
}

/// The time limit of a wait that is blocked.
void woken_by_time(Rig& rig) {
  expect_cheap_block(
      rig, "its time limit", [] {},
      [&] { CHECK_EQ(rig.bundle().wait_until([] { return false; }, kBlockedNs), Status::timeout); },
      [] {});
}

/// Thousands of short sleeps on either side: none may miss its wake-up.
void no_wake_up_lost(Rig& rig) {
  const std::uint32_t rounds = rig.size() > 8 ? 50 : 300;
  t_woken = 0;
  rig.barrier();
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    rig.ok(rig.endpoint().request<on_wake>(rig.next()));
    rig.until([&] { return t_woken >= i; });
    if (rig.random_below(4) == 0) compute_for(static_cast<std::int64_t>(rig.random_below(300'000)));
  }
  rig.barrier();
  CHECK_EQ(t_woken, rounds);
}

/// The requests that were sent before a barrier are handled at its end, also where the rank comes
/// last and finds more of them than one poll handles.
void barrier_handles_what_came_before(Rig& rig) {
  constexpr std::uint32_t kMost = 100;
  const std::uint32_t from = (rig.rank() + rig.size() - 1) % rig.size();
  for (std::uint32_t round = 0; round < rig.size() + 1; ++round) {
    rig.drain();
    t_woken = 0;
    rig.fence();
    std::uint32_t sent = 0;
    while (sent < kMost && rig.endpoint().try_request<on_wake>(rig.next()) == Status::ok) ++sent;
    const auto all = rig.exchange(sent);
    if (round == rig.rank()) compute_for(2'000'000);
    rig.ok(rig.bundle().barrier());
    if (!rig.context().nic().is_remote(Rank{from})) CHECK_EQ(t_woken, all[from]);
  }
}

constexpr std::array kCases{
    Case{"wait.time_limits", Needs::any, time_limits},
    Case{"wait.woken_by_message", Needs::two, woken_by_message},
    Case{"wait.woken_by_barrier", Needs::two, woken_by_barrier},
    Case{"wait.woken_by_credits", Needs::two, woken_by_credits},
    Case{"wait.woken_by_time", Needs::two, woken_by_time},
    Case{"wait.no_wake_up_lost", Needs::any, no_wake_up_lost},
    Case{"wait.barrier_handles_what_came_before", Needs::any, barrier_handles_what_came_before},
};

}  // namespace

std::span<const Case> wait_cases() { return kCases; }

}  // namespace viaduct::am_test
