// generations: Active Messages over each generation of AMVIA and over the channels of today, side
// by side in one run. Run as `viaduct-run -n 2 --bind generations`; see docs/generations.md. Source
// of the figures that the ratios are read against: Begel et al. 2001, Table 2 (LANai 7).

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/logp_am_traffic.hpp"
#include "benchmarks/common/logp_parameters.hpp"
#include "benchmarks/common/logp_report.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/vi_link.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {
namespace {

constexpr std::array kGenerations{"channel", "v1", "v2", "v3"};

/// Data that the parts which measure one generation share.
struct Part {
  Job& job;
  std::byte* block;
  Role role;
  const Options& options;
  std::string generation;
  Figures& figures;

  [[nodiscard]] Rank peer() const { return role == Role::sender ? Rank{1} : Rank{0}; }
  [[nodiscard]] std::uint64_t times(std::uint64_t defined) const {
    return options.iterations != 0 ? options.iterations : defined;
  }
};

/// Latency and rates, and the time of a cache line from core to core meanwhile.
void measure_rates(const Part& part) {
  am::Context context(part.job);
  Yardsticks yardsticks(part.block, part.role);
  AmLink link(context, yardsticks.pair(), part.peer(), yardsticks.bulk_target(),
              Yardsticks::kBulkBytes);
  Measurements measurements;
  const std::string hand_over = part.generation + "_hand_over_ns";
  measurements.add(hand_over, "ns", "",
                   [&] { return yardsticks.hand_over_ns(part.times(20'000)); });
  measurements.add(part.generation + "_rtt_half_ns", "ns", hand_over,
                   [&] { return link.rtt_half_ns(part.times(10'000)); });
  measurements.add(part.generation + "_rate_mps", "M/s", "",
                   [&] { return link.one_way_mps(part.times(200'000)); });
  measurements.add(part.generation + "_medium_4k_gbs", "GB/s", "",
                   [&] { return link.medium_4k_gbs(part.times(5'000)); });
  const Rounds rounds = measurements.run(yardsticks.pair(), part.options.rounds);
  report(measurements, rounds, part.figures);
  measurements.tell(rounds, part.figures, [&](const Rounds& other, Figures& apart) {
    report(measurements, other, apart);
  });
}

/// LogP's parameters, and Delta. Measured separately from the rates, since a second endpoint makes
/// each poll longer.
void measure_parameters(const Part& part) {
  am::Context context(part.job);
  Yardsticks yardsticks(part.block, part.role);
  AmTraffic traffic(context, yardsticks.pair(), part.peer(), 0);
  const std::unique_ptr<via::Nic> nic = via::open_nic(part.job, provider_of(part.options));
  ViLink vi(*nic, yardsticks.pair(), part.peer());
  const auto iterations = [&](std::uint64_t defined) {  // --iters: the length of g's burst
    constexpr std::uint64_t kFewest = 50, kShare = 5;
    const std::uint64_t asked = part.options.iterations * defined / kLogpBurst;
    return std::max(part.options.iterations != 0 ? asked : defined / kShare, kFewest);
  };
  Measurements measurements;
  const std::string line = part.generation + "_logp_hand_over_ns";
  measurements.add(line, "ns", "", [&] { return yardsticks.hand_over_ns(part.times(20'000)); });
  measurements.add(part.generation + "_vi_rtt_half_ns", "ns", line,
                   [&] { return vi.rtt_half_ns(part.times(10'000)); });
  LogpParameters<AmTraffic> logp(part.generation + "_", traffic, yardsticks.pair(), iterations,
                                 line);
  logp.add_to(measurements);
  const Rounds rounds = measurements.run(yardsticks.pair(), part.options.rounds);
  report(measurements, rounds, part.figures);
  const auto of = [&](const char* name) { return measurements.of(rounds, part.generation + name); };
  part.figures.add(part.generation + "_delta_ns", "ns",
                   differences(of("_logp_rtt_half_ns"), of("_vi_rtt_half_ns")),
                   {part.generation + "_vi_rtt_half_ns", 0, of("_vi_rtt_half_ns")});
  measurements.tell(rounds, part.figures, [&](const Rounds& other, Figures& apart) {
    report(measurements, other, apart);
  });
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
    setenv("VIADUCT_AM_GENERATION", generation, 1);
    const Part part{job, block, role, options, generation, figures};
    measure_rates(part);
    job.bootstrap().fence();
    measure_parameters(part);
    job.bootstrap().fence();
  }
  if (role != Role::sender) return 0;
  add_ratios(figures);
  conclude(figures, job, options.json_file);
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
