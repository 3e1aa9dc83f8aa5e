/// @file
/// Runs the cases of Active Messages in as many ranks as the job has, processes or threads, all
/// ranks in step.
///
///     viaduct-run -n 4 am_test [--seed N] [--without NAME] [NAME...]
///
/// runs the cases whose names contain one of these, without those that contain the name after
/// --without.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::am_test;

struct Options {
  std::uint64_t seed = 0;
  std::vector<std::string> names;
  std::vector<std::string> without;
};

std::vector<const Case*> all_cases() {
  std::vector<const Case*> all;
  for (const auto table : {short_cases, size_cases, bulk_cases, credit_cases, standstill_cases,
                           order_cases, pace_cases, overflow_cases, wait_cases, name_cases,
                           tag_cases, returned_cases, parallel_cases})
    for (const Case& subject : table()) all.push_back(&subject);
  return all;
}

bool contains_one(const char* name, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (std::string_view(name).find(part) != std::string_view::npos) return true;
  return false;
}

std::uint64_t agree(Job& job, std::uint64_t mine) {
  job.bootstrap().put("am_test.number", std::as_bytes(std::span<const std::uint64_t>(&mine, 1)));
  job.bootstrap().fence();
  const auto bytes = job.bootstrap().get(Rank{0}, "am_test.number");
  std::memcpy(&mine, bytes.data(), sizeof(mine));
  job.bootstrap().fence();
  return mine;
}

std::uint64_t failures_everywhere(Job& job, std::uint64_t mine) {
  job.bootstrap().put("am_test.failures", std::as_bytes(std::span<const std::uint64_t>(&mine, 1)));
  job.bootstrap().fence();
  std::uint64_t sum = 0;
  for (std::uint32_t r = 0; r < job.size(); ++r) {
    const auto bytes = job.bootstrap().get(Rank{r}, "am_test.failures");
    std::uint64_t one = 1;
    if (bytes.size() == sizeof(one)) std::memcpy(&one, bytes.data(), sizeof(one));
    sum += one;
  }
  job.bootstrap().fence();
  return sum;
}

void print(bool first, const std::string& line) {
  if (!first) return;
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

bool run_case(const Case& subject, am::Context& context, std::uint64_t seed) {
  Job& job = context.job();
  conformance::Verdict verdict;
  verdict.rank = index(job.rank());
  verdict.case_name = subject.name;
  conformance::set_current_verdict(&verdict);
  const std::uint64_t start = monotonic_ns();
  {
    Rig rig(context, seed);
    try {
      subject.body(rig);
      rig.barrier();  // nobody leaves while another needs its answers
    } catch (const CaseFailed&) {
      give_up("the case ends here", Where::here());
    } catch (const std::exception& error) {
      give_up(fmt::format("an exception: {}", error.what()), Where::here());
    }
  }
  const std::uint64_t failures = failures_everywhere(job, verdict.failures);
  print(verdict.rank == 0, failures == 0
                               ? fmt::format("ok      {} ({} checks, {} ms)", subject.name,
                                             verdict.checks, (monotonic_ns() - start) / 1'000'000)
                               : fmt::format("FAILED  {} ({} checks)", subject.name, failures));
  conformance::set_current_verdict(nullptr);
  return failures == 0;
}

int body(Job& job, int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--seed" && i + 1 < argc)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--without" && i + 1 < argc)
      options.without.emplace_back(argv[++i]);
    else
      options.names.emplace_back(argument);
  }
  const std::uint64_t seed =
      agree(job, options.seed != 0 ? options.seed : monotonic_ns() % 1'000'000'000 + 1);
  am::Context context(job);
  const bool first = index(job.rank()) == 0;
  print(first, fmt::format("am_test: {} {}, seed {}", job.size(),
                           job.threads_mode() ? "threads" : "processes", seed));
  unsigned passed = 0;
  unsigned failed = 0;
  unsigned left_out = 0;
  for (const Case* subject : all_cases()) {
    if (!options.names.empty() && !contains_one(subject->name, options.names)) continue;
    if (contains_one(subject->name, options.without)) continue;
    if (subject->needs == Needs::two && job.size() < 2) {
      ++left_out;
      continue;
    }
    ++(run_case(*subject, context, seed) ? passed : failed);
  }
  print(first, fmt::format("{} passed, {} failed, {} need two ranks", passed, failed, left_out));
  return failed == 0 && passed != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
