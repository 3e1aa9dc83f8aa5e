/// @file
/// What the others see of a rank whose Active Messages have ended and which waits for them in its
/// Job's destructor: whatever they still send comes back, soon, and nobody hangs. The argument says
/// in what state the last rank ends. Each of the others prints "told".

#include <sched.h>
#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using namespace viaduct;

constexpr std::uint64_t kBoundNs = 20'000'000'000;

thread_local std::string_view t_how;
thread_local std::uint64_t t_handled = 0;
thread_local std::uint64_t t_replies = 0;
thread_local std::uint64_t t_back = 0;
thread_local bool t_wrong = false;

bool how(std::string_view is) { return t_how == is; }

void on_reply(am::Token&) { ++t_replies; }
void on_hello(am::Token& token) {
  ++t_handled;
  token.reply<on_reply>();
}
void on_data(am::Token&, std::span<const std::byte>) {}
void on_got(am::Token&, std::span<std::byte>) {}

void expect(bool passed, const char* what) {
  if (passed) return;
  std::printf("not so: %s\n", what);
  std::fflush(stdout);
  t_wrong = true;
}

/// A bundle with two endpoints, each mapped to its like at every rank.
struct Parts {
  explicit Parts(Job& job) : context(job), bundle(context) {
    for (std::uint16_t i = 0; i < endpoints.size(); ++i) {
      endpoints[i] = std::make_unique<am::Endpoint>(bundle);
      for (std::uint32_t r = 0; r < job.size(); ++r)
        expect(endpoints[i]->map(am::Index{r}, {Rank{r}, i}, am::kTagAll) == Status::ok, "map");
      endpoints[i]->set_undeliverable_handler([](const am::Returned& returned) {
        ++t_back;
        expect(returned.status == am::Undeliverable::bad_endpoint, "returned as a bad endpoint");
      });
    }
    job.bootstrap().fence();
  }
  am::Context context;
  am::Bundle bundle;
  std::array<std::unique_ptr<am::Endpoint>, 2> endpoints;
};

/// @p send is accepted, and what it sends comes back within the bound.
template <class Send>
void expect_back(Parts& parts, const char* what, Send send) {
  const std::uint64_t before = t_back;
  expect(send() == Status::ok, what);
  expect(parts.bundle.wait_until([&] { return t_back != before; }, kBoundNs) == Status::ok, what);
}

void expect_all_back(Parts& parts, am::Index victim) {
  std::vector<std::byte> data(100);
  for (int round = 0; round < 3; ++round) {
    for (const auto& owned : parts.endpoints) {
      am::Endpoint& endpoint = *owned;
      expect_back(parts, "request", [&] { return endpoint.request<on_hello>(victim); });
      expect_back(parts, "medium request",
                  [&] { return endpoint.request_medium<on_data>(victim, std::span(data)); });
      expect_back(parts, "try_request", [&] {
        Status status = Status::retry;
        while ((status = endpoint.try_request<on_hello>(victim)) == Status::retry) {
        }
        return status;
      });
      expect_back(parts, "get", [&] { return endpoint.get<on_got>(victim, std::span(data), 0); });
      endpoint.set_wait_run(am::Bundle::Run::replies);
      expect_back(parts, "request that waits for replies alone",
                  [&] { return endpoint.request<on_hello>(victim); });
      endpoint.set_wait_run(am::Bundle::Run::all);
    }
  }
}

/// Requests and gets until the first one comes back; each is answered or comes back.
void send_until_told(Parts& parts, am::Index victim) {
  am::Endpoint& endpoint = *parts.endpoints[0];
  const std::uint64_t replies = t_replies;
  std::uint64_t sent = 0;
  const std::uint64_t start = monotonic_ns();
  while (t_back == 0 && monotonic_ns() - start < kBoundNs) {
    expect(endpoint.request<on_hello>(victim) == Status::ok, "requests are accepted");
    ++sent;
  }
  expect(t_back != 0, "something comes back");
  const auto all = [&] { return t_replies - replies + t_back == sent; };
  expect(parts.bundle.wait_until(all, kBoundNs) == Status::ok, "each is answered or comes back");
}

void talk(Parts& parts, Job& job) {
  const std::uint32_t victim = job.size() - 1;
  if (index(job.rank()) == victim) {
    const std::uint64_t wanted = 2 * (job.size() - 1);
    expect(parts.bundle.wait_until([&] { return t_handled == wanted; }, kBoundNs) == Status::ok,
           "all have said hello");
    return;
  }
  for (const auto& endpoint : parts.endpoints)
    expect(endpoint->request<on_hello>(am::Index{victim}) == Status::ok, "hello");
  expect(parts.bundle.wait_until([] { return t_replies == 2; }, kBoundNs) == Status::ok, "answers");
}

int body(Job& job, int argc, char** argv) {
  t_how = argc > 1 ? argv[1] : "known";
  if (job.size() < 2) return 77;
  Parts parts(job);
  const std::uint32_t victim = job.size() - 1;
  if (!how("unknown")) talk(parts, job);
  job.bootstrap().fence();
  if (index(job.rank()) == victim) {
    if (how("busy")) (void)parts.bundle.wait_until([] { return t_handled >= 1000; }, kBoundNs);
    return t_wrong ? 1 : 0;
  }
  if (how("busy")) {
    send_until_told(parts, am::Index{victim});
  } else if (!how("connecting")) {
    // Nobody polls before the victim is in its Job's destructor.
    while (job.record(Rank{victim}).activity.load() != Activity::barrier) sched_yield();
  }
  if (how("get_for_replies_alone")) {  // while the connection's end is known and the MAP not closed
    for (int polls = 0; polls < 1000; ++polls) (void)parts.bundle.poll(am::Bundle::Run::replies);
    std::vector<std::byte> data(100);
    am::Endpoint& endpoint = *parts.endpoints[0];
    endpoint.set_wait_run(am::Bundle::Run::replies);
    expect_back(parts, "get that waits for replies alone",
                [&] { return endpoint.get<on_got>(am::Index{victim}, std::span(data), 0); });
    endpoint.set_wait_run(am::Bundle::Run::all);
  }
  expect_all_back(parts, am::Index{victim});
  if (t_wrong) return 1;
  std::puts("told");
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
