// What one rank's peers cost it, measured: its resident memory before and after it has talked to
// them.
//
//     viaduct-run -n N memory [BUDGET]     bytes for an active peer; as given: 65536
//     viaduct-run -n N memory idle         prints what the last rank has resident before it talks
//     to anybody, and ends
//
// Rank 0 exchanges messages of all sizes, both ways, with a growing number of peers, and reads its
// own resident set (the shared pages that it has touched included) from /proc/self/smaps. The
// others are asked in turn: each talks to rank 0 alone. The difference by peer is compared with the
// budget and with what Endpoint::footprint() says.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "tests/stress/memory_use.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;
using stress::Use;
using stress::use_now;
using viaduct::Status;

namespace {

std::size_t g_active_budget = 64 * 1024;
constexpr std::size_t kIdleBudget = 256;
constexpr std::size_t kBulkBytes = 4096;  // to the same place at every peer and from every peer
constexpr std::uint64_t kShorts = 512;    // several laps of a ring
constexpr std::uint64_t kMediums = 16;

thread_local std::uint64_t answers = 0;
thread_local std::uint64_t asked_of_us = 0;
thread_local bool my_turn = false;

void on_answer(am::Token&, std::uint64_t) { ++answers; }
void on_short(am::Token& token, std::uint64_t x) {
  ++asked_of_us;
  token.reply<on_answer>(x);
}
void on_medium_back(am::Token&, std::span<const std::byte>) { ++answers; }
void on_medium(am::Token& token, std::span<const std::byte> data) {
  ++asked_of_us;
  const std::vector<std::byte> copy(data.begin(), data.end());
  (void)token.reply_medium<on_medium_back>(std::span<const std::byte>(copy));
}
void on_bulk(am::Token& token, std::span<std::byte>) {
  ++asked_of_us;
  token.reply<on_answer>(std::uint64_t{0});
}
void on_your_turn(am::Token&) { my_turn = true; }

constexpr std::uint64_t kMessages = kShorts + kMediums + 1;

/// All sizes to one peer, answered.
bool talk(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t to,
          std::span<const std::byte> data) {
  answers = 0;
  for (std::uint64_t i = 0; i < kShorts; ++i)
    if (endpoint.request<on_short>(am::Index{to}, i) != Status::ok) return false;
  for (std::uint64_t i = 0; i < kMediums; ++i)
    if (endpoint.request_medium<on_medium>(am::Index{to}, data.first(endpoint.max_medium())) !=
        Status::ok)
      return false;
  if (endpoint.request_bulk<on_bulk>(am::Index{to}, data.first(kBulkBytes), 0) != Status::ok)
    return false;
  return bundle.wait_until([] { return answers == kMessages; }) == Status::ok;
}

/// Rank 0's part. False: something went wrong on the way.
bool measure(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t peers, bool& within) {
  const std::vector<std::byte> data(std::max<std::size_t>(kBulkBytes, endpoint.max_medium()));
  const auto meet = [&](std::uint32_t peer) {
    if (!talk(bundle, endpoint, peer, data)) return false;
    const std::uint64_t before = asked_of_us;
    if (endpoint.request<on_your_turn>(am::Index{peer}) != Status::ok) return false;
    return bundle.wait_until([&] { return asked_of_us == before + kMessages; }) == Status::ok;
  };
  const std::uint32_t warm = 1;  // the first peer pays for code and tables that all share
  if (!meet(1)) return false;
  (void)use_now();
  const Use before = use_now();
  std::vector<std::ptrdiff_t> growth;
  Use after = before;
  for (std::uint32_t peer = 1 + warm; peer <= peers; ++peer) {
    const std::size_t until_now = after.resident;
    if (!meet(peer)) return false;
    after = use_now();
    growth.push_back(static_cast<std::ptrdiff_t>(after.resident - until_now));
  }
  const std::uint32_t counted = peers - warm;
  const std::size_t each = stress::mean_growth(growth);
  // With the one that mean_growth() leaves out: pages that came with its faults are the others'.
  const std::size_t at_most = (after.resident - before.resident) / counted;
  const am::Endpoint::Footprint told = endpoint.footprint();
  std::printf(
      "memory: %u active peers: %zu bytes resident each, measured; footprint() says %zu (budget "
      "%zu); page tables "
      "%zu bytes each besides\n",
      counted, each, told.per_active_peer, g_active_budget,
      (after.tables - before.tables) / counted);
  std::printf("memory: a peer never talked to: %zu bytes by footprint() (budget %zu)\n",
              told.per_idle_peer, kIdleBudget);
  // Each of the pieces that make up a peer's memory may begin and end anywhere in a page. The
  // kernel may also map pages around one that is touched: what the first peer's faults have brought
  // for those that follow is missing from their share, so that only many peers bound it from below.
  const std::size_t rounding = (bundle.context().nic().is_remote(viaduct::Rank{1}) ? 4 : 2) * 4096;
  constexpr std::uint32_t kManyPeers = 8;
  const bool agree = each <= told.per_active_peer + rounding &&
                     (counted < kManyPeers || told.per_active_peer <= at_most + rounding);
  if (!agree)
    std::printf(
        "memory: footprint() differs from what is measured (%zu to %zu) by more than the ends of "
        "its pieces explain\n",
        each, at_most);
  within = agree && each <= g_active_budget && told.per_active_peer <= g_active_budget &&
           told.per_idle_peer <= kIdleBudget;
  return true;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const bool idle_only = argc > 1 && std::string(argv[1]) == "idle";
  if (argc > 1 && !idle_only) g_active_budget = std::stoul(argv[1]);
  if (job.size() < 3) return 2;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  (void)endpoint.make_segment(kBulkBytes);
  if (bundle.barrier() != Status::ok) return 1;
  bool within = true;
  const std::uint32_t me = index(job.rank());
  if (me == (idle_only ? job.size() - 1
                       : 0)) {  // rank 0 has compared the handlers of all, which leaves its traces
    (void)use_now();
    std::printf("memory: job of %u ranks: %zu bytes resident before the first message\n",
                job.size(), use_now().resident);
    if (!idle_only && !measure(bundle, endpoint, job.size() - 1, within)) return 3;
  } else if (!idle_only) {
    const std::vector<std::byte> data(std::max<std::size_t>(kBulkBytes, endpoint.max_medium()));
    if (bundle.wait_until([] { return my_turn; }) != Status::ok || !talk(bundle, endpoint, 0, data))
      return 4;
  }
  if (bundle.barrier() != Status::ok) return 5;
  return within ? 0 : 6;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
