#include <sys/resource.h>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/common/pair.hpp"
#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"

namespace viaduct::bench {
namespace {

constexpr std::uint64_t kProbeRoundTrips = 3'000;
constexpr double kPatienceNs = 60e9;  // how long discarded rounds are replaced by new ones

// How often this thread lost its core to another one without asking for it.
double preemptions_so_far() noexcept {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<double>(usage.ru_nivcsw) : 0.0;
}

struct Judged {
  std::vector<double> values;
  Verdict verdict;
  double probe_ns;
};

Judged judged_round(Pair& pair, const std::function<std::vector<double>()>& round) {
  const double before = pair.hand_over_ns(kProbeRoundTrips);
  const double preempted_before = preemptions_so_far();
  const Stopwatch watch;
  std::vector<double> values = round();
  const double elapsed = watch.elapsed_ns();
  const double mine = preemptions_so_far() - preempted_before;
  const double worse = std::max(mine, pair.exchange(mine));
  const double after = pair.hand_over_ns(kProbeRoundTrips);
  for (double& value : values) value = pair.from_sender(value);
  const double round_ns = pair.from_sender(elapsed);  // both must come to the same verdict
  return {std::move(values), judge_round(before, after, worse, round_ns), (before + after) / 2};
}

void append(Rounds& rounds, const std::vector<double>& values) {
  if (rounds.values.empty()) rounds.values.resize(values.size());
  if (rounds.values.size() != values.size()) {
    throw std::logic_error("a round of a benchmark gave another number of values than the first");
  }
  for (std::size_t figure = 0; figure < values.size(); ++figure) {
    rounds.values[figure].push_back(values[figure]);
  }
}

}  // namespace

Verdict judge_round(double before_ns, double after_ns, double preemptions,
                    double round_ns) noexcept {
  constexpr double kPaceChange = 1.5;
  constexpr double kAlwaysAllowed = 3;  // the kernel's own threads
  constexpr double kAllowedPerNs =
      30.0 / 1e9;  // a busy neighbour takes the core over a hundred times a second
  const auto [low, high] = std::minmax(before_ns, after_ns);
  if (low < kSharedCoreNs) return Verdict::shared_core;
  if (high > kPaceChange * low) return Verdict::interrupted;
  if (preemptions > kAlwaysAllowed + kAllowedPerNs * round_ns) return Verdict::interrupted;
  return Verdict::sound;
}

Rounds measure_rounds(Pair& pair, std::uint32_t wanted,
                      const std::function<std::vector<double>()>& round) {
  Rounds rounds;
  std::vector<std::vector<double>> discarded;
  std::vector<double> probes;
  std::uint32_t sound = 0;
  static_cast<void>(round());
  const Stopwatch watch;
  const auto goes_on = [&](std::uint32_t tried) {
    if (sound >= wanted || tried >= 2 * wanted) return false;
    return tried < wanted || pair.from_sender(watch.elapsed_ns()) < kPatienceNs;
  };
  for (std::uint32_t tried = 0; goes_on(tried); ++tried) {
    Judged judged = judged_round(pair, round);
    probes.push_back(judged.probe_ns);
    if (judged.verdict == Verdict::sound) {
      append(rounds, judged.values);
      ++sound;
      continue;
    }
    ++(judged.verdict == Verdict::shared_core ? rounds.shared_core : rounds.interrupted);
    discarded.push_back(std::move(judged.values));
  }
  rounds.kept_unsound = sound < wanted;
  for (std::size_t at = 0; sound < wanted && at < discarded.size(); ++at, ++sound) {
    append(rounds, discarded[at]);
  }
  rounds.probe_ns = median(probes);
  return rounds;
}

std::string Rounds::note() const {
  if (shared_core + interrupted == 0) return {};
  const std::size_t all = values.empty() ? 0 : values.front().size();
  return fmt::format(
      "{} rounds were discarded because both CPUs shared a physical core, {} because one was "
      "interrupted{} (ping-pong RTT/2 {:.0f} ns, {} rounds kept)",
      shared_core, interrupted,
      kept_unsound ? "; too few were left, so that discarded ones are used after all: repeat on a "
                     "quiet machine"
                   : "",
      probe_ns, all);
}

}  // namespace viaduct::bench
