// am2: latency and rates of Active Messages by their C interface, AM-2, beside am/ in the same run.
// Run as `viaduct-run -n 2 --bind am2`; see docs/benchmarks.md.

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/c/am.h"
#include "am/c/underneath.hpp"
#include "benchmarks/common/am2_link.hpp"
#include "benchmarks/common/am2_threads.hpp"
#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/figures.hpp"
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

class Am2Benchmark {
 public:
  Am2Benchmark(am::Context& context, std::byte* block, Role role, const Options& options)
      : options_(options), yardsticks_(block, role) {
    make_links(context, other(role));
    list_.add("hand_over_ns", "ns", "",
              [&] { return yardsticks_.hand_over_ns(iterations(2 * kTrips)); });
    add_rtt("am_rtt_half_ns", "hand_over_ns", cxx_);
    add_rtt("am2_rtt_half_ns", "am_rtt_half_ns", sequential_);
    add_rtt("am2_par_rtt_half_ns", "am2_rtt_half_ns", parallel_);
    add_rate("am_rate_mps", "", cxx_);
    add_rate("am2_rate_mps", "am_rate_mps", sequential_);
    add_rate("am2_par_rate_mps", "am2_rate_mps", parallel_);
    list_.add("am2_self_mps", "M/s", "", [&] { return threads_mps(Am2Threads::sequential); });
    list_.add("am2_par_self_mps", "M/s", "am2_self_mps",
              [&] { return threads_mps(Am2Threads::alone); });
    list_.add("am2_par_two_threads_mps", "M/s", "am2_par_self_mps",
              [&] { return threads_mps(Am2Threads::two); });
  }

  static std::size_t block_bytes() noexcept { return Yardsticks::block_bytes(); }

  Figures run() {
    if (options_.iterations == 0) divisor_ = pair().busy_divisor();
    return list_.figures(pair(), options_.rounds, divisor_);
  }

 private:
  static constexpr int kFirstPort = 100;
  static constexpr std::uint64_t kTrips = 50'000;
  static constexpr std::uint64_t kMessages = 1'000'000;
  static Rank other(Role role) noexcept { return role == Role::sender ? Rank{1} : Rank{0}; }
  Pair& pair() noexcept { return yardsticks_.pair(); }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? options_.iterations
                                    : std::max<std::uint64_t>(defined / divisor_, 20);
  }

  // The speed of a link depends on the place of its memory: a link that is made as the second,
  // fourth or sixth one is slower by a twentieth than the others, with either interface. So there
  // are two links of each kind, one at an odd place and one at an even place.
  enum class Kind : std::uint8_t { cxx, sequential, parallel };
  static constexpr std::array kOrder{Kind::cxx, Kind::sequential, Kind::sequential,
                                     Kind::cxx, Kind::parallel,   Kind::parallel};
  static constexpr int kLinks = 2;  // of each kind
  void make_links(am::Context& context, Rank peer) {
    int port = kFirstPort;
    for (const Kind kind : kOrder) switch (kind) {
        case Kind::cxx:
          cxx_.push_back(std::make_unique<AmLink>(context, pair(), peer, nullptr, 0));
          break;
        case Kind::sequential:
          sequential_.push_back(std::make_unique<Am2Link>(pair(), peer, AM_SEQ, port++));
          break;
        case Kind::parallel:
          parallel_.push_back(std::make_unique<Am2Link>(pair(), peer, AM_PAR, port++));
      }
  }
  template <class Link>
  using Links = std::vector<std::unique_ptr<Link>>;
  /// The mean of @p measure over all @p links.
  template <class Link, class Measure>
  static double mean(const Links<Link>& links, Measure measure) {
    double sum = 0;
    for (const auto& link : links) sum += measure(*link);
    return sum / kLinks;
  }
  template <class Link>
  void add_rtt(const char* name, const char* to, const Links<Link>& links) {
    list_.add(name, "ns", to, [this, &links] {
      const std::uint64_t trips = iterations(kTrips) / kLinks + 1;
      return mean(links, [&](Link& link) { return link.rtt_half_ns(trips); });
    });
  }
  template <class Link>
  void add_rate(const char* name, const char* to, const Links<Link>& links) {
    list_.add(name, "M/s", to, [this, &links] {
      const std::uint64_t messages = iterations(kMessages) / kLinks + 1;
      return 1 / mean(links, [&](Link& link) { return 1 / link.one_way_mps(messages); });
    });
  }

  /// Measures a process that the sender starts, while its peer is blocked.
  [[nodiscard]] double threads_mps(Am2Threads what) {
    constexpr std::uint64_t kRounds = 300'000;
    double rate = 0;
    if (pair().is_sender())
      rate = am2_threads_mps(what, static_cast<unsigned>(iterations(kRounds)));
    return pair().from_sender(rate);
  }

  const Options& options_;
  std::uint64_t divisor_ = 1;  // of the numbers of operations
  Yardsticks yardsticks_;
  Links<AmLink> cxx_;
  Links<Am2Link> sequential_, parallel_;
  Measurements list_;
};

/// Reads the command line into @p options.  False: @p exit_code says how the program ends.
bool read(int argc, char** argv, Options& options, int& exit_code, bool speak) {
  program::CommandLine app(
      "Measures Active Messages by their C interface, AM-2, beside the C++ one.");
  add_common_options(app, options);
  return app.read(argc, argv, exit_code, speak);
}

int body(int argc, char** argv) {
  if (AM_Init() != AM_OK) return 1;
  am::Context& context = *am::c::underneath();
  Job& job = context.job();
  Options options;
  int exit_code = 0;
  if (!read(argc, argv, options, exit_code, job.rank() == Rank{0})) return exit_code;
  require_provider(options);
  if (job.size() < 2)
    throw Error(std::errc::invalid_argument,
                "am2 needs two ranks; run it as: viaduct-run -n 2 --bind am2");
  std::byte* const block = share_block(job, Am2Benchmark::block_bytes(), Rank{1});
  if (index(job.rank()) < 2) {
    const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
    require_own_core(job, block, role);
    Am2Benchmark benchmark(context, block, role, options);
    const Figures figures = benchmark.run();
    if (role == Role::sender) conclude(figures, job, options.json_file);
  }
  job.bootstrap().fence();  // the others wait here, blocked
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

// AM-2 makes the Job, and ends it at exit().
int main(int argc, char** argv) {
  int exit_code = 0;
  if (viaduct::bench::is_am2_child(argc, argv, exit_code)) return exit_code;
  try {
    return viaduct::bench::body(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "am2: %s\n", problem.what());
    return 1;
  }
}
