// logp: LogP's parameters and the rates of Active Messages, beside the machine's own limits. Run as
// `viaduct-run -n 2 --bind logp`; see docs/benchmarks.md. Ranks 0 and 1 measure, the others wait, blocked.
// Method: Culler, Liu, Martin, Yoshikawa, LogP performance assessment of fast network interfaces, 1996.

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "am/context.hpp"
#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/vi_link.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "runtime/error.hpp"
#include "runtime/job.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Measurement {
  std::string name;
  std::string unit;
  std::string against;  // a yardstick; empty: it is one itself
  std::function<double()> measure;
};

class LogP {
 public:
  LogP(am::Context& context, std::byte* block, Role role, const Options& options, Injected injected)
      : options_(options),
        yardsticks_(block, role),
        vi_(context.nic(), pair(), other(role)),
        am_(context, pair(), other(role), yardsticks_.bulk_target(), Yardsticks::kBulkBytes, injected) {
    add_yardsticks();
    add_latencies();
    add_rates();
  }

  Pair& pair() noexcept { return yardsticks_.pair(); }

  Figures run() {
    const double blocked_cpu = am_.blocked_cpu_ms(1.0);
    const Rounds rounds = measure_rounds(pair(), options_.rounds, [&] {
      std::vector<double> values;
      for (const Measurement& m : measurements_) {
        pair().meet();
        values.push_back(m.measure());
      }
      return values;
    });
    Figures figures;
    report(rounds, figures);
    figures.add("am_blocked_cpu_ms", "ms", {blocked_cpu}, {"2 ms in a second", 2, {}});
    if (const std::string note = rounds.note(); !note.empty()) figures.add_note(note);
    return figures;
  }

 private:
  static Rank other(Role role) noexcept { return role == Role::sender ? Rank{1} : Rank{0}; }

  void add(std::string name, std::string unit, std::string against, std::function<double()> measure) {
    measurements_.push_back({std::move(name), std::move(unit), std::move(against), std::move(measure)});
  }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? options_.iterations : defined;
  }

  void add_yardsticks() {
    add("hand_over_ns", "ns", "", [&] { return yardsticks_.hand_over_ns(iterations(100'000)); });
    add("ring_rate_mps", "M/s", "", [&] {
      double best = 0;
      for (const RingLayout layout : kRingLayouts)
        best = std::max(best, yardsticks_.ring_rate_mps(layout, iterations(3'000'000)));
      return best;
    });
    add("medium_ring_4k_gbs", "GB/s", "", [&] { return yardsticks_.medium_ring_4k_gbs(iterations(20'000)); });
    add("memcpy_1m_sum_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_1m_gbs(true); });
    add("memcpy_64m_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_64m_gbs(false); });
    add("memcpy_64m_sum_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_64m_gbs(true); });
    add("futex_wake_ns", "ns", "", [&] { return yardsticks_.futex_wake_ns(); });
  }

  void add_latencies() {
    add("vi_rtt_half_ns", "ns", "hand_over_ns", [&] { return vi_.rtt_half_ns(iterations(50'000)); });
    add("am_short_rtt_half_ns", "ns", "hand_over_ns", [&] { return am_.rtt_half_ns(iterations(50'000)); });
    add("am_two_lines_rtt_half_ns", "ns", "hand_over_ns", [&] { return am_.rtt_half_ns(iterations(50'000), 8); });
    add("o_s_ns", "ns", "hand_over_ns", [&] { return am_.send_overhead_ns(200); });
    add("g_ns", "ns", "hand_over_ns", [&] { return am_.burst_ns(iterations(100'000), 0); });
    add("burst_with_delay_ns", "ns", "hand_over_ns", [&] { return am_.burst_ns(iterations(2'000), kDelayNs); });
    add("am_blocked_rtt_half_ns", "ns", "futex_wake_ns", [&] { return am_.blocked_rtt_half_ns(30); });
  }

  void add_rates() {
    add("am_oneway_mps", "M/s", "ring_rate_mps", [&] { return am_.one_way_mps(iterations(3'000'000)); });
    add("am_medium_4k_gbs", "GB/s", "medium_ring_4k_gbs", [&] { return am_.medium_4k_gbs(iterations(20'000)); });
    add("am_bulk_1m_gbs", "GB/s", "memcpy_1m_sum_gbs", [&] { return bulk(kMiB, 16, true); });
    add("am_bulk_64m_alone_gbs", "GB/s", "memcpy_64m_gbs", [&] { return bulk(64 * kMiB, 1, false); });
    add("am_bulk_64m_gbs", "GB/s", "memcpy_64m_sum_gbs", [&] { return bulk(64 * kMiB, 1, true); });
  }

  double bulk(std::size_t bytes, std::uint32_t copies, bool with_sum) {
    return am_.bulk_gbs(yardsticks_.bulk_source(), bytes, copies, with_sum);
  }

  [[nodiscard]] const std::vector<double>& of(const Rounds& rounds, const std::string& name) const {
    for (std::size_t i = 0; i < measurements_.size(); ++i)
      if (measurements_[i].name == name) return rounds.values[i];
    throw std::out_of_range(name);
  }

  /// One value a round from several figures' values of that round.
  template <class... Names>
  [[nodiscard]] std::vector<double> derive(const Rounds& rounds, const std::function<double(const std::vector<double>&)>& f,
                                           const Names&... names) const {
    const std::vector<const std::vector<double>*> inputs{&of(rounds, names)...};
    std::vector<double> out;
    for (std::size_t round = 0; round < inputs.front()->size(); ++round) {
      std::vector<double> values;
      for (const auto* input : inputs) values.push_back((*input)[round]);
      out.push_back(f(values));
    }
    return out;
  }

  void report(const Rounds& rounds, Figures& figures) const {
    for (const Measurement& m : measurements_) {
      const std::vector<double>& samples = of(rounds, m.name);
      if (m.against.empty())
        figures.add_yardstick(m.name, m.unit, samples);
      else if (m.name != "burst_with_delay_ns")
        figures.add(m.name, m.unit, samples, {m.against, 0, of(rounds, m.against)});
    }
    const std::vector<double>& hand_over = of(rounds, "hand_over_ns");
    const auto against_l = [&](const std::string& name, const std::vector<double>& samples) {
      figures.add(name, "ns", samples, {"hand_over_ns", 0, hand_over});
    };
    figures.add("delta_ns", "ns",
                derive(rounds, [](const auto& v) { return v[0] - v[1]; }, "am_short_rtt_half_ns", "vi_rtt_half_ns"),
                {"vi_rtt_half_ns", 0, of(rounds, "vi_rtt_half_ns")});
    against_l("o_r_ns",
              derive(rounds, [](const auto& v) { return v[0] - kDelayNs - v[1]; }, "burst_with_delay_ns", "o_s_ns"));
    against_l("L_ns", derive(rounds, [](const auto& v) { return v[0] - (v[1] - kDelayNs); }, "am_short_rtt_half_ns",
                             "burst_with_delay_ns"));
    figures.add("am_flood_mps", "M/s", derive(rounds, [](const auto& v) { return 1e3 / v[0]; }, "g_ns"),
                {"ring_rate_mps", 0, of(rounds, "ring_rate_mps")});
    figures.add("G_ns_per_byte", "ns", derive(rounds, [](const auto& v) { return 1 / v[0]; }, "am_bulk_1m_gbs"),
                {"memcpy_1m_sum", 0, derive(rounds, [](const auto& v) { return 1 / v[0]; }, "memcpy_1m_sum_gbs")});
  }

  static constexpr double kDelayNs = 3'000;  // above any g, so that every reply is there when it is over
  Options options_;
  Yardsticks yardsticks_;
  ViLink vi_;
  AmLink am_;
  std::vector<Measurement> measurements_;
};

int measure(Job& job, am::Context& context, std::byte* block, const Options& options, Injected injected) {
  const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
  require_own_core(job, block, role);
  LogP logp(context, block, role, options, injected);
  const Figures figures = logp.run();
  if (role != Role::sender) return 0;
  figures.print(stdout);
  if (!options.json_file.empty())
    figures.write_json(options.json_file, machine_facts(job.size(), job.threads_mode() ? "threads" : "processes"));
  return 0;
}

int body(Job& job, int argc, char** argv) {
  CLI::App app("Measures LogP's parameters and the rates of Active Messages, beside the machine's own limits.");
  Options options;
  Injected injected;
  add_common_options(app, options);
  app.add_option("--inject-o", injected.o_ns, "Keep the sender busy for so many ns with every request (tests this program)");
  app.add_option("--inject-g", injected.g_ns, "Take requests no faster than one in so many ns (tests this program)");
  int exit_code = 0;
  if (!parse_command_line(app, argc, argv, job.rank() == Rank{0}, exit_code)) return exit_code;
  if (job.size() < 2)
    throw Error(std::errc::invalid_argument, "logp needs two ranks; run it as: viaduct-run -n 2 --bind logp");
  std::byte* const block = share_block(job, Yardsticks::block_bytes(), Rank{1});
  am::Context context(job);
  const int code = index(job.rank()) < 2 ? measure(job, context, block, options, injected) : 0;
  job.bootstrap().fence();  // the others wait here, blocked
  return code;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
