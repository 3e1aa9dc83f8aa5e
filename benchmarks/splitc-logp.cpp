// splitc-logp: LogP's parameters of Split-C's gets and puts by message. Run as `viaduct-run -n 2
// --bind splitc-logp`; see docs/benchmarks.md. Method: Culler, Liu, Martin, Yoshikawa, LogP
// performance assessment of fast network interfaces, 1996.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/logp_parameters.hpp"
#include "benchmarks/common/logp_report.hpp"
#include "benchmarks/common/logp_sizes.hpp"
#include "benchmarks/common/logp_splitc_traffic.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::bench {
namespace {

struct LogpOptions : Options {
  std::vector<std::string> operations;  // empty: all
  [[nodiscard]] bool wants(const char* operation) const {
    return operations.empty() ||
           std::find(operations.begin(), operations.end(), operation) != operations.end();
  }
};

class SplitcLogP {
 public:
  SplitcLogP(std::byte* block, Role role, const LogpOptions& options, std::uint32_t credits)
      : yardsticks_(block, role),
        sizes_(with_progress(yardsticks_.pair()), options),
        get_traffic_(Access::get, credits),
        put_traffic_(Access::put, credits),
        get_("get_", get_traffic_, yardsticks_.pair(), sizes_.parameters()),
        put_("put_", put_traffic_, yardsticks_.pair(), sizes_.parameters()) {
    list_.add("hand_over_ns", "ns", "",
              [this] { return yardsticks_.hand_over_ns(sizes_.of(100'000)); });
    if (options.wants("get")) get_.add_to(list_);
    if (options.wants("put")) put_.add_to(list_);
  }

  Figures run() {
    const Rounds rounds = list_.run(yardsticks_.pair(), sizes_.rounds());
    Figures figures;
    sizes_.add_note(figures);
    report(list_, rounds, figures);
    list_.tell(rounds, figures,
               [this](const Rounds& other, Figures& apart) { report(list_, other, apart); });
    return figures;
  }

 private:
  /// Where messages need a transport, every wait moves the other rank's messages on.
  static Pair& with_progress(Pair& pair) {
    if (splitc::detail::any_off_node()) pair.make_progress_by([] { splitc::poll(); });
    return pair;
  }

  Yardsticks yardsticks_;
  LogpSizes sizes_;
  SplitcTraffic get_traffic_;
  SplitcTraffic put_traffic_;
  LogpParameters<SplitcTraffic> get_;
  LogpParameters<SplitcTraffic> put_;
  Measurements list_;
};

std::string provider_note;  // known before Split-C begins

int measure(int argc, char** argv) {
  program::CommandLine app("Measures LogP's parameters of Split-C's gets and puts by message.");
  LogpOptions options;
  add_common_options(app, options);
  app.option("--operation", options.operations, "Only these, for example get,put")
      .separated_by(',')
      .one_of({"get", "put"});
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, MYPROC == 0)) return exit_code;
  require_provider(options);
  if (PROCS != 2)
    throw Error(std::errc::invalid_argument,
                "splitc-logp measures two ranks; run it as: viaduct-run -n 2 --bind splitc-logp");
  Job& job = splitc::job();
  const Role role = MYPROC == 0 ? Role::sender : Role::peer;
  std::byte* const block = share_block(job, Yardsticks::block_bytes(), Rank{1});
  require_own_core(job, block, role);
  splitc::force_path(splitc::Path::message);
  SplitcLogP logp(block, role, options,
                  static_cast<std::uint32_t>(splitc::load_settings().credits));
  Figures figures = logp.run();
  if (!provider_note.empty()) figures.add_note(provider_note);
  if (role != Role::sender) return 0;
  conclude(figures, job, options.json_file);
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  viaduct::bench::provider_note = viaduct::bench::use_provider({});  // that of the environment
  return viaduct::splitc::run(viaduct::bench::measure, argc, argv);
}
