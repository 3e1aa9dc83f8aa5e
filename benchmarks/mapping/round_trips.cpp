#include "benchmarks/mapping/round_trips.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/vi_link.hpp"
#include "viaduct/splitc.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {
namespace {

constexpr int kRounds = 3;  // of which the median counts

/// Fewer round trips where other programs use the cores: each round trip waits for the scheduler
/// then.
std::uint64_t affordable(const program::Json& json, std::uint64_t operations) {
  constexpr double kUsualNs = 250;  // between cores that are far from each other
  constexpr double kFewest = 100;
  const double share = std::min(1.0, kUsualNs / json.at("hand_over_ns").number());
  return static_cast<std::uint64_t>(std::max(kFewest, share * static_cast<double>(operations)));
}

/// The native VI's figures, and those of @p layer, which measures one round.
template <class Layer>
void add_round_trips(program::Json& json, Job& job, Pair& pair, std::uint64_t operations,
                     Layer&& layer) {
  const std::unique_ptr<via::Nic> nic = via::open_nic(job, "shm");
  ViLink vi(*nic, pair, pair.is_sender() ? Rank{1} : Rank{0});
  std::vector<double> native, own;
  for (int i = 0; i < kRounds; ++i) {
    native.push_back(vi.rtt_half_ns(operations));
    own.push_back(layer());
  }
  json.set("vi_rtt_half_ns", median(native)).set("rtt_half_ns", median(own));
}

}  // namespace

void add_am_round_trips(program::Json& json, Job& job, am::Context& context, Pair& pair,
                        std::uint64_t operations) {
  operations = affordable(json, operations);
  std::byte segment[64];
  AmLink link(context, pair, pair.is_sender() ? Rank{1} : Rank{0}, segment, sizeof segment);
  add_round_trips(json, job, pair, operations, [&] { return link.rtt_half_ns(operations); });
}

void add_get_round_trips(program::Json& json, Job& job, Pair& pair, std::uint64_t operations) {
  operations = affordable(json, operations);
  auto* const mine = splitc::all_malloc<std::uint64_t>(1);
  const auto theirs = splitc::toglobal(1, mine);
  splitc::barrier();
  add_round_trips(json, job, pair, operations, [&] {
    splitc::barrier();
    const Stopwatch watch;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; pair.is_sender() && i < operations; ++i) sum += splitc::read(theirs);
    const double ns = watch.elapsed_ns() + static_cast<double>(sum);  // of zeroes
    splitc::barrier();  // the peer waits here, and serves
    return pair.from_sender(ns / static_cast<double>(operations) / 2);
  });
  splitc::barrier();
}

}  // namespace viaduct::bench
