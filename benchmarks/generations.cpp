// generations: Active Messages over each generation of AMVIA and over the channels of today, side
// by side in one run. Run as `viaduct-run -n 2 --bind generations`; see docs/generations.md. Source
// of the figures that the ratios are read against: Begel et al. 2001, Table 2 (LANai 7).

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::array kGenerations{"channel", "v1", "v2", "v3"};

/// The figures of one generation, and the time that a line takes from core to core meanwhile.
void measure_one(Job& job, std::byte* block, Role role, const Options& options,
                 const std::string& generation, Figures& figures) {
  setenv("VIADUCT_AM_GENERATION", generation.c_str(), 1);
  am::Context context(job);
  Yardsticks yardsticks(block, role);
  const Rank peer = role == Role::sender ? Rank{1} : Rank{0};
  AmLink link(context, yardsticks.pair(), peer, yardsticks.bulk_target(), Yardsticks::kBulkBytes);
  const auto times = [&](std::uint64_t defined) {
    return options.iterations != 0 ? options.iterations : defined;
  };
  Measurements measurements;
  const std::string hand_over = generation + "_hand_over_ns";
  measurements.add(hand_over, "ns", "", [&] { return yardsticks.hand_over_ns(times(20'000)); });
  measurements.add(generation + "_rtt_half_ns", "ns", hand_over,
                   [&] { return link.rtt_half_ns(times(10'000)); });
  measurements.add(generation + "_rate_mps", "M/s", "",
                   [&] { return link.one_way_mps(times(200'000)); });
  measurements.add(generation + "_medium_4k_gbs", "GB/s", "",
                   [&] { return link.medium_4k_gbs(times(5'000)); });
  const Rounds rounds = measurements.run(yardsticks.pair(), options.rounds);
  for (const Measurement& m : measurements) {
    const std::vector<double>& samples = measurements.of(rounds, m.name);
    if (m.against.empty())
      figures.add_yardstick(m.name, m.unit, samples);
    else
      figures.add(m.name, m.unit, samples, {m.against, 0, measurements.of(rounds, m.against)});
  }
  if (const std::string found = rounds.note(); !found.empty()) figures.add_note(found);
}

/// v1 against v3, beside Table 2: RTT/2 39.2 and 35.6 us, gap 34.7 and 30.0 us. The paper has no
/// figure of v2, which was unstable.
void add_ratios(Figures& figures) {
  const auto median = [&](const char* name) { return figures.median_of(name); };
  figures.add("v1_to_v3_rtt_half", "", {median("v1_rtt_half_ns") / median("v3_rtt_half_ns")},
              {"paper: 1.10", 39.2 / 35.6, {}});
  figures.add("v1_to_v3_gap", "", {median("v3_rate_mps") / median("v1_rate_mps")},
              {"paper: 1.16", 34.7 / 30.0, {}});
  figures.add("v3_to_channel_rtt_half", "",
              {median("v3_rtt_half_ns") / median("channel_rtt_half_ns")}, {"channel", 1, {}});
}

int body(Job& job, int argc, char** argv) {
  program::CommandLine app(
      "Measures Active Messages over each generation of AMVIA and over channels, side by side.");
  Options options;
  options.rounds = 5;
  add_common_options(app, options);
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, job.rank() == Rank{0})) return exit_code;
  if (job.size() != 2)
    throw Error(std::errc::invalid_argument,
                "generations needs two ranks; run it as: viaduct-run -n 2 --bind generations");
  std::byte* const block = share_block(job, Yardsticks::block_bytes(), Rank{1});
  const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
  setenv("VIADUCT_PROVIDER", provider_of(options).c_str(), 1);
  require_own_core(job, block, role);
  Figures figures;
  for (const char* const generation : kGenerations) {
    measure_one(job, block, role, options, generation, figures);
    job.bootstrap().fence();
  }
  if (role != Role::sender) return 0;
  add_ratios(figures);
  figures.print(stdout);
  if (!options.json_file.empty())
    figures.write_json(options.json_file,
                       machine_facts(job.size(), job.threads_mode() ? "threads" : "processes"));
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
