/// @file
/// Two ranks talk over verbs, and the link goes down under them: `link_down DOWN UP`, the
/// commands for that. Each must learn within a bound that the other cannot be reached; every
/// request that was accepted has been answered or comes back; nobody waits for ever. `link_down
/// first DOWN UP`: it goes down before they talk.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using namespace viaduct;

// Seven times the time of VIADUCT_VERBS_TIMEOUT=14, four times over as the devices may, and the
// slowness of an emulated machine.
constexpr std::uint64_t kBoundNs = 60'000'000'000;
constexpr std::uint64_t kBefore = 200;  // requests

std::uint64_t g_replies = 0;
std::uint64_t g_back = 0;
bool g_wrong = false;

void on_reply(am::Token&, std::uint64_t) { ++g_replies; }
void on_request(am::Token& token, std::uint64_t number) { token.reply<on_reply>(number); }

void expect(bool passed, const char* what) {
  if (passed) return;
  std::printf("not so: %s\n", what);
  g_wrong = true;
}

void expect_loss(am::Endpoint& endpoint, am::Index other) {
  const Status status = endpoint.request<on_request>(other, std::uint64_t{0});
  expect(status == Status::peer_lost || g_back != 0, "the other is lost");
}

/// One rank waits in a request, the other between its attempts. Then the link comes up again: who
/// was out of reach stays lost to the endpoints that have noticed, and new ones talk.
int never_met(Job& job, am::Bundle& bundle, am::Endpoint& endpoint, am::Index other, char** argv) {
  const bool first = index(job.rank()) == 0;
  if (first && std::system(argv[0]) != 0) return 2;
  job.bootstrap().fence();
  const std::uint64_t start = monotonic_ns();
  Status status = Status::ok;
  if (first) status = endpoint.request<on_request>(other, std::uint64_t{0});
  while (monotonic_ns() - start < kBoundNs && status != Status::peer_lost && g_back == 0) {
    status = endpoint.try_request<on_request>(other, std::uint64_t{0});
    (void)bundle.wait(1'000'000);
  }
  expect(status == Status::peer_lost || g_back != 0, "the other is lost, within the bound");
  expect(monotonic_ns() - start < kBoundNs, "so is the one in a request");
  std::printf("rank %u: never met, lost after %lu ms\n", index(job.rank()),
              static_cast<unsigned long>((monotonic_ns() - start) / 1'000'000));
  job.bootstrap().fence();
  if (first && std::system(argv[1]) != 0) return 2;
  job.bootstrap().fence();
  if (first) expect_loss(endpoint, other);
  job.bootstrap().fence();
  if (!first) expect_loss(endpoint, other);
  job.bootstrap().fence();
  am::Endpoint again(bundle);
  again.map_all();
  job.bootstrap().fence();
  expect(again.request<on_request>(other, std::uint64_t{0}) == Status::ok, "a new one is taken");
  expect(bundle.wait_until([] { return g_replies == 1; }, kBoundNs) == Status::ok,
         "a request of a new endpoint is answered when the link is up again");
  expect(bundle.barrier() == Status::ok, "both have talked");
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

int body(Job& job, int argc, char** argv) {
  const bool first = argc == 4 && std::string_view(argv[1]) == "first";
  if (job.size() != 2 || (argc != 3 && !first)) return 2;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.set_undeliverable_handler([](const am::Returned& returned) {
    ++g_back;
    expect(returned.status == am::Undeliverable::unreachable, "returned as unreachable");
  });
  const am::Index other{1 - index(job.rank())};
  if (first) return never_met(job, bundle, endpoint, other, argv + 2);
  std::uint64_t sent = 0;
  for (; sent < kBefore; ++sent)
    expect(endpoint.request<on_request>(other, sent) == Status::ok, "requests are accepted");
  expect(bundle.wait_until([] { return g_replies == kBefore; }, 60'000'000'000) == Status::ok,
         "all are answered while the link is up");
  expect(bundle.barrier() == Status::ok, "both have talked");
  if (index(job.rank()) == 0 && std::system(argv[1]) != 0) return 2;
  expect(bundle.barrier() == Status::ok, "the link is down");
  const std::uint64_t start = monotonic_ns();
  Status status = Status::ok;
  while (monotonic_ns() - start < kBoundNs && status == Status::ok && g_back == 0) {
    status = endpoint.request<on_request>(other, sent);
    if (status == Status::ok) ++sent;
    (void)bundle.wait(1'000'000);
  }
  expect(status == Status::peer_lost || g_back != 0, "the other is lost, within the bound");
  std::printf("rank %u: lost after %lu ms\n", index(job.rank()),
              static_cast<unsigned long>((monotonic_ns() - start) / 1'000'000));
  const auto settled = [&] { return g_replies + g_back >= sent; };
  expect(bundle.wait_until(settled, 60'000'000'000) == Status::ok,
         "every request is answered or comes back");
  expect(endpoint.request<on_request>(other, sent) == Status::peer_lost,
         "from then on requests answer peer_lost");
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
