// mapping: Delta, and the processors' time by the rows of Begel et al. 2001, Tables 3 and 4. Run as
// `mapping`, without viaduct-run: it launches mapping-work and mapping-parts itself. See
// docs/mapping.md.

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "benchmarks/common/child.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/pair.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTimeLimit = "300";  // seconds, of one launch

/// A way to lay Active Messages and Split-C on the machine. The paper measured v3.
struct Form {
  const char* generation;
  const char* prefix;  // of its figures
};
constexpr std::array kForms{Form{"v3", ""}, Form{"v1", "v1_"}, Form{"channel", "channel_"}};

struct Operation {
  const char* name;
  const char* processing;  // the name of that row in the paper's table
};
constexpr std::array kOperations{Operation{"am", "processing"}, Operation{"get", "push"}};

/// A row of the paper's tables, with the paper's shares in per cent.
struct PaperRow {
  const char* name;
  const char* group;
  std::array<double, 2> paper;  // by operation
};
constexpr std::array kRows{
    PaperRow{"send_done", "base", {7.0, 7.1}},    PaperRow{"post_send", "base", {6.1, 9.4}},
    PaperRow{"recv_done", "base", {7.4, 8.0}},    PaperRow{"post_recv", "base", {4.8, 5.6}},
    PaperRow{"recycle_send", "base", {1.7, 1.8}}, PaperRow{"recycle_recv", "base", {2.0, 1.8}},
    PaperRow{"build", "base", {3.5, 2.4}},        PaperRow{"cq_send", "event", {22.1, 24.4}},
    PaperRow{"cq_recv", "event", {22.1, 22.5}},   PaperRow{"bookkeeping", "flow", {5.7, 4.9}},
    PaperRow{"processing", "flow", {8.7, 6.7}},   PaperRow{"read_data", "semantics", {6.3, 3.6}},
    PaperRow{"act", "semantics", {2.6, 1.8}},
};
struct PaperGroup {
  const char* name;
  std::array<double, 2> paper;
};
constexpr std::array kGroups{PaperGroup{"base", {32.5, 36.1}}, PaperGroup{"event", {44.2, 46.9}},
                             PaperGroup{"flow", {14.4, 11.6}}, PaperGroup{"semantics", {8.9, 5.4}}};

/// The row of a part of the library. Publishing a slot of a channel sends the message; over VIs it
/// only completes a piece of the message that is built.
const char* row_of(const std::string& part, const Form& form) {
  for (const PaperRow& row : kRows)
    if (part == row.name) return row.name;
  return std::string_view(form.generation) == "channel" ? "post_send" : "build";
}

/// One measurement of one form and operation.
struct Sample {
  std::array<double, kRows.size()> ns{};
  std::array<double, kRows.size()> entries{};
  double sum_ns = 0;
  double total_ns = 0;   // without instrumentation
  double marked_ns = 0;  // with marks that do not read the clock
  double boundary_ns = 0;
  double hand_over_ns = 0;
  double vi_rtt_half_ns = 0;
  double rtt_half_ns = 0;
};

Sample sample_of(const Form& form, const program::Json& work, const program::Json& parts) {
  Sample sample;
  const program::Json all = parts.at("parts");
  for (const std::string& part : all.keys()) {
    const char* const name = row_of(part, form);
    const auto* const row =
        std::find_if(kRows.begin(), kRows.end(), [&](const PaperRow& r) { return r.name == name; });
    const auto at = static_cast<std::size_t>(row - kRows.begin());
    sample.ns[at] += all.at(part).at("ns").number();
    if (part != "publish" || std::string_view(name) == "post_send")
      sample.entries[at] += all.at(part).at("entries").number();
  }
  // A row whose time is shorter than the clock's error may have a result below zero.
  for (double& ns : sample.ns) ns = std::max(ns, 0.0);
  sample.sum_ns = std::accumulate(sample.ns.begin(), sample.ns.end(), 0.0);
  sample.total_ns = work.at("total_ns").number();
  sample.marked_ns = parts.at("total_ns").number();
  sample.boundary_ns = parts.at("boundary_ns").number();
  sample.hand_over_ns = work.at("hand_over_ns").number();
  sample.vi_rtt_half_ns = work.at("vi_rtt_half_ns").number();
  sample.rtt_half_ns = work.at("rtt_half_ns").number();
  return sample;
}

/// Launches the two programs.
class Launches {
 public:
  explicit Launches(const Options& options) : options_(options) {
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const char* name : {"viaduct-run", "mapping-work", "mapping-parts"}) {
      programs_.push_back((folder / name).string());
      if (access(programs_.back().c_str(), X_OK) != 0)
        throw_errno(fmt::format("cannot run {}: build the target mapping", programs_.back()));
    }
    setenv("VIADUCT_PROVIDER", "shm", 1);
    setenv("VIADUCT_SPLITC_PATH", "message", 1);
  }

  /// Of each program's launches, the launch with the least time counts: the place of its memory,
  /// and the host's other programs, make a launch slower by up to a half, and never faster.
  /// Launches follow until both programs have come near their least time twice, with cores that lie
  /// equally far apart. With --iters: one launch.
  Sample measure(const Form& form, const Operation& operation) {
    const bool full = options_.iterations == 0;
    const int fewest = full ? 3 : 1, most = full ? 15 : 1;
    setenv("VIADUCT_AM_GENERATION", form.generation, 1);
    Best work, parts;
    Verdict verdict = Verdict::sound;
    const auto is_enough = [&] {
      verdict = judge_round(work.hand_over_ns, parts.hand_over_ns, 0, 0);
      return verdict == Verdict::sound && work.seen_twice() && parts.seen_twice();
    };
    for (int i = 0; i < most && (i < fewest || !is_enough()); ++i) {
      work.take(run(programs_[1], operation));
      parts.take(run(programs_[2], operation));
    }
    (void)is_enough();
    if (verdict != Verdict::sound) ++unsound_;
    return sample_of(form, work.json, parts.json);
  }

  [[nodiscard]] std::string note() const {
    if (unsound_ == 0) return {};
    return fmt::format(
        "in {} measurements the cores' distance was not the same in both programs, or both ranks "
        "shared a physical core: repeat on a quiet machine",
        unsound_);
  }

 private:
  /// The launch that counts.
  struct Best {
    program::Json json;
    double ns = 0;       // 0: there is none
    double next_ns = 0;  // the second-best launch's; 0: there is none
    double hand_over_ns = 0;
    bool shared_core = false;

    void take(const program::Json& launch) {
      const double its_ns = launch.at("total_ns").number();
      const double its_hand_over_ns = launch.at("hand_over_ns").number();
      const bool its_shared_core = its_hand_over_ns < kSharedCoreNs;
      if (ns == 0 || (shared_core && !its_shared_core)) {
        *this = {launch, its_ns, 0, its_hand_over_ns, its_shared_core};
      } else if (its_shared_core == shared_core && its_ns < ns) {
        *this = {launch, its_ns, ns, its_hand_over_ns, its_shared_core};
      } else if (its_shared_core == shared_core && (next_ns == 0 || its_ns < next_ns)) {
        next_ns = its_ns;
      }
    }
    [[nodiscard]] bool seen_twice() const noexcept {
      constexpr double kNear = 1.05;
      return next_ns != 0 && next_ns < kNear * ns;
    }
  };

  program::Json run(const std::string& program, const Operation& operation) {
    const std::string file = folder_.file("work.json");
    std::vector<std::string> command{programs_[0], "-n",       "2",     "--bind",
                                     "--timeout",  kTimeLimit, program, operation.name,
                                     "--json",     file};
    if (options_.iterations != 0)
      command.insert(command.end(), {"--iters", std::to_string(options_.iterations)});
    const Ended ended = run_child(command);
    if (ended.code != 0)
      throw Error(std::errc::protocol_error,
                  fmt::format("{} failed with exit code {}; it said:\n{}", fmt::join(command, " "),
                              ended.code, ended.output));
    return program::Json::read(file);
  }

  Options options_;
  ScratchFolder folder_;
  std::vector<std::string> programs_;
  int unsound_ = 0;
};

using Samples = std::vector<Sample>;

template <class Value>
std::vector<double> each(const Samples& samples, Value&& value) {
  std::vector<double> values(samples.size());
  std::transform(samples.begin(), samples.end(), values.begin(), value);
  return values;
}

const char* row_name(const PaperRow& row, const Operation& operation) {
  return std::string_view(row.name) == "processing" ? operation.processing : row.name;
}

/// The share of the rows that @p counts names, in per cent of all rounds together: so all shares
/// add up to 100, which medians would not.
template <class Counts>
double share(const Samples& samples, Counts&& counts) {
  double ns = 0, sum = 0;
  for (const Sample& sample : samples) {
    sum += sample.sum_ns;
    for (std::size_t at = 0; at < kRows.size(); ++at)
      if (counts(kRows[at])) ns += sample.ns[at];
  }
  return 100 * ns / sum;
}

/// The rows and groups of one form and operation.
void add_rows(Figures& figures, const std::string& prefix, std::size_t operation,
              const Samples& samples) {
  for (std::size_t at = 0; at < kRows.size(); ++at) {
    const std::string name = prefix + row_name(kRows[at], kOperations[operation]);
    const Against none{"part of the sum", 0, {}};
    figures.add(name + "_ns", "ns", each(samples, [&](const Sample& s) { return s.ns[at]; }), none);
    figures.add(name + "_percent", "%",
                {share(samples, [&](const PaperRow& row) { return row.name == kRows[at].name; })},
                {"paper", kRows[at].paper[operation], {}});
    figures.add(name + "_count", "", each(samples, [&](const Sample& s) { return s.entries[at]; }),
                none);
  }
  for (const PaperGroup& group : kGroups) {
    const auto of_group = [&](const PaperRow& row) {
      return std::string_view(row.group) == group.name;
    };
    figures.add(prefix + group.name + "_percent", "%", {share(samples, of_group)},
                {"paper", group.paper[operation], {}});
  }
}

/// Delta, and the sum of the rows beside the total that they should add up to.
void add_sums(Figures& figures, const std::string& prefix, const Samples& samples) {
  const auto native = each(samples, [](const Sample& s) { return s.vi_rtt_half_ns; });
  figures.add(prefix + "rtt_half_ns", "ns",
              each(samples, [](const Sample& s) { return s.rtt_half_ns; }),
              {"native VI", 0, native});
  figures.add(prefix + "delta_ns", "ns",
              each(samples, [](const Sample& s) { return s.rtt_half_ns - s.vi_rtt_half_ns; }),
              {"native VI", 0, native});
  const auto total = each(samples, [](const Sample& s) { return s.total_ns; });
  figures.add(prefix + "total_ns", "ns", total, {"what the sum is read against", 0, {}});
  figures.add(prefix + "marked_ns", "ns",
              each(samples, [](const Sample& s) { return s.marked_ns; }),
              {prefix + "total_ns", 0, total});
  figures.add(prefix + "sum_ns", "ns", each(samples, [](const Sample& s) { return s.sum_ns; }),
              {prefix + "total_ns", 0, total});
}

/// One line for each row: the paper's share, then those of the three forms.
void print_rows(const Figures& rows, std::size_t operation) {
  const std::string name = kOperations[operation].name;
  fmt::print("\n{:<14} {:>7}", name, "paper");
  for (const Form& form : kForms)
    fmt::print(" | {:>7} {:>8} {:>6}", form.generation, "ns", "count");
  fmt::print("\n");
  for (const PaperGroup& group : kGroups) {
    fmt::print("{:<14} {:>5.1f} %", group.name, group.paper[operation]);
    for (const Form& form : kForms)
      fmt::print(" | {:>5.1f} % {:>8} {:>6}",
                 rows.median_of(fmt::format("{}{}_{}_percent", form.prefix, name, group.name)), "",
                 "");
    fmt::print("\n");
    for (const PaperRow& row : kRows) {
      if (std::string_view(row.group) != group.name) continue;
      const char* const own = row_name(row, kOperations[operation]);
      fmt::print("  {:<12} {:>5.1f} %", own, row.paper[operation]);
      for (const Form& form : kForms) {
        const std::string figure = fmt::format("{}{}_{}", form.prefix, name, own);
        fmt::print(" | {:>5.1f} % {:>8.1f} {:>6.2f}", rows.median_of(figure + "_percent"),
                   rows.median_of(figure + "_ns"), rows.median_of(figure + "_count"));
      }
      fmt::print("\n");
    }
  }
}

void run(const Options& options) {
  Launches launches(options);
  std::map<std::string, Samples> samples;  // by form and operation
  for (std::uint32_t round = 0; round < options.rounds; ++round)
    for (const Form& form : kForms)
      for (const Operation& operation : kOperations)
        samples[fmt::format("{}{}_", form.prefix, operation.name)].push_back(
            launches.measure(form, operation));
  Figures sums, rows;
  const Samples& first = samples.at("am_");
  const auto hand_over = each(first, [](const Sample& s) { return s.hand_over_ns; });
  sums.add_yardstick("hand_over_ns", "ns", hand_over);
  sums.add("vi_rtt_half_ns", "ns", each(first, [](const Sample& s) { return s.vi_rtt_half_ns; }),
           {"hand_over_ns", 0, hand_over});
  sums.add("boundary_ns", "ns", each(first, [](const Sample& s) { return s.boundary_ns; }),
           {"subtracted for each boundary", 0, {}});
  for (std::size_t operation = 0; operation < kOperations.size(); ++operation)
    for (const Form& form : kForms) {
      const std::string prefix = fmt::format("{}{}_", form.prefix, kOperations[operation].name);
      add_rows(rows, prefix, operation, samples.at(prefix));
      add_sums(sums, prefix, samples.at(prefix));
    }
  if (const std::string note = launches.note(); !note.empty()) sums.add_note(note);
  sums.print(stdout);
  for (std::size_t operation = 0; operation < kOperations.size(); ++operation)
    print_rows(rows, operation);
  program::write_out();
  if (options.json_file.empty()) return;
  program::Json all = sums.to_json(machine_facts(2, "processes"));
  program::Json merged = all.at("figures");
  merged.merge(rows.to_json(program::Json()).at("figures"));
  all.set("figures", merged).write(options.json_file);
}

int measure(int argc, char** argv) {
  program::CommandLine app(
      "Measures Delta and where the processors' time goes, for Active Messages and for a get of "
      "Split-C, by the rows of Begel et al. 2001.");
  Options options;
  options.rounds = 3;
  add_common_options(app, options);
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, true)) return exit_code;
  try {
    require_no_job();
    if (provider_of(options) != "shm")
      throw Error(
          std::errc::invalid_argument,
          fmt::format("--provider {}: only provider shm is instrumented", provider_of(options)));
    run(options);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "mapping: {}\n", problem.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  viaduct::open_standard_streams();
  return viaduct::bench::measure(argc, argv);
}
