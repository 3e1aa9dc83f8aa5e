// limits: the limits of the machine itself. Run as `viaduct-run -n 2 --bind limits`; see
// docs/benchmarks.md. Ranks 0 and 1 measure, the others wait, blocked.

#include <immintrin.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/curve.hpp"
#include "benchmarks/common/expected.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/loopback.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/oversubscribed.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "via/copy.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

struct Method {
  const char* name;
  CopyPlan::Copy copy;
};

template <via::CopyMethod Which>
void copy_by(void* to, const void* from, std::size_t bytes) {
  via::copy_bytes_by(Which, to, from, bytes);
}

void viaduct_copy(void* to, const void* from, std::size_t bytes) {
  via::copy_bytes(to, from, bytes);
}

constexpr std::array kMethods{
    Method{"plain", copy_by<via::CopyMethod::plain>},
    Method{"rep_movsb", copy_by<via::CopyMethod::rep_movsb>},
    Method{"viaduct", viaduct_copy},
};

struct StreamMethod {
  via::CopyMethod method;
  CopyPlan::Copy copy;
};
template <via::CopyMethod Which>
constexpr StreamMethod kStream{Which, copy_by<Which>};
constexpr std::array kStreamMethods{
    kStream<via::CopyMethod::stream_sse2>,       kStream<via::CopyMethod::stream_avx2>,
    kStream<via::CopyMethod::stream_avx512>,     kStream<via::CopyMethod::stream_sse2_paged>,
    kStream<via::CopyMethod::stream_avx2_paged>, kStream<via::CopyMethod::stream_avx512_paged>,
};

void drop_from_caches(const std::byte* data, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += kCacheLineBytes) _mm_clflush(data + at);
  _mm_mfence();
}

class Limits {
 public:
  Limits(std::byte* block, Role role, const Options& options)
      : options_(options),
        yardsticks_(block, role),
        tcp_(pair(), Transport::tcp),
        udp_(pair(), Transport::udp),
        cross_memory_(pair(), kGreatestCrossMemory) {
    add_yardsticks();
    add_copies();
    add_kernel_ways();
    if (!cross_memory_.works()) {
      notes_.push_back(
          "cross-memory attach (process_vm_writev) is not allowed here, or the ranks are threads: "
          "not measured");
    }
  }

  Pair& pair() noexcept { return yardsticks_.pair(); }

  Figures run() {
    const Rounds rounds = measurements_.run(pair(), options_.rounds);
    Figures figures;
    report(rounds, figures);
    for (const std::string& note : notes_) figures.add_note(note);
    measurements_.tell(rounds, figures,
                       [this](const Rounds& other, Figures& apart) { report(other, apart); });
    return figures;
  }

 private:
  static constexpr std::size_t kGreatestCrossMemory = std::size_t{4} << 20;
  static constexpr std::size_t kBytesARound = std::size_t{16} << 20;  // small copies are repeated

  void add(std::string name, std::string unit, std::string against,
           std::function<double()> measure) {
    measurements_.add(std::move(name), std::move(unit), std::move(against), std::move(measure));
  }

  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? options_.iterations : defined;
  }

  void add_yardsticks() {
    add("hand_over_ns", "ns", "", [&] { return yardsticks_.hand_over_ns(iterations(100'000)); });
    for (const RingLayout layout : kRingLayouts) {
      add(fmt::format("ring_{}_mps", to_string(layout)), "M/s", "ring_rate_mps",
          [&, layout] { return yardsticks_.ring_rate_mps(layout, iterations(10'000'000)); });
    }
    add("medium_ring_4k_gbs", "GB/s", "",
        [&] { return yardsticks_.medium_ring_4k_gbs(iterations(20'000)); });
    add("memcpy_1m_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_1m_gbs(false); });
    add("memcpy_1m_sum_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_1m_gbs(true); });
    add("memcpy_64m_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_64m_gbs(false); });
    add("memcpy_64m_sum_gbs", "GB/s", "", [&] { return yardsticks_.memcpy_64m_gbs(true); });
    add("futex_wake_ns", "ns", "", [&] { return yardsticks_.futex_wake_ns(); });
    for (const std::uint32_t ranks : {4U, 8U, 16U}) {
      for (const PairWait wait : {PairWait::yield, PairWait::futex}) {
        const char* const way = wait == PairWait::yield ? "sched_yield" : "futex";
        add(fmt::format("{}_rtt_{}_ns", way, ranks), "ns", fmt::format("yield_rtt_{}_ns", ranks),
            [&, ranks, wait] { return oversubscribed(ranks, wait); });
      }
    }
  }

  // The peer sleeps in meet() until the sender is back: every core is free for the forked
  // processes.
  double oversubscribed(std::uint32_t ranks, PairWait wait) {
    const double value = pair().is_sender() ? oversubscribed_rtt_ns(ranks, wait) : 0;
    return pair().from_sender(value);
  }

  [[nodiscard]] std::vector<std::size_t> sizes() const {
    if (options_.size_bytes != 0) {
      const std::size_t whole_words = std::max<std::size_t>(options_.size_bytes / 8 * 8, 8);
      return {std::min(whole_words, Yardsticks::kBulkBytes)};
    }
    return {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{4} << 20,
            std::size_t{64} << 20};
  }

  void add_copies() {
    for (const std::size_t bytes : sizes()) {
      const std::string size = size_name(bytes);
      for (const Method& method : kMethods) {
        add_copy(fmt::format("copy_{}_", size), method, bytes);
        add_mapped(fmt::format("mapped_{}_", size), method, bytes);
      }
    }
    const std::size_t greatest = sizes().back();
    for (const StreamMethod& stream : kStreamMethods) {
      if (!via::copy_method_works(stream.method)) continue;
      const Method method{via::to_string(stream.method), stream.copy};
      add_mapped(fmt::format("mapped_{}_", size_name(greatest)), method, greatest);
    }
  }

  // Within one process: the same lines again and again, and lines that no cache holds.
  void add_copy(const std::string& prefix, const Method& method, std::size_t bytes) {
    const std::string plain = prefix + kMethods.front().name;
    add(prefix + method.name + "_gbs", "GB/s", plain + "_gbs",
        [&, method, bytes] { return local_copy(method, bytes, false); });
    add(prefix + method.name + "_cold_gbs", "GB/s", plain + "_cold_gbs",
        [&, method, bytes] { return local_copy(method, bytes, true); });
  }

  // Between the processes: the time ends when the peer has summed every word of the copy.
  void add_mapped(const std::string& prefix, const Method& method, std::size_t bytes) {
    add(prefix + method.name + "_sum_gbs", "GB/s", prefix + kMethods.front().name + "_sum_gbs",
        [&, method, bytes] { return mapped_copy(method, bytes); });
  }

  [[nodiscard]] std::uint32_t copies_of(std::size_t bytes) const noexcept {
    constexpr std::uint64_t kMost = 20'000;  // each is a hand-over
    const std::uint64_t defined = std::clamp<std::uint64_t>(kBytesARound / bytes, 1, kMost);
    return static_cast<std::uint32_t>(std::min(iterations(defined), defined));
  }

  double local_copy(const Method& method, std::size_t bytes, bool cold) {
    double gbs = 0;
    if (pair().is_sender()) {
      std::byte* const to = yardsticks_.bulk_target();
      const std::byte* const from = yardsticks_.bulk_source();
      const std::uint32_t copies = cold ? std::min(copies_of(bytes), 64U) : copies_of(bytes);
      double elapsed = 0;
      if (!cold) method.copy(to, from, bytes);  // brings the cache lines to this core
      for (std::uint32_t copy = 0; copy < copies; ++copy) {
        if (cold) {
          drop_from_caches(to, bytes);
          drop_from_caches(from, bytes);
        }
        const Stopwatch watch;
        method.copy(to, from, bytes);
        elapsed += watch.elapsed_ns();
      }
      gbs = static_cast<double>(bytes) * copies / elapsed;
    }
    return pair().from_sender(gbs);
  }

  double mapped_copy(const Method& method, std::size_t bytes) {
    CopyPlan plan;
    plan.target = yardsticks_.bulk_target();
    plan.source = yardsticks_.bulk_source();
    plan.bytes = bytes;
    plan.with_sum = true;
    plan.copies = copies_of(bytes);
    plan.copy = method.copy;
    return yardsticks_.copy_gbs(plan);
  }

  void add_kernel_ways() {
    add("tcp_rtt_half_ns", "ns", "", [&] { return tcp_.rtt_half_ns(); });
    add("udp_rtt_half_ns", "ns", "", [&] { return udp_.rtt_half_ns(); });
    if (!cross_memory_.works()) return;
    for (const std::size_t bytes : {std::size_t{4} << 10, std::size_t{64} << 10,
                                    std::size_t{1} << 20, kGreatestCrossMemory}) {
      add(fmt::format("cma_{}_gbs", size_name(bytes)), "GB/s", "memcpy_1m_gbs",
          [&, bytes] { return cross_memory_.write_gbs(bytes, copies_of(bytes)); });
    }
  }

  // The best of several ways, round by round: of the ring's layouts, or of the bare processes' ways
  // to wait.
  [[nodiscard]] std::vector<double> best_of(const Rounds& rounds, const std::string& name,
                                            Better better) const {
    std::vector<double> best;
    for (std::size_t at = 0; at < measurements_.size(); ++at) {
      if (measurements_[at].against != name) continue;
      const std::vector<double>& samples = rounds.values[at];
      if (best.empty()) best = samples;
      for (std::size_t round = 0; round < best.size(); ++round) {
        best[round] = better == Better::lower ? std::min(best[round], samples[round])
                                              : std::max(best[round], samples[round]);
      }
    }
    return best;
  }

  void report(const Rounds& rounds, Figures& figures) const {
    std::map<std::string, std::vector<double>> known;
    for (std::size_t at = 0; at < measurements_.size(); ++at) {
      known[measurements_[at].name] = rounds.values[at];
    }
    for (const std::string& name :
         {std::string("ring_rate_mps"), std::string("yield_rtt_4_ns"),
          std::string("yield_rtt_8_ns"), std::string("yield_rtt_16_ns")}) {
      const bool rate = name == "ring_rate_mps";
      known[name] = best_of(rounds, name, rate ? Better::higher : Better::lower);
      figures.add_yardstick(name, rate ? "M/s" : "ns", known[name]);
    }
    figures.add_yardstick("yield_rtt_ns", "ns", known["yield_rtt_4_ns"]);  // the name without N
    for (const Measurement& measurement : measurements_) {
      const std::vector<double>& samples = known[measurement.name];
      if (measurement.against.empty()) {
        figures.add_yardstick(measurement.name, measurement.unit, samples);
      } else {
        figures.add(measurement.name, measurement.unit, samples,
                    {measurement.against, 0, known[measurement.against]});
      }
    }
  }

  Options options_;
  Yardsticks yardsticks_;
  Loopback tcp_;
  Loopback udp_;
  CrossMemory cross_memory_;
  Measurements measurements_;
  std::vector<std::string> notes_;
};

int measure(Job& job, std::byte* block, const Options& options) {
  const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
  require_own_core(job, block, role);
  Limits limits(block, role, options);
  const Figures figures = limits.run();
  if (role != Role::sender) return 0;
  conclude(figures, job, options.json_file);
  return 0;
}

int body(Job& job, int argc, char** argv) {
  program::CommandLine app(
      "Measures the machine itself: the limits that all other figures are read against.");
  Options options;
  add_common_options(app, options);
  add_size_option(app, options);
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, job.rank() == Rank{0})) return exit_code;
  if (job.size() < 2) {
    throw Error(std::errc::invalid_argument,
                "limits needs two ranks; run it as: viaduct-run -n 2 --bind limits");
  }
  std::byte* const block = share_block(job, Yardsticks::block_bytes());
  const int code = index(job.rank()) < 2 ? measure(job, block, options) : 0;
  job.bootstrap().fence();  // the others wait here, blocked
  return code;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) { return viaduct::run(viaduct::bench::body, argc, argv); }
