// apps: time and speed-up of whole Split-C programs by number of ranks, and the limits of both. Run
// as `apps`, without viaduct-run: it launches the programs itself. See docs/benchmarks.md.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "benchmarks/common/app_list.hpp"
#include "benchmarks/common/child.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/progress.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLimits = "splitc-gups";
constexpr const char* kTimeLimit = "300";  // seconds, of one run

struct AppsOptions : Options {
  std::vector<std::uint32_t> ranks;  // empty: 1, 2, 4, ... and as many as there are cores
  std::vector<std::string> programs;
  std::string examples;
  bool short_runs = false;
};

class Apps {
 public:
  explicit Apps(const AppsOptions& options)
      : options_(options),
        launcher_(require_program(own_folder() / "viaduct-run", "build the target viaduct-run")),
        cores_(allowed_cores().size()),
        list_(app_list(folder_, options.short_runs)) {
    if (options_.examples.empty())
      options_.examples = (own_folder().parent_path() / "examples").string();
    if (options_.ranks.empty()) options_.ranks = usual_ranks();
    if (!options_.programs.empty()) keep(options_.programs);
    for (const App& app : list_)
      require_program(fs::path(options_.examples) / app.program,
                      "build the target programs, or name the folder with --examples");
  }

  Figures run() {
    {
      const Progress progress("apps", options_.rounds);
      for (std::uint32_t round = 0; round < options_.rounds; ++round) {
        progress.begin(round);
        for (const App& app : list_)
          for (const std::uint32_t ranks : options_.ranks) {
            progress.at(round,
                        fmt::format("{}, {} rank{}", app.name, ranks, ranks == 1 ? "" : "s"));
            times_[name_of(app, ranks)].push_back(1e3 * seconds(app, ranks));
          }
      }
    }
    Figures figures;
    for (const App& app : list_) report(app, figures);
    if (options_.ranks.back() > cores_)
      figures.add_note(fmt::format(
          "there are {} cores for these programs: more ranks than that share them", cores_));
    return figures;
  }

  /// Runs the program that measures GUPS beside its limits, shows its output, answers its figures.
  program::Json run_limits() const {
    const fs::path program =
        require_program(own_folder() / kLimits, "build the target splitc-gups");
    if (cores_ < 2) {
      fmt::print("\n{} needs two cores: not run\n", kLimits);
      return program::Json();
    }
    const std::string file = folder_.file("limits.json");
    std::vector<std::string> command = launch(2);
    command.insert(command.end(),
                   {program.string(), "--json", file, "--rounds", std::to_string(options_.rounds)});
    if (options_.iterations != 0)
      command.insert(command.end(), {"--iters", std::to_string(options_.iterations)});
    const Ended ended = run_child(command);
    if (ended.code != 0) complain(command, ended, "failed");
    fmt::print("\n{}", ended.output);
    return program::Json::read(file).at("figures");
  }

  [[nodiscard]] std::uint32_t most_ranks() const { return options_.ranks.back(); }
  [[nodiscard]] bool has(const std::string& program) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const App& app) { return app.program == program; });
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> usual_ranks() const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t n = 1; n < cores_; n *= 2) ranks.push_back(n);
    ranks.push_back(static_cast<std::uint32_t>(cores_));
    return ranks;
  }

  void keep(const std::vector<std::string>& programs) {
    std::erase_if(list_, [&](const App& app) {
      return std::find(programs.begin(), programs.end(), app.program) == programs.end();
    });
  }

  static std::string name_of(const App& app, std::uint32_t ranks) {
    return fmt::format("{}_{}_ms", app.name, ranks);
  }

  [[nodiscard]] std::vector<std::string> launch(std::uint32_t ranks) const {
    std::vector<std::string> command{launcher_.string(), "-n", std::to_string(ranks), "--timeout",
                                     kTimeLimit};
    if (ranks <= cores_) command.emplace_back("--bind");
    return command;
  }

  [[nodiscard]] double seconds(const App& app, std::uint32_t ranks) const {
    std::vector<std::string> command = launch(ranks);
    command.push_back((fs::path(options_.examples) / app.program).string());
    command.insert(command.end(), app.arguments.begin(), app.arguments.end());
    const Ended ended = run_child(command);
    if (ended.code != 0) complain(command, ended, "failed");
    const auto result = parse_app_output(ended.output);
    if (!result) complain(command, ended, "does not tell its time");
    if (!result->verified) complain(command, ended, "does not say that its result is verified");
    return result->seconds;
  }

  [[noreturn]] static void complain(const std::vector<std::string>& command, const Ended& ended,
                                    const char* what) {
    throw Error(std::errc::protocol_error,
                fmt::format("{} {} with exit code {}; it said:\n{}", fmt::join(command, " "), what,
                            ended.code, ended.output));
  }

  // Figures with more ranks are read against those with the least number of ranks.
  void report(const App& app, Figures& figures) const {
    const std::uint32_t least = options_.ranks.front();
    const std::string base_name = name_of(app, least);
    const std::vector<double>& base = times_.at(base_name);
    figures.add(base_name, "ms", base, {"what more ranks are read against", 0, {}});
    for (const std::uint32_t ranks : options_.ranks) {
      if (ranks == least) continue;
      const std::vector<double>& times = times_.at(name_of(app, ranks));
      figures.add(name_of(app, ranks), "ms", times, {base_name, 0, base});
      const double ideal = static_cast<double>(std::min<std::size_t>(ranks, cores_)) / least;
      figures.add(fmt::format("{}_{}_speedup", app.name, ranks), "x", ratios(base, times),
                  {"the cores' number", ideal, {}});
    }
  }

  AppsOptions options_;
  ScratchFolder folder_;
  fs::path launcher_;
  std::size_t cores_;
  std::vector<App> list_;
  std::map<std::string, std::vector<double>> times_;  // by figure
};

void write_json(const std::string& path, const Figures& figures, const program::Json& limits,
                std::uint32_t ranks) {
  program::Json all = figures.to_json(machine_facts(ranks, "processes"));
  program::Json merged = all.at("figures");
  merged.merge(limits);
  all.set("figures", merged).write(path);
}

void run(AppsOptions options) {
  std::sort(options.ranks.begin(), options.ranks.end());
  options.ranks.erase(std::unique(options.ranks.begin(), options.ranks.end()), options.ranks.end());
  Apps apps(options);
  const Figures figures = apps.run();
  figures.print(stdout);
  const program::Json limits = apps.has("gups") ? apps.run_limits() : program::Json();
  program::write_out();
  if (!options.json_file.empty()) write_json(options.json_file, figures, limits, apps.most_ranks());
}

std::vector<std::string> app_names() {
  std::vector<std::string> names;
  for (const App& app : app_list({}, false))  // those of one program follow each other
    if (names.empty() || names.back() != app.program) names.push_back(app.program);
  return names;
}

int measure(int argc, char** argv) {
  program::CommandLine app(
      "Measures time and speed-up of whole Split-C programs by number of ranks, and GUPS beside "
      "its limits.");
  AppsOptions options;
  options.rounds = 5;
  add_common_options(app, options);
  app.option("--ranks", options.ranks,
             "Numbers of ranks, for example 1,2,4; otherwise the powers of two up to the number "
             "of cores, and that")
      .separated_by(',')
      .within(1, 4096);
  app.option("--program", options.programs, "Only these of the programs")
      .separated_by(',')
      .one_of(app_names());
  app.option("--examples", options.examples, "The folder that the programs lie in");
  app.flag("--short", options.short_runs, "Inputs of a tenth of the size");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, true)) return exit_code;
  try {
    require_no_job();
    (void)use_provider(options);
    run(options);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "apps: {}\n", problem.what());
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
