// logp: LogP's parameters and the rates of Active Messages, beside the machine's own limits. Run as
// `viaduct-run -n 2 --bind logp`; see docs/benchmarks.md. Ranks 0 and 1 measure, the others wait,
// blocked. Method: Culler, Liu, Martin, Yoshikawa, LogP performance assessment of fast network
// interfaces, 1996.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/logp_method.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/vi_link.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint16_t kParametersEndpoint = 1;  // each rank's second one

struct LogpOptions : Options {
  bool parameters_only = false;
  bool signature = false;
};

class LogP {
 public:
  LogP(am::Context& context, std::byte* block, Role role, const LogpOptions& options)
      : options_(options),
        yardsticks_(block, role),
        am_(context, pair(), other(role), yardsticks_.bulk_target(), Yardsticks::kBulkBytes),
        parameters_(context, pair(), other(role), kParametersEndpoint) {
    add("hand_over_ns", "ns", "", [&] { return yardsticks_.hand_over_ns(iterations(100'000)); });
    add_parameters();
    if (options.signature) add_signature();
    if (options.parameters_only) return;
    vi_ = std::make_unique<ViLink>(context.nic(), pair(), other(role));
    add_yardsticks();
    add_latencies();
    add_rates();
  }

  Pair& pair() noexcept { return yardsticks_.pair(); }

  Figures run() {
    std::vector<double> blocked_cpu;
    for (std::uint32_t i = 0; i < kBlockedSeconds && !options_.parameters_only; ++i)
      blocked_cpu.push_back(am_.blocked_cpu_ms(1.0));
    if (options_.iterations == 0) divisor_ = pair().busy_divisor();
    const Rounds rounds = measurements_.run(
        pair(), divisor_ == 1 ? options_.rounds : std::min(options_.rounds, kBusyRounds));
    Figures figures;
    if (divisor_ != 1)
      figures.add_note(fmt::format(
          "other programs use these cores, so a hand-over waits for the scheduler: {} times fewer "
          "operations a round, and at most {} rounds; the ratios say little",
          divisor_, kBusyRounds));
    report(rounds, figures);
    if (!blocked_cpu.empty())
      figures.add("am_blocked_cpu_ms", "ms", blocked_cpu, {"2 ms in a second", 2, {}});
    if (const std::string note = rounds.note(); !note.empty()) figures.add_note(note);
    return figures;
  }

 private:
  static Rank other(Role role) noexcept { return role == Role::sender ? Rank{1} : Rank{0}; }

  void add(std::string name, std::string unit, std::string against,
           std::function<double()> measure) {
    measurements_.add(std::move(name), std::move(unit), std::move(against), std::move(measure));
  }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? options_.iterations
                                    : std::max<std::uint64_t>(defined / divisor_, 100);
  }

  /// Of the parameters: --iters says how long the burst of g is, and the others keep their parts.
  [[nodiscard]] std::uint64_t parameter_iterations(std::uint64_t defined) const noexcept {
    constexpr std::uint64_t kFewest = 50;
    return options_.iterations == 0
               ? iterations(defined)
               : std::max(options_.iterations * defined / kBurstLength, kFewest);
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

  // What one measures is the next one's delay: in this order.
  void add_parameters() {
    add("g_ns", "ns", "hand_over_ns", [&] {
      burst_ = parameters_.long_burst(parameter_iterations(kBurstLength));
      return burst_.gap_ns;
    });
    add("logp_rtt_half_ns", "ns", "hand_over_ns", [&] {
      return rtt_half_ =
                 parameters_.rtt_half_ns(parameter_iterations(20'000), kAmple * burst_.gap_ns);
    });
    add("o_s_ns", "ns", "hand_over_ns", [&] { return parameters_.send_overhead_ns(400); });
    add("o_both_ns", "ns", "hand_over_ns", [&] {
      return parameters_.both_overheads_ns(parameter_iterations(10'000),
                                           kAmple * std::max(burst_.gap_ns, 2 * rtt_half_));
    });
  }

  /// The time per request by the length of the burst: without a delay between the requests, with
  /// one as long as a round trip, and with one that is longer than all else.
  void add_signature() {
    add_signature("signature", [] { return 0.0; });
    add_signature("signature_short", [&] { return 2 * rtt_half_; });
    add_signature("signature_long",
                  [&] { return kAmple * std::max(burst_.gap_ns, 2 * rtt_half_); });
  }

  void add_signature(const std::string& name, const std::function<double()>& delay_ns) {
    constexpr std::uint64_t kLongest = 512;
    constexpr std::uint64_t kRequests = 2'048;     // at each length
    const auto delay = std::make_shared<Delay>();  // of this round, and of this curve
    if (name != "signature")
      add(name + "_delay_ns", "ns", "hand_over_ns", [this, delay, delay_ns] {
        *delay = delay_of(delay_ns());
        return pair().from_sender(delay->ns);
      });
    for (std::uint64_t length = 1; length <= kLongest; length *= 2)
      add(fmt::format("{}_{}_ns", name, length), "ns", "hand_over_ns", [this, delay, length] {
        const std::uint64_t bursts = std::max<std::uint64_t>(iterations(kRequests) / length, 4);
        return parameters_.burst_ns(length, bursts, *delay);
      });
  }

  void add_latencies() {
    add("vi_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return vi_->rtt_half_ns(iterations(50'000)); });
    add("am_short_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return am_.rtt_half_ns(iterations(50'000)); });
    add("am_two_lines_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return am_.rtt_half_ns(iterations(50'000), 8); });
    add("am_blocked_rtt_half_ns", "ns", "futex_wake_ns",
        [&] { return am_.blocked_rtt_half_ns(30); });
  }

  void add_rates() {
    add("am_flood_mps", "M/s", "ring_rate_mps", [&] { return burst_.rate_mps; });
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

  /// One value a round from several figures' values of that round.
  template <class... Names>
  [[nodiscard]] std::vector<double> derive(
      const Rounds& rounds, const std::function<double(const std::vector<double>&)>& f,
      const Names&... names) const {
    const std::vector<const std::vector<double>*> inputs{&measurements_.of(rounds, names)...};
    std::vector<double> out;
    for (std::size_t round = 0; round < inputs.front()->size(); ++round) {
      std::vector<double> values;
      for (const auto* input : inputs) values.push_back((*input)[round]);
      out.push_back(f(values));
    }
    return out;
  }

  void report(const Rounds& rounds, Figures& figures) const {
    const auto difference = [](const auto& v) { return v[0] - v[1]; };
    const Against hand_over{"hand_over_ns", 0, measurements_.of(rounds, "hand_over_ns")};
    for (const Measurement& m : measurements_) {
      const std::vector<double>& samples = measurements_.of(rounds, m.name);
      if (m.against.empty()) {
        figures.add_yardstick(m.name, m.unit, samples);
      } else if (m.name != "o_both_ns") {
        figures.add(m.name, m.unit, samples, {m.against, 0, measurements_.of(rounds, m.against)});
      } else {
        figures.add("o_r_ns", "ns", derive(rounds, difference, "o_both_ns", "o_s_ns"), hand_over);
        figures.add("L_ns", "ns", derive(rounds, difference, "logp_rtt_half_ns", "o_both_ns"),
                    hand_over);
      }
    }
    if (options_.parameters_only) return;
    figures.add("delta_ns", "ns",
                derive(rounds, difference, "am_short_rtt_half_ns", "vi_rtt_half_ns"),
                {"vi_rtt_half_ns", 0, measurements_.of(rounds, "vi_rtt_half_ns")});
    figures.add("G_ns_per_byte", "ns",
                derive(
                    rounds, [](const auto& v) { return 1 / v[0]; }, "am_bulk_1m_gbs"),
                {"memcpy_1m_sum", 0,
                 derive(
                     rounds, [](const auto& v) { return 1 / v[0]; }, "memcpy_1m_sum_gbs")});
  }

  static constexpr std::uint64_t kBurstLength = 100'000;  // requests in a burst that finds g
  static constexpr std::uint32_t kBusyRounds = 3;
  static constexpr std::uint32_t kBlockedSeconds = 3;
  static constexpr double kAmple = 3;  // times what a delay has to be above
  LogpOptions options_;
  std::uint64_t divisor_ = 1;  // of the numbers of operations
  Yardsticks yardsticks_;
  AmLink am_;
  LogpMethod parameters_;
  std::unique_ptr<ViLink> vi_;  // not for the parameters alone
  Burst burst_;                 // of this round
  double rtt_half_ = 0;         // of this round
  Measurements measurements_;
};

int measure(Job& job, am::Context& context, std::byte* block, const LogpOptions& options,
            const std::string& note) {
  const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
  require_own_core(job, block, role);
  LogP logp(context, block, role, options);
  Figures figures = logp.run();
  if (!note.empty()) figures.add_note(note);
  if (role != Role::sender) return 0;
  figures.print(stdout);
  if (!options.json_file.empty())
    figures.write_json(options.json_file,
                       machine_facts(job.size(), job.threads_mode() ? "threads" : "processes"));
  return 0;
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
  am::Context context(job);
  const int code = index(job.rank()) < 2 ? measure(job, context, block, options, note) : 0;
  job.bootstrap().fence();  // the others wait here, blocked
  return code;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
