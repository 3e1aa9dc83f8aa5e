/// @file
/// Runs litmus tests and prints how often which outcome came.
///
///     viaduct-run -n 4 splitc_litmus [--ms N] [--seed N] [NAME...]     those of such a name, or
///     whose names contain it

#include "tests/splitc/litmus.hpp"

#include <x86intrin.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/program/command_line.hpp"
#include "tests/splitc/litmus_world.hpp"

namespace viaduct::splitc_test {
namespace {

constexpr std::uint64_t kFewestBatches = 2;  // however slow they are
constexpr double kLateSeconds = 3;

thread_local Random t_random(1);

struct Options {
  std::uint32_t ms = 25;  // for each case
  std::uint64_t seed = 0;
  bool until_forbidden = false;
  std::vector<std::string> names;
};

/// Counts outcomes in process 0.
class Tally {
 public:
  explicit Tally(const Case& subject) : case_(subject) {}

  void add(const Outcome& outcome, unsigned paths) {
    ++runs_;
    const bool weak = case_.is_weak(outcome);
    const bool wrong = case_.is_wrong != nullptr && case_.is_wrong(outcome);
    weak_ += weak ? 1U : 0U;
    if (wrong || (weak && (case_.weak_on & paths) == 0)) ++forbidden_;
    if (outcomes_.size() < 40 || outcomes_.contains(describe(outcome)))
      ++outcomes_[describe(outcome)];
  }

  void print() const {
    fmt::print("{:<26} {:>8} runs, {:>7} weak{}{}\n", case_.name, runs_, weak_,
               case_.weak_on != 0 ? " (allowed)" : "",
               forbidden_ != 0 ? fmt::format(", {} FORBIDDEN", forbidden_) : std::string());
    for (const auto& [what, count] : outcomes_) fmt::print("    {:>8}  {}\n", count, what);
    std::fflush(stdout);
  }
  [[nodiscard]] std::uint64_t forbidden() const noexcept { return forbidden_; }

 private:
  [[nodiscard]] std::string describe(const Outcome& o) const {
    std::string text;
    for (std::uint32_t role = 0; role < case_.roles; ++role)
      text += fmt::format("P{}: {} {}  ", role, o.r[role][0], o.r[role][1]);
    return case_.wants_end ? text + fmt::format("x={} y={}", o.x, o.y) : text;
  }

  const Case& case_;
  std::uint64_t runs_ = 0;
  std::uint64_t weak_ = 0;
  std::uint64_t forbidden_ = 0;
  std::map<std::string, std::uint64_t> outcomes_;
};

/// One case, batch after batch, until its time is over. Answers the number of forbidden outcomes.
std::uint64_t run_case(const Case& subject, World& world, const Options& options) {
  if (static_cast<std::uint32_t>(PROCS) < subject.roles) {
    if (MYPROC == 0) fmt::print("{:<26} needs {} processes\n", subject.name, subject.roles);
    return 0;
  }
  Tally tally(subject);
  const double end = splitc::get_seconds() + options.ms * 1e-3;
  for (std::uint64_t batch = 0;; ++batch) {
    const Layout layout = world.choose(subject, mixed(options.seed, batch));
    world.run_batch(subject, layout);
    if (MYPROC == 0)
      for (std::uint32_t i = 0; i < layout.runs; ++i)
        tally.add(world.outcome(subject, layout, i), layout.paths);
    // On a machine so busy that the fewest batches take long, fewer are enough.
    const double now = splitc::get_seconds();
    const bool go_on = (now < end || (batch < kFewestBatches && now < end + kLateSeconds)) &&
                       !(options.until_forbidden && tally.forbidden() != 0);
    if (!splitc::all_bcast(go_on)) break;
  }
  if (MYPROC == 0) tally.print();
  return splitc::all_bcast(tally.forbidden());
}

bool is_case(std::string_view name) {
  for (const auto table : {word_cases, fence_cases, split_cases, store_cases})
    for (const Case& subject : table())
      if (subject.name == name) return true;
  return false;
}

/// A name chooses the case of that name if there is one, else all whose names contain it.
bool is_chosen(const Case& subject, const std::vector<std::string>& names) {
  const std::string_view own = subject.name;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return is_case(name) ? own == name : own.find(name) != own.npos;
         });
}

/// The seed of process 0 is everybody's.
Options parse(int argc, char** argv) {
  Options options;
  options.seed =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  program::CommandLine app{"Litmus tests of the memory model"};
  app.option("--ms", options.ms, "milliseconds for each case");
  app.option("--seed", options.seed, "of places and delays");
  app.flag("--until-forbidden", options.until_forbidden,
           "a case ends when a forbidden outcome has come");
  app.option("names", options.names, "cases whose names contain one of these");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, MYPROC == 0)) std::exit(exit_code);
  options.seed = splitc::all_bcast(options.seed);
  t_random = Random(mixed(options.seed, static_cast<std::uint64_t>(MYPROC)));
  return options;
}

}  // namespace

void pause_for(std::uint64_t cycles) {
  for (const std::uint64_t end = __rdtsc() + cycles; __rdtsc() < end;) {
  }
}

long clock_cycles() { return static_cast<long>(__rdtsc()); }

std::uint32_t random_below(std::uint32_t bound) { return t_random.below(bound); }

}  // namespace viaduct::splitc_test

int splitc_main(int argc, char** argv) {
  using namespace viaduct::splitc_test;
  const Options options = parse(argc, argv);
  if (MYPROC == 0) fmt::print("splitc_litmus --seed {}\n", options.seed);
  alignas(128) CellPair on_stack[kRuns];
  World world(on_stack);
  std::uint64_t forbidden = 0;
  std::uint32_t chosen = 0;
  for (const auto table : {word_cases, fence_cases, split_cases, store_cases})
    for (const Case& subject : table()) {
      if (!is_chosen(subject, options.names)) continue;
      ++chosen;
      forbidden += run_case(subject, world, options);
    }
  if (MYPROC == 0 && chosen == 0) fmt::print("no case has such a name\n");
  if (MYPROC == 0 && forbidden != 0) fmt::print("{} forbidden outcomes\n", forbidden);
  return forbidden != 0 || chosen == 0 ? 1 : 0;
}
