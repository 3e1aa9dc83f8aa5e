/// @file
/// A handler waits with its reply, its wait serves another bundle, and a handler of that one waits
/// in turn: other threads stay out of both bundles. Then a thread waits in the first bundle, and is
/// in a handler of the second one, when another thread's handler waits in the first one: the first
/// thread stays out of that bundle until the handler has ended.
///
///     VIADUCT_AM_SLOTS=8 VIADUCT_AM_CREDITS=3 viaduct-run -n 3 am_nested_waits
///
///     rank 1 --ask x 3--> rank 0, bundle first     its wide answers find no room: rank 1 does not
///     poll rank 2 <-question x 3-- rank 0, bundle second   the third refused answer finds no room
///     to go back
///
/// Both peers poll again when the threads of rank 0 have looked at both bundles.

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <thread>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using namespace viaduct;

using Wide = std::array<std::uint64_t, 16>;
constexpr int kAsks = 3;
constexpr std::int64_t kLimitNs = 30'000'000'000;

std::atomic<int> g_asked{0};
std::atomic<int> g_answers{0};
std::atomic<int> g_sent_back{0};
std::atomic<int> g_hellos{0};
std::atomic<int> g_late{0};
std::atomic<int> g_in_ask{0};
std::atomic<bool> g_wrong{false};

void expect(bool passed, const char* what) {
  if (passed) return;
  std::printf("not so: %s\n", what);
  g_wrong = true;
}

void on_answer(am::Token&, Wide) { ++g_answers; }
void on_ask(am::Token& token) {
  ++g_asked;
  ++g_in_ask;
  token.reply<on_answer>(Wide{});
  --g_in_ask;
}
/// Comes while an ask is being handled.
void on_late(am::Token& token) {
  const std::array<std::uint64_t, 16> words{};
  expect(g_in_ask == 0, "one handler of a bundle runs at a time");
  ++g_late;
  token.send_back(am::Undeliverable::bad_arguments, words, sizeof words);
}
void on_refused(am::Token& token) {
  const std::array<std::uint64_t, 16> words{};
  ++g_sent_back;
  token.send_back(am::Undeliverable::bad_arguments, words, sizeof words);
}
void on_question(am::Token& token) {
  ++g_asked;
  token.reply<on_refused>();
}
void on_hello_reply(am::Token&) { ++g_hellos; }
void on_hello(am::Token& token) { token.reply<on_hello_reply>(); }

void nap() {
  constexpr timespec kNap{0, 1'000'000};
  nanosleep(&kNap, nullptr);
}

template <class Done>
bool nap_until(Done&& done) {
  const std::uint64_t begin = monotonic_ns();
  while (!done() && monotonic_ns() - begin < static_cast<std::uint64_t>(kLimitNs)) nap();
  return done();
}

/// Polls for 100 ms.  @return the number of messages.
std::uint32_t poll_for_long(am::Bundle& bundle) {
  std::uint32_t sum = 0;
  const std::uint64_t begin = monotonic_ns();
  while (monotonic_ns() - begin < 100'000'000) {
    sum += bundle.poll();
    nap();
  }
  return sum;
}

struct Ends {
  explicit Ends(Job& job) : context(job) {}

  am::Context context;
  am::Bundle first{context, am::Bundle::Threads::parallel};
  am::Bundle second{context, am::Bundle::Threads::parallel};
  am::Endpoint of_first{first};
  am::Endpoint of_second{second};
};

/// The thread beside the one whose handlers wait.
void look_at_both(Ends& ends, Job& job, const std::atomic<bool>& done) {
  expect(nap_until([] { return g_sent_back == kAsks; }), "three answers are sent back");
  expect(poll_for_long(ends.first) == 0, "a poll of the first bundle finds nothing");
  expect(poll_for_long(ends.second) == 0, "a poll of the second bundle finds nothing");
  std::uint32_t found = 0;
  const auto asks_the_first = [&] { return (found += ends.first.poll()) != 0; };
  expect(ends.second.wait_until(asks_the_first, 100'000'000) == Status::timeout,
         "a wait in the second bundle, that polls the first one, ends in time");
  expect(!done, "the handlers wait for room until the peers poll again");
  job.bootstrap().fence();
}

void wait_in_handlers(Ends& ends, Job& job) {
  for (int i = 0; i < kAsks; ++i)
    expect(ends.of_second.request<on_question>(am::Index{2}) == Status::ok, "a question");
  job.bootstrap()
      .fence();  // the asks and the refused answers are here, and wait for the first poll
  std::atomic<bool> done{false};
  std::thread beside([&] { look_at_both(ends, job, done); });
  expect(ends.first.wait_until([] { return g_asked == kAsks; }, kLimitNs) == Status::ok,
         "all asks are handled");
  done = true;
  beside.join();
}

/// Rank 0 in the second part.
void wait_outside(Ends& ends, Job& job) {
  for (int i = 0; i < kAsks; ++i)
    expect(ends.of_second.request<on_question>(am::Index{2}) == Status::ok, "a question");
  job.bootstrap().fence();  // the refused answers are here
  std::thread beside([&] {
    expect(nap_until([] { return g_sent_back == kAsks; }), "three answers are sent back");
    job.bootstrap().fence();  // rank 1 asks
    while (g_asked < kAsks) {
      (void)ends.first.poll();
      nap();
    }
  });
  std::thread director([&] {
    expect(nap_until([] { return g_asked == kAsks; }), "the asks are begun");
    for (int i = 0; i < 20; ++i) nap();
    job.bootstrap().fence();  // rank 2 sends late messages, and polls
    for (int i = 0; i < 100; ++i) nap();
    expect(g_in_ask == 1, "a handler waits for room until rank 1 polls again");
    job.bootstrap().fence();  // rank 1 polls
  });
  const auto all_done = [] { return g_late == kAsks && g_asked == kAsks && g_in_ask == 0; };
  expect(ends.first.wait_until(all_done, kLimitNs) == Status::ok, "all is handled");
  beside.join();
  director.join();
}

void second_part(Ends& ends, Job& job) {
  job.bootstrap().fence();
  g_asked = g_answers = g_sent_back = 0;
  job.bootstrap().fence();
  const std::uint32_t me = index(job.rank());
  if (me == 0) return wait_outside(ends, job);
  if (me == 2)
    expect(ends.second.wait_until([] { return g_asked == kAsks; }, kLimitNs) == Status::ok,
           "all questions come");
  job.bootstrap().fence();
  job.bootstrap().fence();
  if (me == 1) {
    for (int i = 0; i < kAsks; ++i)
      expect(ends.of_first.request<on_ask>(am::Index{0}) == Status::ok, "an ask");
  }
  job.bootstrap().fence();
  if (me == 2) {
    for (int i = 0; i < kAsks; ++i)
      expect(ends.of_first.request<on_late>(am::Index{0}) == Status::ok, "a late message");
    (void)ends.second.wait_until([] { return false; }, 50'000'000);
  }
  job.bootstrap().fence();
  if (me == 1)
    expect(ends.first.wait_until([] { return g_answers == kAsks; }, kLimitNs) == Status::ok,
           "all answers come");
}

int body(Job& job, int, char**) {
  Ends ends(job);
  const auto ignore = [](const am::Returned&) {};
  ends.of_first.set_undeliverable_handler(ignore);
  ends.of_second.set_undeliverable_handler(ignore);
  ends.of_first.map_all();
  const auto number = ends.of_second.name().number;
  expect(ends.of_second.map(am::Index{2}, {Rank{2}, number}, am::Tag{}) == Status::ok, "map");
  const std::uint32_t me = index(job.rank());
  {  // connects
    am::Endpoint& endpoint = me == 0 ? ends.of_second : ends.of_first;
    expect(endpoint.request<on_hello>(am::Index{me == 0 ? 2U : 0U}) == Status::ok, "a hello");
    am::Bundle& bundle = me == 0 ? ends.second : ends.first;
    expect(bundle.wait_until([] { return g_hellos == 1; }, kLimitNs) == Status::ok, "its reply");
  }
  expect(ends.first.barrier() == Status::ok, "barrier");
  job.bootstrap().fence();  // no rank polls in the barrier any more
  if (me == 0) wait_in_handlers(ends, job);
  if (me == 1) {
    for (int i = 0; i < kAsks; ++i)
      expect(ends.of_first.request<on_ask>(am::Index{0}) == Status::ok, "an ask");
    job.bootstrap().fence();
    job.bootstrap().fence();  // does not poll meanwhile
    expect(ends.first.wait_until([] { return g_answers == kAsks; }, kLimitNs) == Status::ok,
           "all answers come");
  }
  if (me == 2) {
    expect(ends.second.wait_until([] { return g_asked == kAsks; }, kLimitNs) == Status::ok,
           "all questions come");
    job.bootstrap().fence();
    job.bootstrap().fence();
  }
  // Bundle second of rank 2 is polled by the waits of the barrier, as all of the thread's are.
  expect(ends.first.barrier() == Status::ok, "the barrier between the parts");
  second_part(ends, job);
  expect(ends.first.barrier() == Status::ok, "the last barrier");
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
