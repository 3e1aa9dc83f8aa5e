/// @file
/// What survivors of Active Messages see when the last rank is killed or leaves, in the state that
/// the argument names. Under viaduct-run --keep-going, with 3 ranks or more. Each survivor prints
/// "survived".

#include <sched.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using namespace viaduct;

constexpr std::uint64_t kBoundNs = 60'000'000'000;  // only a hang takes so long

std::string_view g_how;
am::Index g_victim{};
std::uint64_t g_replies = 0;
std::uint64_t g_back = 0;
std::uint64_t g_at_victim = 0;
std::uint64_t g_done = 0;  // survivors that want nothing more
bool g_wrong = false;

bool how(std::string_view is) { return g_how == is; }

[[noreturn]] void die() {
  if (how("leaves")) std::_Exit(0);
  if (how("exits")) std::exit(0);
  std::raise(SIGKILL);
  std::abort();
}

void on_reply(am::Token&) { ++g_replies; }
void on_hello(am::Token& token) { token.reply<on_reply>(); }
void on_done(am::Token& token) {
  ++g_done;
  token.reply<on_reply>();
}
/// The victim's end, in its handler, with the credits of all that has come.
void on_never(am::Token&) {
  if (++g_at_victim == 3) die();
}
/// The victim's end, in its handler.
void on_last(am::Token&, std::uint32_t) { die(); }
void on_last_medium(am::Token&, std::span<const std::byte>) { die(); }

bool expect(bool passed, const char* what) {
  if (!passed) {
    std::printf("not so: %s\n", what);
    std::fflush(stdout);
    g_wrong = true;
  }
  return passed;
}

/// Handles messages until the victim's end has shown itself in @p done, within the bound.
void expect_within_bound(am::Bundle& bundle, const char* what, const std::function<bool()>& done) {
  const std::uint64_t start = monotonic_ns();
  const Status status = bundle.wait_until(done, 2 * kBoundNs);
  expect(status == Status::ok, what);
  const std::uint64_t waited = monotonic_ns() - start;
  if (!expect(waited < kBoundNs, "in time")) std::printf("%s: %lu ms\n", what, waited / 1'000'000);
}

void survive(am::Endpoint& endpoint, am::Bundle& bundle, std::uint32_t rank) {
  if (how("in_barrier") || how("leaves") || how("exits")) {
    const std::uint64_t start = monotonic_ns();
    expect(bundle.barrier() == Status::peer_lost, "the barrier answers peer_lost");
    expect(monotonic_ns() - start < kBoundNs, "the barrier ends in time");
  } else if (how("in_handler") || how("in_medium_handler") || how("holding_credits")) {
    // Requests that the victim has taken or will never take: each comes back once.
    std::uint64_t sent = 0;
    std::vector<std::byte> data(1000);
    if (how("in_medium_handler")) {
      sent +=
          endpoint.request_medium<on_last_medium>(g_victim, std::span(data)) == Status::ok ? 1 : 0;
    } else if (how("in_handler")) {
      sent += endpoint.request<on_last>(g_victim, 1U) == Status::ok ? 1 : 0;
    } else {
      while (sent < endpoint.credits() && endpoint.try_request<on_never>(g_victim) == Status::ok)
        ++sent;
    }
    expect_within_bound(bundle, "requests come back", [&] { return g_back >= sent; });
    expect(g_back == sent, "each request comes back once");
  } else if (how("while_requesting")) {
    std::uint64_t sent = 0;
    Status status = Status::ok;
    const std::uint64_t start = monotonic_ns();
    while ((status = endpoint.request<on_never>(g_victim)) == Status::ok &&
           monotonic_ns() - start < 2 * kBoundNs)
      ++sent;
    expect(status == Status::peer_lost, "a waiting request answers peer_lost");
    expect(monotonic_ns() - start < kBoundNs, "a waiting request ends in time");
    expect_within_bound(bundle, "requests come back", [&] { return g_back == sent; });
  }
  // idle, and all others in the end: requests come back, and soon they answer peer_lost.
  std::uint64_t accepted = g_back;
  const std::uint64_t start = monotonic_ns();
  while (endpoint.request<on_hello>(g_victim) == Status::ok && monotonic_ns() - start < kBoundNs) {
    ++accepted;
    (void)bundle.wait(1'000'000);
  }
  expect(monotonic_ns() - start < kBoundNs, "requests answer peer_lost in time");
  // Those that the victim answered before its end have their replies; the two that everybody began
  // with are not of them.
  expect_within_bound(bundle, "requests come back",
                      [&] { return g_back + g_replies - 2 == accepted; });
  expect(endpoint.request<on_hello>(g_victim) == Status::peer_lost, "requests answer peer_lost");
  expect(endpoint.try_request<on_hello>(g_victim) == Status::peer_lost,
         "try_request answers peer_lost");
  // Survivors go on with each other.
  const am::Index partner{(rank + 1) % value(g_victim)};
  const std::uint64_t before = g_replies;
  expect(endpoint.request<on_hello>(partner) == Status::ok, "survivors talk");
  expect_within_bound(bundle, "survivors answer", [&] { return g_replies == before + 1; });
}

int body(Job& job, int argc, char** argv) {
  static std::string argument = argc > 1 ? argv[1] : "idle";
  g_how = argument;
  if (job.size() < 3 || job.threads_mode()) {
    std::puts("needs 3 ranks or more, as processes");
    return 77;
  }
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.set_undeliverable_handler([](const am::Returned& r) {
    ++g_back;
    expect(r.status == am::Undeliverable::unreachable, "returned as unreachable");
    expect(r.peer == g_victim, "returned from the victim");
  });
  const std::uint32_t rank = index(job.rank());
  const std::uint32_t victim = job.size() - 1;
  g_victim = am::Index{victim};
  bool ok = endpoint.request<on_hello>(am::Index{(rank + 1) % job.size()}) == Status::ok;
  ok = endpoint.request<on_hello>(g_victim) == Status::ok && ok;
  ok = bundle.wait_until([] { return g_replies == 2; }, kBoundNs) == Status::ok && ok;
  ok = bundle.barrier() == Status::ok && ok;
  expect(ok, "all talk to the victim");
  if (rank == victim) {
    if (how("in_handler") || how("in_medium_handler"))
      (void)bundle.wait_until([] { return false; });
    // It never sleeps: it would give the credits back that it has.
    while (how("holding_credits") || how("while_requesting"))
      if (bundle.poll() == 0) sched_yield();
    die();
  }
  survive(endpoint, bundle, rank);
  // The other survivors may still want answers.
  const std::uint64_t before = g_replies;
  for (std::uint32_t r = 0; r < victim; ++r)
    expect(endpoint.request<on_done>(am::Index{r}) == Status::ok, "survivors tell each other");
  expect(bundle.wait_until([&] { return g_done == victim && g_replies >= before + victim; },
                           kBoundNs) == Status::ok,
         "all survivors have what they want");
  if (g_wrong) return 1;
  std::puts("survived");
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
