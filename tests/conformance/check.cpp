#include "tests/conformance/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace viaduct::conformance {
namespace {
constexpr std::uint64_t kPrintedFailures = 6;  // of one case in one rank
thread_local Verdict* t_verdict = nullptr;
}  // namespace

std::int64_t patience_ns() {
  constexpr std::int64_t kSeconds = 120;
  const char* const said = std::getenv("TEST_PATIENCE");
  return (said != nullptr ? std::atoll(said) : kSeconds) * 1'000'000'000;
}

Verdict& current_verdict() noexcept {
  if (t_verdict == nullptr) {
    std::fputs("a check outside any case\n", stderr);
    std::abort();
  }
  return *t_verdict;
}

void set_current_verdict(Verdict* verdict) noexcept { t_verdict = verdict; }

bool check(bool passed, const std::string& what, Where where) {
  Verdict& verdict = current_verdict();
  ++verdict.checks;
  if (passed) return true;
  ++verdict.failures;
  if (verdict.failures > kPrintedFailures) return false;
  std::string line = fmt::format("{}:{}: rank {}: {}: {}", where.file, where.line, verdict.rank,
                                 verdict.case_name, what);
  for (const std::string& note : verdict.notes) line += fmt::format(" [{}]", note);
  if (verdict.failures == kPrintedFailures)
    line += " (further failures of this case are counted only)";
  line += '\n';
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  return false;
}

}  // namespace viaduct::conformance
