// logp: LogP's parameters and the rates of Active Messages, beside the machine's own limits. Run as
// `viaduct-run -n 2 --bind logp`; see docs/benchmarks.md. Ranks 0 and 1 measure, the others wait,
// blocked. Method: Culler, Liu, Martin, Yoshikawa, LogP performance assessment of fast network
// interfaces, 1996.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/logp_am_traffic.hpp"
#include "benchmarks/common/logp_parameters.hpp"
#include "benchmarks/common/logp_report.hpp"
#include "benchmarks/common/logp_sizes.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/vi_link.hpp"
#include "benchmarks/common/vi_nic.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint16_t kParametersEndpoint = 1;  // each rank's second one

Rank other(Role role) noexcept { return role == Role::sender ? Rank{1} : Rank{0}; }

struct LogpOptions : Options {
  bool parameters_only = false;
  bool signature = false;
};

Samples inverses(const Samples& values) {
  Samples out = values;
  for (double& value : out) value = 1 / value;
  return out;
}

class LogP {
 public:
  LogP(am::Context& context, via::Nic& vi_nic, std::byte* block, Role role,
       const LogpOptions& options)
      : options_(options),
        yardsticks_(block, role),
        am_(context, pair(), other(role), yardsticks_.bulk_target(), Yardsticks::kBulkBytes),
        sizes_(pair(), options),
        traffic_(context, pair(), other(role), kParametersEndpoint),
        parameters_("", traffic_, pair(), sizes_.parameters()) {
    add("hand_over_ns", "ns", "", [&] { return yardsticks_.hand_over_ns(iterations(100'000)); });
    parameters_.add_to(measurements_);
    if (options.signature)
      parameters_.add_signature_to(measurements_, [this](auto n) { return iterations(n); });
    if (options.parameters_only) return;
    vi_ = std::make_unique<ViLink>(vi_nic, pair(), other(role));
    add_yardsticks();
    add_latencies();
    add_rates();
  }

  Pair& pair() noexcept { return yardsticks_.pair(); }

  void run(Figures& figures) {
    Samples blocked_cpu;
    const std::uint32_t blocked_seconds = std::min(kMostBlockedSeconds, sizes_.rounds());
    for (std::uint32_t i = 0; i < blocked_seconds && !options_.parameters_only; ++i)
      blocked_cpu.push_back(am_.blocked_cpu_ms(1.0));
    const Rounds rounds = measurements_.run(pair(), sizes_.rounds());
    sizes_.add_note(figures);
    report(measurements_, rounds, figures);
    if (!options_.parameters_only) {
      derive(rounds, figures);
      figures.add("am_blocked_cpu_ms", "ms", blocked_cpu, {"2 ms in a second", 2, {}});
    }
    measurements_.tell(rounds, figures, [this](const Rounds& other, Figures& apart) {
      report(measurements_, other, apart);
      if (!options_.parameters_only) derive(other, apart);
    });
  }

 private:
  void add(std::string name, std::string unit, std::string against,
           std::function<double()> measure) {
    measurements_.add(std::move(name), std::move(unit), std::move(against), std::move(measure));
  }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return sizes_.of(defined);
  }

  void add_yardsticks() {
    add("ring_rate_mps", "M/s", "", [&] {
      double best = 0;
      for (const RingLayout layout : kRingLayouts)
        best = std::max(best, yardsticks_.ring_rate_mps(layout, iterations(10'000'000)));
      return best;
    });
    add("medium_ring_4k_gbs", "GB/s", "",
        [&] { return yardsticks_.medium_ring_4k_gbs(iterations(20'000)); });
    add("memcpy_1m_sum_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_1m_gbs(true); });
    add("memcpy_64m_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_64m_gbs(false); });
    add("memcpy_64m_sum_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_64m_gbs(true); });
    add("futex_wake_ns", "ns", "", [&] { return yardsticks_.futex_wake_ns(); });
  }

  void add_latencies() {
    add("vi_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return vi_->rtt_half_ns(iterations(50'000)); });
    add("am_short_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return am_.rtt_half_ns(iterations(50'000)); });
    add("am_two_lines_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return am_.rtt_half_ns(iterations(50'000), 8); });
    const std::pair<const char*, std::size_t> sizes[] = {
        {"64", 64}, {"512", 512}, {"4k", Yardsticks::kMediumBytes}};
    for (const auto& [name, bytes] : sizes)
      add(fmt::format("am_medium_{}_rtt_half_ns", name), "ns", "am_short_rtt_half_ns",
          [this, bytes = bytes] { return am_.medium_rtt_half_ns(bytes, iterations(20'000)); });
    add("am_blocked_rtt_half_ns", "ns", "futex_wake_ns",
        [&] { return am_.blocked_rtt_half_ns(30); });
  }

  void add_rates() {
    add("am_flood_mps", "M/s", "ring_rate_mps", [&] { return parameters_.burst().rate_mps; });
    add("am_oneway_mps", "M/s", "ring_rate_mps",
        [&] { return am_.one_way_mps(iterations(3'000'000)); });
    add("am_medium_4k_gbs", "GB/s", "medium_ring_4k_gbs",
        [&] { return am_.medium_4k_gbs(iterations(20'000)); });
    add("am_bulk_1m_gbs", "GB/s", "memcpy_1m_sum_gbs", [&] { return bulk(kMiB, 16, true); });
    add("am_bulk_64m_alone_gbs", "GB/s", "memcpy_64m_gbs",
        [&] { return bulk(64 * kMiB, 1, false); });
    add("am_bulk_64m_gbs", "GB/s", "memcpy_64m_sum_gbs", [&] { return bulk(64 * kMiB, 1, true); });
  }

  double bulk(std::size_t bytes, std::uint32_t copies, bool with_sum) {
    return am_.bulk_gbs(yardsticks_.bulk_source(), bytes, copies, with_sum);
  }

  void derive(const Rounds& rounds, Figures& figures) const {
    const auto of = [&](const char* name) { return measurements_.of(rounds, name); };
    figures.add("delta_ns", "ns", differences(of("am_short_rtt_half_ns"), of("vi_rtt_half_ns")),
                {"vi_rtt_half_ns", 0, of("vi_rtt_half_ns")});
    figures.add("G_ns_per_byte", "ns", inverses(of("am_bulk_1m_gbs")),
                {"memcpy_1m_sum", 0, inverses(of("memcpy_1m_sum_gbs"))});
  }

  static constexpr std::uint32_t kMostBlockedSeconds = 3;
  LogpOptions options_;
  Yardsticks yardsticks_;
  AmLink am_;
  LogpSizes sizes_;
  AmTraffic traffic_;
  LogpParameters<AmTraffic> parameters_;
  std::unique_ptr<ViLink> vi_;  // not for the parameters alone
  Measurements measurements_;
};

Role role_of(const Job& job) { return job.rank() == Rank{0} ? Role::sender : Role::peer; }

/// All ranks; those beyond two wait at its end, blocked.
void measure_am(Job& job, std::byte* block, const LogpOptions& options, Figures& figures) {
  am::Context context(job);
  const ViNic vi_nic(context, provider_of(options));
  if (index(job.rank()) < 2) LogP(context, vi_nic.get(), block, role_of(job), options).run(figures);
  job.bootstrap().fence();
}

int body(Job& job, int argc, char** argv) {
  program::CommandLine app(
      "Measures LogP's parameters and the rates of Active Messages, beside the machine's own "
      "limits.");
  LogpOptions options;
  add_common_options(app, options);
  app.flag("--parameters", options.parameters_only, "Only o_s, o_r, L and g");
  app.flag("--signature", options.signature,
           "Also the time of a request by the length of its burst, with and without delays");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, job.rank() == Rank{0})) return exit_code;
  if (job.size() < 2)
    throw Error(std::errc::invalid_argument,
                "logp needs two ranks; run it as: viaduct-run -n 2 --bind logp");
  const std::string note = use_provider(options);
  std::byte* const block = share_block(job, Yardsticks::block_bytes(), Rank{1});
  if (index(job.rank()) < 2) require_own_core(job, block, role_of(job));
  Figures figures;
  measure_am(job, block, options, figures);
  if (!note.empty()) figures.add_note(note);
  if (job.rank() != Rank{0}) return 0;
  conclude(figures, job, options.json_file);
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
