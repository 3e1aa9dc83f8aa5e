/// @file
/// Runs the conformance cases against one provider, in as many ranks as the job has, processes or
/// threads. All ranks go through the same list; ranks that a case does not need wait at its end.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/program/command_line.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/conformance/rig.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::conformance;

struct Options {
  std::string provider = "shm";
  std::uint64_t seed = 0;
  std::vector<std::string> filters;
  std::vector<std::string> without;
  bool list = false;
};

struct Totals {
  unsigned passed = 0, failed = 0, skipped = 0, too_few_ranks = 0;
};

std::vector<const Case*> all_cases() {
  std::vector<const Case*> result;
  for (const auto table : {attribute_cases,
                           memory_cases,
                           connection_cases,
                           peer_connection_cases,
                           disconnect_cases,
                           state_cases,
                           send_cases,
                           list_cases,
                           immediate_cases,
                           order_cases,
                           receive_error_cases,
                           protection_cases,
                           remote_protection_cases,
                           format_cases,
                           rdma_cases,
                           atomic_cases,
                           depth_cases,
                           level_cases,
                           queue_cases,
                           wait_cases,
                           bare_cases,
                           self_cases,
                           stress_cases}) {
    for (const Case& subject : table()) result.push_back(&subject);
  }
  return result;
}

bool contains_one(std::string_view name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool wanted(const Case& subject, const Options& options) {
  return (options.filters.empty() || contains_one(subject.name, options.filters)) &&
         !contains_one(subject.name, options.without);
}

void print(bool here, const std::string& line) {
  if (!here) return;
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

std::string run_body(const Case& subject, Rig& rig) {
  std::string skipped;
  try {
    subject.body(rig);
  } catch (const CaseFailed&) {
  } catch (const CaseSkipped& skip) {
    skipped = skip.reason;
  } catch (const CaseAborted& abort) {
    check(false, "given up: " + abort.reason, Where::here());
  } catch (const std::exception& error) {
    check(false, fmt::format("an exception: {}", error.what()), Where::here());
  }
  return skipped;
}

bool takes_part(const Case& subject, const Rig& rig) {
  return subject.party != Party::pair || rig.rank() < 2;
}

void run_case(const Case& subject, std::uint32_t number, Rig& rig, Totals& totals) {
  if (subject.party != Party::alone && rig.size() < 2) {
    ++totals.too_few_ranks;
    return;
  }
  Verdict verdict;
  verdict.rank = rig.rank();
  verdict.case_name = subject.name;
  set_current_verdict(&verdict);
  const std::int64_t start = now_ns();
  rig.begin(subject, number);
  const std::string skipped = takes_part(subject, rig) ? run_body(subject, rig) : std::string{};
  Rig::Round round;
  do {
    round = rig.finish(verdict.failures, !skipped.empty());
  } while (!round.finished);
  rig.clean_up();
  // What the clean-up found is part of the case.
  const std::uint64_t failures = rig.finish(verdict.failures, false).failures;
  const bool first = rig.rank() == 0;
  if (failures != 0) {
    ++totals.failed;
    print(first, fmt::format("FAILED   {} ({} checks)", subject.name, failures));
  } else if (round.skipped != 0) {
    ++totals.skipped;
    print(first, fmt::format("skipped  {}: {}", subject.name, skipped));
  } else {
    ++totals.passed;
    print(first, fmt::format("ok       {} ({} checks, {} ms)", subject.name, verdict.checks,
                             (now_ns() - start) / 1'000'000));
  }
  set_current_verdict(nullptr);
}

std::uint64_t agree_on_seed(Job& job, std::uint64_t asked) {
  const std::uint64_t mine =
      asked != 0 ? asked : static_cast<std::uint64_t>(now_ns()) % 1'000'000'000 + 1;
  job.bootstrap().put("conformance.seed", std::as_bytes(std::span<const std::uint64_t>(&mine, 1)));
  job.bootstrap().fence();
  const std::vector<std::byte> bytes = job.bootstrap().get(Rank{0}, "conformance.seed");
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

int run_cases(Job& job, const Options& options) {
  const std::uint64_t seed = agree_on_seed(job, options.seed);
  const auto nic = via::open_nic(job, options.provider);
  Rig rig(job, *nic, seed);
  const bool first = rig.rank() == 0;
  print(first,
        fmt::format("via_conformance: provider {}, {} {}, seed {}", options.provider, job.size(),
                    job.threads_mode() ? "ranks as threads" : "ranks as processes", seed));
  Totals totals;
  std::uint32_t number = 0;
  for (const Case* subject : all_cases()) {
    ++number;
    if (wanted(*subject, options)) run_case(*subject, number, rig, totals);
  }
  if (totals.skipped != 0)
    print(first, fmt::format("{} skipped, for the reasons given", totals.skipped));
  if (totals.too_few_ranks != 0) {
    print(first, fmt::format("{} not run: they need 2 ranks or more (viaduct-run -n 2)",
                             totals.too_few_ranks));
  }
  print(first, fmt::format("{} passed, {} failed", totals.passed, totals.failed));
  if (totals.failed != 0) return 1;
  if (totals.passed != 0) return 0;
  return totals.skipped != 0 ? 77 : 1;  // nothing ran: no case has such a name
}

int body(Job& job, int argc, char** argv) {
  Options options;
  if (const char* provider = std::getenv("VIADUCT_PROVIDER")) options.provider = provider;
  program::CommandLine app(
      "Checks a provider of the Virtual Interface Architecture against the rules in "
      "docs/conformance.md.");
  app.option("--provider", options.provider,
             "provider to test (default: VIADUCT_PROVIDER, else shm)");
  app.option("--seed", options.seed, "repeat a run's random choices; 0: new ones");
  app.flag("--list", options.list, "print the cases and their rules, and run nothing");
  app.option("--without", options.without,
             "leave out the cases whose names contain this; may be given several times")
      .one_at_a_time();
  app.option("filter", options.filters, "run only cases whose names contain one of these");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, job.rank() == Rank{0})) return exit_code;
  if (!options.list) return run_cases(job, options);
  for (const Case* subject : all_cases()) {
    print(index(job.rank()) == 0, fmt::format("| `{}` | {} |", subject->name, subject->rule));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
