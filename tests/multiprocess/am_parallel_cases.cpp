/// Parallel bundles: threads of a rank that send, poll and wait at once.

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace viaduct::am_test {
namespace {

constexpr std::uint32_t kThreads = 4;

/// Handlers run in any thread of the rank, so what they count is found by rank.
struct Counts {
  std::atomic<std::uint64_t> handled{0};
  std::atomic<std::uint64_t> replies{0};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::uint64_t> wrong{0};
};
std::array<Counts, kMaxRanks> g_counts;
Counts& counts_of(am::Token& token) { return g_counts[index(token.endpoint().name().rank)]; }

void on_replied(am::Token& token, std::uint64_t value) {
  counts_of(token).sum += value;
  ++counts_of(token).replies;
}
void on_request(am::Token& token, std::uint64_t value) {
  ++counts_of(token).handled;
  token.reply<on_replied>(value);
}
void on_medium_replied(am::Token& token, std::span<const std::byte> data, std::uint64_t seed) {
  if (first_wrong(data, seed) != data.size()) ++counts_of(token).wrong;
  counts_of(token).sum += seed;
  ++counts_of(token).replies;
}
void on_medium(am::Token& token, std::span<const std::byte> data, std::uint64_t seed) {
  if (first_wrong(data, seed) != data.size()) ++counts_of(token).wrong;
  ++counts_of(token).handled;
  (void)token.reply_medium<on_medium_replied>(data, seed);
}

struct Parallel {
  am::Bundle bundle;
  am::Endpoint endpoint;

  explicit Parallel(Rig& rig)
      : bundle(rig.context(), am::Bundle::Threads::parallel), endpoint(bundle) {
    Counts& mine = g_counts[rig.rank()];
    mine.handled = mine.replies = mine.sum = mine.wrong = 0;
    rig.collect_returned(endpoint);
    const auto names = rig.exchange(endpoint.name());
    for (std::uint32_t r = 0; r < rig.size(); ++r)
      rig.ok(endpoint.map(am::Index{r}, names[r], am::kTagAll));
  }
};

/// What one thread of a rank does; answers the sum of what it sent, or ~0 when a call failed.
std::uint64_t work(Parallel& p, std::uint32_t ranks, std::uint32_t thread, std::uint32_t each) {
  std::uint64_t sum = 0;
  std::vector<std::byte> data(500);
  for (std::uint32_t i = 0; i < each; ++i) {
    const am::Index to{(i * 7 + thread) % ranks};
    const std::uint64_t value = i * 31 + thread;
    if (i % 10 == 3) {
      fill(data, value);
      if (p.endpoint.request_medium<on_medium>(to, std::span(data), value) != Status::ok)
        return ~std::uint64_t{0};
    } else if (p.endpoint.request<on_request>(to, value) != Status::ok) {
      return ~std::uint64_t{0};
    }
    sum += value;
    if (i % 5 == 0) (void)p.bundle.poll();
    if (i % 97 == 0) (void)p.bundle.wait(100'000);
  }
  return sum;
}

void four_threads(Rig& rig) {
  Parallel p(rig);
  const std::uint32_t each = rig.size() > 4 ? 500 : 2000;
  std::array<std::uint64_t, kThreads> sums{};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { sums[t] = work(p, rig.size(), t, each); });
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (const std::uint64_t s : sums) {
    CHECK(s != ~std::uint64_t{0});
    sum += s;
  }
  Counts& mine = g_counts[rig.rank()];
  REQUIRE_EQ(
      p.bundle.wait_until([&] { return mine.replies == std::uint64_t{kThreads} * each; }, kLimitNs),
      Status::ok);
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
  std::uint64_t to_me = 0;
  for (std::uint32_t r = 0; r < rig.size(); ++r)
    for (std::uint32_t t = 0; t < kThreads; ++t)
      for (std::uint32_t i = 0; i < each; ++i)
        to_me += (i * 7 + t) % rig.size() == rig.rank() ? 1 : 0;
  CHECK_EQ(mine.handled.load(), to_me);
  CHECK_EQ(mine.sum.load(), sum);
  CHECK_EQ(mine.wrong.load(), 0);
  CHECK(rig.back.empty());
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
}

/// Some threads wait for messages that another one's polls may handle: each must hear of it.
void waiters_and_pollers(Rig& rig) {
  Parallel p(rig);
  Counts& mine = g_counts[rig.rank()];
  constexpr std::uint64_t kRounds = 200;
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> failed{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 1; i <= kRounds; ++i)
        if (p.bundle.wait_until([&] { return mine.handled >= i; }, kLimitNs) != Status::ok)
          ++failed;
    });
  threads.emplace_back([&] {  // polls a little, then leaves the bundle alone for a while
    while (!stop) {
      for (int i = 0; i < 300; ++i) (void)p.bundle.poll();
      std::this_thread::yield();
      const timespec t{0, 300'000};
      nanosleep(&t, nullptr);
    }
  });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    rig.ok(p.endpoint.request<on_request>(rig.next(), i));
    REQUIRE_EQ(p.bundle.wait_until([&] { return mine.replies >= i; }, kLimitNs), Status::ok);
  }
  threads[0].join();
  threads[1].join();
  stop = true;
  threads[2].join();
  CHECK_EQ(failed.load(), 0);
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
  CHECK_EQ(mine.handled.load(), kRounds);
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
}

/// A thread that sleeps in wait_until hears of what @p stir, called by another thread, makes true
/// without any message.
void wake_by(Rig& rig, Parallel& p, const std::function<void()>& stir,
             const std::function<bool()>& done) {
  const RankRecord& record = rig.job().record(Rank{rig.rank()});
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t start = monotonic_ns();
    Status status = Status::retry;
    std::thread waiter([&] { status = p.bundle.wait_until(done, kLimitNs); });
    while (record.sleeping.load() == 0 &&
           monotonic_ns() - start < static_cast<std::uint64_t>(kLimitNs))
      std::this_thread::yield();
    stir();
    waiter.join();
    REQUIRE_EQ(status, Status::ok);
  }
}

std::array<std::atomic<bool>, kMaxRanks> g_stirred;
void on_got(am::Token& token, std::span<std::byte>) {
  g_stirred[index(token.endpoint().name().rank)] = true;
}

void waiter_hears_of_gets_and_returns(Rig& rig) {
  Parallel p(rig);
  std::atomic<bool>& stirred = g_stirred[rig.rank()];
  const auto take = [&] { return stirred.exchange(false); };
  stirred = false;
  p.endpoint.make_segment(4096);
  std::vector<std::byte> data(64);
  rig.barrier();
  rig.ok(p.endpoint.get<on_got>(rig.next(), std::span(data), 0));  // the MAP is there
  REQUIRE(take());
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
  wake_by(
      rig, p, [&] { rig.ok(p.endpoint.get<on_got>(rig.next(), std::span(data), 0)); }, take);
  p.endpoint.set_undeliverable_handler([&](const am::Returned&) { stirred = true; });
  wake_by(
      rig, p, [&] { rig.ok(p.endpoint.request<on_request>(am::Index{900}, std::uint64_t{1})); },
      take);
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
}

/// Endpoints are made, changed and ended while other threads are in the bundle.
void set_up_beside_waiters(Rig& rig) {
  Parallel p(rig);
  Counts& mine = g_counts[rig.rank()];
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; !stop; ++i) {
        (void)p.endpoint.request<on_request>(rig.next(), i);
        if (t == 0)
          (void)p.bundle.poll();
        else
          (void)p.bundle.wait(50'000);
      }
    });
  for (std::uint32_t i = 1; i <= 200; ++i) {
    am::Endpoint other(p.bundle, 5);
    other.set_undeliverable_handler([](const am::Returned&) {});
    CHECK_EQ(other.map(am::Index{0}, {Rank{rig.rank()}, p.endpoint.name().number}, 5), Status::ok);
    (void)other.make_segment(1000);
    CHECK_EQ(other.set_handler(am::HandlerId{7}, nullptr), Status::ok);
    CHECK_EQ(p.endpoint.set_handler(am::HandlerId{7}, nullptr), Status::ok);
    other.set_tag(i);
    p.endpoint.set_tag(am::kTagAll);
    other.set_translations(1024 + 10 * i);
    (void)p.endpoint.make_segment(100 + i);
    CHECK_EQ(p.endpoint.request<on_request>(rig.next(), std::uint64_t{i}), Status::ok);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  REQUIRE_EQ(p.bundle.wait_until([&] { return mine.handled >= 200; }, kLimitNs), Status::ok);
  REQUIRE_EQ(p.bundle.barrier(), Status::ok);
}

void on_counted(am::Token& token) { ++counts_of(token).handled; }
void on_end(am::Token& token) { ++counts_of(token).replies; }

constexpr am::Index kSpare{kMaxRanks};
constexpr am::Index kTo{1};

void sleep_ms(long ms) {
  const timespec t{0, ms * 1'000'000};
  nanosleep(&t, nullptr);
}

/// Requests wait for a credit while another thread unmaps their index: each arrives or comes back.
/// None goes to another rank.
void unmap_under_a_wait(Rig& rig) {
  for (int round = 0; round < 8; ++round) {
    Parallel p(rig);
    std::uint64_t sent = 0;
    if (rig.rank() == 0) {
      rig.ok(p.endpoint.map(kSpare, p.endpoint.translation_name(kTo), am::kTagAll));
      rig.ok(p.endpoint.request<on_counted>(kTo));
      REQUIRE_EQ(p.bundle.barrier(), Status::ok);
      for (++sent; p.endpoint.try_request<on_counted>(kSpare) == Status::ok; ++sent) {
      }
      std::vector<std::thread> threads;
      threads.emplace_back([&] { rig.ok(p.endpoint.unmap(kSpare)); });
      sleep_ms(20);
      for (int i = 0; i < 2; ++i, ++sent)
        threads.emplace_back([&] { rig.ok(p.endpoint.request<on_counted>(kSpare)); });
      sleep_ms(20);
      rig.fence();
      for (std::thread& thread : threads) thread.join();
    } else {
      REQUIRE_EQ(p.bundle.barrier(), Status::ok);
      rig.fence();  // nobody polls meanwhile
    }
    REQUIRE_EQ(p.bundle.barrier(), Status::ok);
    sent = rig.exchange(sent)[0];
    const std::uint64_t back = rig.exchange(rig.back.size())[0];
    if (rig.rank() == 1) CHECK_EQ(g_counts[1].handled + back, sent);
    if (rig.rank() != 1) CHECK_EQ(g_counts[rig.rank()].handled.load(), 0);
    for (const Back& message : rig.back) CHECK(message.status == am::Undeliverable::bad_entry);
    rig.back.clear();
    REQUIRE_EQ(p.bundle.barrier(), Status::ok);
  }
}

/// unmap() waits for the credit of a request that another thread sends behind its notice, to a peer
/// that only polls.
void unmap_beside_requests(Rig& rig) {
  Parallel p(rig);
  constexpr std::uint32_t kRequests = 3;  // to a peer that does not poll
  if (p.endpoint.credits() < kRequests) return;
  Counts& mine = g_counts[rig.rank()];
  if (rig.rank() == 0) {
    rig.ok(p.endpoint.map(kSpare, p.endpoint.translation_name(kTo), am::kTagAll));
    rig.ok(p.endpoint.request<on_counted>(kTo));
    REQUIRE_EQ(p.bundle.barrier(), Status::ok);
    rig.ok(p.endpoint.request<on_counted>(kTo));
    std::atomic<bool> done{false};
    std::thread unmaps([&] {
      rig.ok(p.endpoint.unmap(kSpare));
      done = true;
    });
    sleep_ms(20);
    rig.ok(p.endpoint.request<on_counted>(kTo));
    rig.fence();
    const std::uint64_t begin = monotonic_ns();
    while (!done && monotonic_ns() - begin < static_cast<std::uint64_t>(kLimitNs)) sleep_ms(1);
    CHECK(done);
    rig.ok(p.endpoint.request<on_end>(kTo));
    REQUIRE_EQ(p.bundle.barrier(), Status::ok);
    unmaps.join();
  } else {
    REQUIRE_EQ(p.bundle.barrier(), Status::ok);
    rig.fence();  // nobody polls meanwhile
    while (rig.rank() == 1 && mine.replies == 0) (void)p.bundle.poll();
    REQUIRE_EQ(p.bundle.barrier(), Status::ok);
  }
}

constexpr std::size_t kWide = 4096;

void on_wide_replied(am::Token& token, std::span<const std::byte>) { ++counts_of(token).replies; }
void on_wide(am::Token& token) {
  static const std::array<std::byte, kWide> data{};
  (void)token.reply_medium<on_wide_replied>(data);
}

/// A handler of bundle x waits in the second thread for room that bundle y of the first thread
/// gives. The first thread's polls and waits in x let y have its turn.
void waits_beside_a_waiting_handler(Rig& rig) {
  am::Bundle x(rig.context(), am::Bundle::Threads::parallel);
  am::Bundle y(rig.context(), am::Bundle::Threads::parallel);
  am::Endpoint ex(x);
  am::Endpoint ey(y);
  rig.ok(ey.map(am::Index{0}, ex.name(), am::kTagAll));
  Counts& mine = g_counts[rig.rank()];
  mine.replies = 0;
  const std::uint32_t asks = std::min(8U, ey.credits());
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    const std::uint64_t all = mine.replies + asks;
    for (std::uint32_t i = 0; i < asks; ++i) {
      while (ey.try_request<on_wide>(am::Index{0}) == Status::retry) {
        (void)x.poll();
        (void)y.poll();
      }
    }
    const auto done = [&] { return mine.replies >= all; };
    std::thread second([&] {
      while (!done()) (void)x.wait(1'000'000);
    });
    sleep_ms(20);
    if (turn == 1) {
      const std::uint64_t begin = monotonic_ns();
      while (!done() && monotonic_ns() - begin < static_cast<std::uint64_t>(kLimitNs)) {
        (void)x.poll();
        (void)y.poll();
      }
    } else if (turn == 2) {
      CHECK_EQ(x.wait_until(done, kLimitNs), Status::ok);
    } else {
      CHECK_EQ(x.wait_until([] { return false; }, 1'000'000), Status::timeout);
      ex.set_tag(am::kTagAll);  // a call that waits for the handler's end
      CHECK_EQ(y.wait_until(done, kLimitNs), Status::ok);
    }
    CHECK(done());
    second.join();
  }
}

struct OfContext {
  am::Context context;
  am::Bundle bundle{context, am::Bundle::Threads::parallel};
  am::Endpoint endpoint{bundle};

  explicit OfContext(Job& job) : context(job) { endpoint.map_all(); }
};

std::array<std::array<am::Endpoint*, 3>, kMaxRanks> g_endpoints;

/// Asks its endpoint and those of later contexts as well: a long call into each.
std::uint64_t one_more(am::Token& token, std::uint64_t value) {
  ++counts_of(token).handled;
  bool is_asked = false;
  for (am::Endpoint* const each : g_endpoints[index(token.endpoint().name().rank)]) {
    if (each == &token.endpoint()) is_asked = true;
    if (is_asked && !each->is_mapped(am::Index{0})) ++counts_of(token).wrong;
  }
  return value + 1;
}

/// Each wait in one context serves the others, and handlers of one call into the others.
void several_contexts(Rig& rig) {
  std::array<OfContext, 3> all{OfContext{rig.job()}, OfContext{rig.job()}, OfContext{rig.job()}};
  for (std::size_t c = 0; c < all.size(); ++c) g_endpoints[rig.rank()][c] = &all[c].endpoint;
  g_counts[rig.rank()].handled = g_counts[rig.rank()].wrong = 0;
  rig.fence();
  const std::uint64_t calls = rig.size() > 4 ? 60 : 300;
  const auto call_all = [&](std::size_t first) {
    std::uint64_t answered = 0;
    for (std::uint64_t i = 0; i < calls; ++i)
      for (std::size_t c = 0; c < all.size(); ++c) {
        am::Endpoint& endpoint = all[(first + c) % all.size()].endpoint;
        const auto answer = endpoint.call<one_more>(rig.next(), i).wait();
        answered += answer && *answer == i + 1 ? 1 : 0;
      }
    return answered;
  };
  for (const bool with_second : {false, true}) {
    std::uint64_t answered = calls * all.size();
    std::atomic<bool> ended = !with_second;
    std::thread second([&] {
      if (!with_second) return;
      answered = call_all(2);
      ended = true;
    });
    CHECK_EQ(call_all(0), calls * all.size());
    // The waits of this thread serve all bundles, for the other ranks, too.
    while (!ended) (void)all[0].bundle.wait(1'000'000);
    second.join();
    CHECK_EQ(answered, calls * all.size());
    for (OfContext& one : all) REQUIRE_EQ(one.bundle.barrier(), Status::ok);
  }
  CHECK_EQ(g_counts[rig.rank()].handled.load(), 3 * calls * all.size());
  CHECK_EQ(g_counts[rig.rank()].wrong.load(), 0);
}

void on_slow(am::Token& token) {
  const std::uint64_t begin = monotonic_ns();
  while (monotonic_ns() - begin < 300'000) {
  }
  ++counts_of(token).handled;
}
void on_enough(am::Token& token) { ++counts_of(token).wrong; }

/// A thread waits in one bundle, and finds messages at every look. The calls of another thread have
/// their turns all the same.
void busy_wait(Rig& rig) {
  Parallel busy(rig);
  Parallel quiet(rig);
  Counts& mine = g_counts[rig.rank()];
  if (rig.rank() == 0) {
    constexpr int kCalls = 20;
    std::atomic<bool> done{false};
    REQUIRE_EQ(busy.bundle.wait_until([&] { return mine.handled >= 20; }, kLimitNs), Status::ok);
    std::thread beside([&] {
      for (int i = 0; i < kCalls; ++i) mine.sum += quiet.endpoint.is_mapped(am::Index{1}) ? 1 : 0;
      done = true;
    });
    CHECK_EQ(busy.bundle.wait_until([&] { return done.load(); }, kLimitNs), Status::ok);
    beside.join();
    CHECK_EQ(mine.sum.load(), std::uint64_t{kCalls});
    for (std::uint32_t r = 1; r < rig.size(); ++r)
      rig.ok(busy.endpoint.request<on_enough>(am::Index{r}));
  } else {
    while (mine.wrong == 0) rig.ok(busy.endpoint.request<on_slow>(am::Index{0}));
  }
  REQUIRE_EQ(busy.bundle.barrier(), Status::ok);
}

void on_note(am::Token& token) { ++counts_of(token).sum; }
void on_last(am::Token& token) { ++counts_of(token).wrong; }

/// A thread that sends alone, to a bundle whose requests run replies alone while they wait, takes
/// the replies all the same.
void replies_alone(Rig& rig) {
  Parallel own(rig);
  Counts& mine = g_counts[rig.rank()];
  own.endpoint.set_wait_run(am::Bundle::Run::replies);
  rig.fence();
  if (rig.rank() == 0) {
    rig.ok(own.endpoint.request<on_request>(rig.next(), 1));
    REQUIRE_EQ(own.bundle.wait_until([&] { return mine.replies == 1; }, 30'000'000'000),
               Status::ok);
    rig.ok(own.endpoint.request<on_request>(rig.next(), 1));
    constexpr timespec kNap{0, 100'000};
    for (int i = 0; i < 20'000 && mine.replies == 1; ++i) {
      rig.ok(own.endpoint.request<on_note>(rig.next()));
      nanosleep(&kNap, nullptr);
    }
    CHECK_EQ(mine.replies.load(), 2);
    rig.ok(own.endpoint.request<on_last>(rig.next()));
  } else if (rig.rank() == 1) {
    REQUIRE_EQ(own.bundle.wait_until([&] { return mine.wrong == 1; }, 60'000'000'000), Status::ok);
  }
  REQUIRE_EQ(own.bundle.barrier(), Status::ok);
}

constexpr std::array kCases{
    Case{"parallel.replies_alone", Needs::two, replies_alone},
    Case{"parallel.several_contexts", Needs::any, several_contexts},
    Case{"parallel.busy_wait", Needs::two, busy_wait},
    Case{"parallel.unmap_under_a_wait", Needs::two, unmap_under_a_wait},
    Case{"parallel.unmap_beside_requests", Needs::two, unmap_beside_requests},
    Case{"parallel.waits_beside_a_waiting_handler", Needs::any, waits_beside_a_waiting_handler},
    Case{"parallel.four_threads", Needs::any, four_threads},
    Case{"parallel.waiters_and_pollers", Needs::any, waiters_and_pollers},
    Case{"parallel.waiter_hears_of_gets_and_returns", Needs::any, waiter_hears_of_gets_and_returns},
    Case{"parallel.set_up_beside_waiters", Needs::any, set_up_beside_waiters},
};

}  // namespace

std::span<const Case> parallel_cases() { return kCases; }

}  // namespace viaduct::am_test
