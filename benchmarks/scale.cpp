// scale: start of a job, memory, an exchange between all ranks, and a barrier, by number of ranks,
// beside the same steps of bare processes. Run as `scale`, without viaduct-run: it launches the
// jobs itself. See docs/benchmarks.md.

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/bare_barrier.hpp"
#include "benchmarks/common/child.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/common/scale_job.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct::bench {
namespace {

// The first argument when this program runs itself: it names the role.
constexpr const char* kRank = "--as-rank";
constexpr const char* kBare = "--as-bare-process";
constexpr const char* kTimeLimit = "60";  // seconds, of one job

struct ScaleOptions : Options {
  std::vector<std::uint32_t> ranks{1, 2, 4, 8, 16, 32, 64, 128};
  bool quick = false;
};

/// Shared by the bare processes.
struct Board {
  std::atomic<std::uint64_t> last_ns;        // when the last process reached main()
  std::atomic<std::uint64_t> private_bytes;  // of all processes
};

/// As many bytes as a small job shares. A bare process touches the board alone.
constexpr std::size_t kSharedBytes = std::size_t{64} << 20;

MappedMemory map_file(int file) {
  MappedMemory memory(mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
                      kSharedBytes);
  if (!memory) throw_errno("cannot map the memory that bare processes share");
  return memory;
}

/// Runs a bare process.
int run_bare(std::uint64_t started_ns, int file) {
  const MappedMemory memory = map_file(file);
  auto& board = *reinterpret_cast<Board*>(memory.get());
  std::uint64_t last = board.last_ns.load();
  while (last < started_ns && !board.last_ns.compare_exchange_weak(last, started_ns)) {
  }
  board.private_bytes.fetch_add(static_cast<std::uint64_t>(resident().private_bytes));
  return 0;
}

/// Applies --quick, and sorts the numbers of ranks.
void prepare(ScaleOptions& options) {
  constexpr std::uint32_t kQuickMost = 16;
  if (options.quick) {
    options.rounds = 1;
    std::erase_if(options.ranks, [](std::uint32_t ranks) { return ranks > kQuickMost; });
    if (options.ranks.empty()) options.ranks.push_back(kQuickMost);
  }
  std::sort(options.ranks.begin(), options.ranks.end());
  options.ranks.erase(std::unique(options.ranks.begin(), options.ranks.end()), options.ranks.end());
}

class Scale {
 public:
  explicit Scale(ScaleOptions options)
      : options_(std::move(options)),
        program_((own_folder() / "scale").string()),
        launcher_(require_program(own_folder() / "viaduct-run", "build the target viaduct-run")),
        cores_(allowed_cores().size()) {}

  Figures run() {
    {
      const Progress progress("scale", options_.rounds);
      for (std::uint32_t round = 0; round < options_.rounds; ++round) {
        progress.begin(round);
        samples_[kPair].push_back(launch(2).at("pair_message_ns"));
        for (const std::uint32_t ranks : options_.ranks) {
          progress.at(round, fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"));
          measure(ranks);
        }
      }
    }
    Figures figures;
    figures.add(kPair, "ns", samples_.at(kPair), kIsOne);
    for (const std::uint32_t ranks : options_.ranks) report(ranks, figures);
    if (options_.ranks.back() > cores_)
      figures.add_note(fmt::format(
          "there are {} cores for these programs: more ranks than that share them", cores_));
    return figures;
  }

 private:
  static std::string name_of(const char* what, std::uint32_t ranks, const char* unit) {
    return fmt::format("{}_{}_{}", what, ranks, unit);
  }

  Told launch(std::uint32_t ranks) const {
    std::vector<std::string> command{launcher_, "-n", std::to_string(ranks), "--timeout",
                                     kTimeLimit};
    if (ranks <= cores_) command.emplace_back("--bind");
    command.insert(command.end(), {program_, kRank, std::to_string(options_.iterations)});
    const Ended ended = run_child(command);
    Told told = told_by(ended.output);
    if (ended.code != 0 || told.empty())
      throw Error(std::errc::protocol_error,
                  fmt::format("a job of {} ranks ended with exit code {}; it said:\n{}", ranks,
                              ended.code, ended.output));
    return told;
  }

  void measure(std::uint32_t ranks) {
    measure_bare(ranks);
    const auto begun = static_cast<double>(monotonic_ns());
    const Told told = launch(ranks);
    const auto take = [&](const char* what, const char* unit, double value) {
      samples_[name_of(what, ranks, unit)].push_back(value);
    };
    take("start", "ms", (told.at("started_ns") - begun) / 1e6);
    take("ready", "ms", (told.at("ready_ns") - begun) / 1e6);
    take("private", "bytes", told.at("private_bytes"));
    take("shared", "bytes", told.at("shared_bytes"));
    limits_[name_of("shared", ranks, "bytes")] = told.at("alone_bytes");
    if (ranks == 1) return;
    take("peer", "bytes", told.at("peer_bytes"));
    limits_[name_of("peer", ranks, "bytes")] = told.at("peer_limit_bytes");
    take("first_exchange", "us", told.at("first_exchange_ns") / 1e3);
    take("exchange", "us", told.at("exchange_ns") / 1e3);
    take("messages", "us", ranks * (ranks - 1.0) * samples_[kPair].back() / 1e3);
    take("barrier", "ns", told.at("barrier_ns"));
    take("bare_barrier", "ns", best_barrier_ns(ranks));
  }

  /// The same number of processes without Viaduct: of this program, and of the shortest one.
  void measure_bare(std::uint32_t ranks) {
    const FileDescriptor file(memfd_create("bare", 0));  // they inherit it
    if (!file.is_open() || ftruncate(file.get(), kSharedBytes) != 0)
      throw_errno("cannot make the memory that bare processes share");
    const MappedMemory memory = map_file(file.get());
    auto& board = *reinterpret_cast<Board*>(memory.get());
    const std::uint64_t begun = monotonic_ns();
    run_children({program_, kBare, std::to_string(file.get())}, ranks);
    const std::uint64_t between = monotonic_ns();
    run_children({"/bin/true"}, ranks);
    samples_[name_of("true", ranks, "ms")].push_back(static_cast<double>(monotonic_ns() - between) /
                                                     1e6);
    samples_[name_of("bare_start", ranks, "ms")].push_back(
        static_cast<double>(board.last_ns.load() - begun) / 1e6);
    samples_[name_of("bare_private", ranks, "bytes")].push_back(
        static_cast<double>(board.private_bytes.load()) / ranks);
  }

  [[nodiscard]] double best_barrier_ns(std::uint32_t ranks) const {
    if (ranks <= cores_) return bare_barrier_ns(ranks, BarrierWait::spin);
    return std::min(bare_barrier_ns(ranks, BarrierWait::yield),
                    bare_barrier_ns(ranks, BarrierWait::futex));
  }

  void report(std::uint32_t ranks, Figures& figures) const {
    const auto limit = [&](const char* what, const char* unit) {
      figures.add(name_of(what, ranks, unit), unit, samples_.at(name_of(what, ranks, unit)),
                  kIsOne);
    };
    const auto beside = [&](const char* what, const char* unit, const char* other) {
      const std::string against = name_of(other, ranks, unit);
      figures.add(name_of(what, ranks, unit), unit, samples_.at(name_of(what, ranks, unit)),
                  {against, 0, samples_.at(against)});
    };
    const auto within = [&](const char* what, const char* words) {
      const std::string name = name_of(what, ranks, "bytes");
      figures.add(name, "bytes", samples_.at(name), {words, limits_.at(name), {}});
    };
    limit("true", "ms");
    limit("bare_start", "ms");
    beside("start", "ms", "bare_start");
    beside("ready", "ms", "bare_start");
    limit("bare_private", "bytes");
    beside("private", "bytes", "bare_private");
    within("shared", "allocated in the job's memory");
    if (ranks == 1) return;
    within("peer", "a peer's rings and state");
    limit("messages", "us");
    beside("first_exchange", "us", "messages");
    beside("exchange", "us", "messages");
    limit("bare_barrier", "ns");
    beside("barrier", "ns", "bare_barrier");
  }

  static constexpr const char* kPair = "pair_message_ns";
  static inline const Against kIsOne{"is itself a limit", 0, {}};
  ScaleOptions options_;
  std::string program_;
  std::string launcher_;
  std::size_t cores_;
  std::map<std::string, std::vector<double>> samples_;  // by figure
  std::map<std::string, double> limits_;                // by figure, of those that never change
};

int measure(int argc, char** argv) {
  program::CommandLine app(
      "Measures the start of a job, its memory, an exchange between all ranks and a barrier, by "
      "number of ranks, beside bare processes.");
  ScaleOptions options;
  options.rounds = 3;
  add_common_options(app, options);
  app.option("--ranks", options.ranks,
             "Numbers of ranks, for example 1,8,64; otherwise the powers of two up to 128")
      .separated_by(',')
      .within(1, 4096);
  app.flag("--quick", options.quick, "Up to 16 ranks, and a single round");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, true)) return exit_code;
  try {
    require_no_job();
    (void)use_provider(options);
    prepare(options);
    const Figures figures = Scale(options).run();
    figures.print(stdout);
    program::write_out();
    if (!options.json_file.empty())
      figures.write_json(options.json_file, machine_facts(options.ranks.back(), "processes"));
  } catch (const std::exception& problem) {
    fmt::print(stderr, "scale: {}\n", problem.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  const std::uint64_t started_ns = viaduct::monotonic_ns();
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == viaduct::bench::kRank) return viaduct::bench::run_scale_job(started_ns, argc, argv);
  if (role == viaduct::bench::kBare && argc == 3)
    return viaduct::bench::run_bare(started_ns, std::atoi(argv[2]));
  viaduct::open_standard_streams();
  return viaduct::bench::measure(argc, argv);
}
