// oversubscription: Active Messages between more ranks than there are cores, and the cost of an
// idle poll by the number of peers. Run as `viaduct-run -n 16 oversubscription`, without --bind:
// groups of 4, 8 and 16 of the ranks measure in turn while the others wait, blocked. See
// docs/benchmarks.md.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/idle_poll.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/oversubscribed.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/token.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

// Written by the handlers of this rank, which may be a thread.
thread_local std::uint64_t pongs = 0;
thread_local bool in_turn = true;
thread_local bool stopped = false;

void on_pong(am::Token&, std::uint64_t trip) {
  in_turn = in_turn && trip == pongs;
  ++pongs;
}
void on_ping(am::Token& token, std::uint64_t trip) { token.reply<on_pong>(trip); }
void on_stop(am::Token&) { stopped = true; }

void require(Status status, const char* what) {
  if (status != Status::ok)
    throw std::runtime_error(fmt::format("{}: {}", what, to_string(status)));
}

// Samples by figure, one a round.
using Samples = std::map<std::string, std::vector<double>>;

// Pairs of ranks that play ping-pong at the same time: ranks 0 and 1, 2 and 3, ...
class Pairs {
 public:
  /// @p results: a word for each rank, which all have mapped.
  Pairs(am::Context& context, double* results, double window_ns)
      : me_(index(context.job().rank())),
        results_(results),
        window_ns_(window_ns),
        bundle_(context),
        endpoint_(bundle_) {
    endpoint_.map_all();
  }

  void meet() { require(bundle_.barrier(), "the barrier"); }

  /// Every rank calls it; those from @p ranks on only wait. Rank 0 gets the median of the pairs'
  /// round trips in ns.
  double round_trip_ns(std::uint32_t ranks) {
    stopped = false;  // before the barrier: its last poll may see the window's end
    meet();
    if (me_ < ranks) me_ % 2 == 0 ? lead() : follow();
    meet();
    std::vector<double> round_trips;
    for (std::uint32_t leader = 0; leader < ranks; leader += 2)
      round_trips.push_back(results_[leader]);
    return median(round_trips);
  }

 private:
  void lead() {
    const am::Index peer{me_ + 1};
    pongs = 0;
    in_turn = true;
    const Stopwatch watch;
    double elapsed = 0;
    for (std::uint64_t trip = 0; elapsed < window_ns_; elapsed = watch.elapsed_ns()) {
      require(endpoint_.request<on_ping>(peer, trip), "a request");
      ++trip;
      require(bundle_.wait_until([&] { return pongs == trip; }), "the wait for a reply");
    }
    if (!in_turn) throw std::runtime_error("a reply of the ping-pong came out of turn");
    results_[me_] = elapsed / static_cast<double>(pongs);
    require(endpoint_.request<on_stop>(peer), "the last request");
  }

  void follow() {
    while (!stopped) require(bundle_.wait(), "the wait for a request");
  }

  std::uint32_t me_;
  double* results_;
  double window_ns_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
};

struct Settings {
  Options common;
  std::uint32_t window_ms = 100;
};

constexpr std::array kPollPeers{2U, 8U, 64U};
constexpr std::uint32_t kLoadMs = 100;     // how long other programs' load is watched, each time
constexpr std::uint16_t kFirstTarget = 1;  // endpoint 0 of each rank is that of its pair

// 4, 8, 16, as far as there are ranks, and all ranks.
std::vector<std::uint32_t> groups_of(std::uint32_t ranks) {
  std::vector<std::uint32_t> groups;
  for (const std::uint32_t group : {4U, 8U, 16U})
    if (group < ranks) groups.push_back(group);
  groups.push_back(ranks / 2 * 2);
  if (groups.size() > 1 && groups[groups.size() - 2] == groups.back()) groups.pop_back();
  return groups;
}

std::string am_name(std::uint32_t ranks) {
  return fmt::format("am_oversubscribed_{}_rtt_ns", ranks);
}
std::string yardstick_name(std::uint32_t ranks) { return fmt::format("yield_rtt_{}_ns", ranks); }
std::string yields_name(std::uint32_t ranks) { return fmt::format("sched_yield_rtt_{}_ns", ranks); }
std::string futex_name(std::uint32_t ranks) { return fmt::format("futex_rtt_{}_ns", ranks); }
std::string poll_name(std::uint32_t peers) { return fmt::format("poll_{}_peers_ns", peers); }

// One round of all measurements. While rank 0 measures bare processes the other ranks sleep in the
// barrier of the next round_trip_ns().
void measure_pairs(Pairs& pairs, const Settings& settings, std::uint32_t ranks, bool speaks,
                   Samples& samples) {
  for (const std::uint32_t group : groups_of(ranks)) {
    const double am = pairs.round_trip_ns(group);
    if (!speaks) continue;
    const double yields = oversubscribed_rtt_ns(group, PairWait::yield, settings.window_ms);
    const double futex = oversubscribed_rtt_ns(group, PairWait::futex, settings.window_ms);
    samples[am_name(group)].push_back(am);
    samples[yields_name(group)].push_back(yields);
    samples[futex_name(group)].push_back(futex);
    samples[yardstick_name(group)].push_back(std::min(yields, futex));
  }
}

void measure_polls(am::Context& context, const Settings& settings, Samples& samples) {
  std::vector<std::unique_ptr<IdlePoll>> polls;
  for (const std::uint32_t peers : kPollPeers)
    polls.push_back(std::make_unique<IdlePoll>(context, kFirstTarget, peers));
  const std::uint64_t count =
      settings.common.iterations != 0 ? settings.common.iterations : 200'000;
  for (std::uint32_t round = 0; round < settings.common.rounds + 1; ++round) {
    for (std::size_t i = 0; i < kPollPeers.size(); ++i) {
      const double ns = polls[i]->poll_ns(count);
      if (round != 0) samples[poll_name(kPollPeers[i])].push_back(ns);  // the first one warms up
    }
  }
  polls.back()->stop_targets();
}

Figures report(const Samples& samples, std::uint32_t ranks) {
  Figures figures;
  for (const std::uint32_t group : groups_of(ranks)) {
    const std::vector<double>& yardstick = samples.at(yardstick_name(group));
    figures.add_yardstick(yardstick_name(group), "ns", yardstick);
    for (const std::string& name : {yields_name(group), futex_name(group), am_name(group)})
      figures.add(name, "ns", samples.at(name), {yardstick_name(group), 0, yardstick});
  }
  const std::string fewest = poll_name(kPollPeers.front());
  for (const std::uint32_t peers : kPollPeers)
    figures.add(poll_name(peers), "ns", samples.at(poll_name(peers)),
                {fewest, 0, samples.at(fewest)});
  return figures;
}

void add_notes(Figures& figures, std::uint32_t ranks, const std::vector<double>& load) {
  const std::size_t cores = allowed_cores().size();
  for (const std::uint32_t group : groups_of(ranks))
    if (group <= cores)
      figures.add_note(
          fmt::format("{} ranks are not oversubscribed here: they may use {} cores", group, cores));
  constexpr double kQuiet = 0.05;
  const double busy = median(load);
  if (busy > kQuiet)
    figures.add_note(
        fmt::format("other programs kept {:.2f} cores busy between the rounds (median; "
                    "at most {:.2f}): repeat on a quiet machine",
                    busy, *std::max_element(load.begin(), load.end())));
}

int measure(Job& job, const Settings& settings) {
  const bool speaks = job.rank() == Rank{0};
  auto* const results = reinterpret_cast<double*>(share_block(job, job.size() * sizeof(double)));
  am::Context context(job);
  unpin();
  Samples samples;
  std::vector<double> load;
  {
    Pairs pairs(context, results, settings.window_ms * 1e6);
    PollTargets targets(context, kPollPeers.back());
    for (std::uint32_t round = 0; round < settings.common.rounds + 1; ++round) {
      Samples unused;
      measure_pairs(pairs, settings, job.size(), speaks, round == 0 ? unused : samples);
      if (speaks) load.push_back(busy_cores(kLoadMs));  // the other ranks sleep
    }
    pairs.meet();
    speaks ? measure_polls(context, settings, samples) : targets.serve();
    pairs.meet();
  }
  if (!speaks) return 0;
  Figures figures = report(samples, job.size());
  add_notes(figures, job.size(), load);
  conclude(figures, job, settings.common.json_file);
  return 0;
}

int body(Job& job, int argc, char** argv) {
  program::CommandLine app(
      "Measures Active Messages between more ranks than cores, and idle polls by number of peers.");
  Settings settings;
  add_common_options(app, settings.common);
  app.option("--window-ms", settings.window_ms, "How long the pairs play, each time")
      .within(1, 60'000)
      .shows_default();
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, job.rank() == Rank{0})) return exit_code;
  (void)use_provider(settings.common);
  if (job.size() < 4) {
    throw Error(std::errc::invalid_argument,
                "oversubscription needs four ranks or more; run it as: viaduct-run -n 16 "
                "oversubscription");
  }
  return measure(job, settings);
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
