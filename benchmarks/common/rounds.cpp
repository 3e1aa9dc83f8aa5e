#include <sys/resource.h>
#include <algorithm>
#include <numeric>
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
constexpr double kPaceChange = 1.5;   // of a probe: beyond it the cores are at another distance

// The number of this thread's involuntary context switches.
double preemptions_so_far() noexcept {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<double>(usage.ru_nivcsw) : 0.0;
}

struct Judged {
  std::vector<double> values;
  Verdict verdict;
  double probe_ns;
  double idle_code_ns;  // the longer one of before the round and after it
};

Judged judged_round(Pair& pair, const std::function<std::vector<double>()>& round) {
  const double before = pair.hand_over_ns(kProbeRoundTrips);
  const double code_before = pair.idle_code_ns();
  const double preempted_before = preemptions_so_far();
  const Stopwatch watch;
  std::vector<double> values = round();
  const double elapsed = watch.elapsed_ns();
  const double mine = preemptions_so_far() - preempted_before;
  const double worse = std::max(mine, pair.exchange(mine));
  const double code_after = pair.idle_code_ns();
  const double after = pair.hand_over_ns(kProbeRoundTrips);
  for (double& value : values) value = pair.from_sender(value);
  const double round_ns = pair.from_sender(elapsed);  // both must come to the same verdict
  return {std::move(values), judge_round(before, after, worse, round_ns), (before + after) / 2,
          std::max(code_before, code_after)};
}

/// The rounds of @p all at the places @p which. @p least: idle_code_ns() of the fastest round.
Rounds some_of(const std::vector<Judged>& all, std::span<const std::size_t> which, double least) {
  constexpr double kShared = 1.3;  // times the least
  Rounds rounds;
  std::vector<double> probes;
  rounds.values.resize(all[which.front()].values.size());
  for (const std::size_t at : which) {
    if (all[at].values.size() != rounds.values.size())
      throw std::logic_error("a round of a benchmark gave another number of values than the first");
    for (std::size_t figure = 0; figure < rounds.values.size(); ++figure)
      rounds.values[figure].push_back(all[at].values[figure]);
    probes.push_back(all[at].probe_ns);
    const double slower = all[at].idle_code_ns / least;
    if (slower > kShared) ++rounds.shared_pipeline;
    rounds.slowest = std::max(rounds.slowest, slower);
  }
  rounds.probe_ns = median(probes);
  return rounds;
}

std::vector<double> probes_of(const std::vector<Judged>& rounds) {
  std::vector<double> probes;
  for (const Judged& round : rounds) probes.push_back(round.probe_ns);
  return probes;
}

}  // namespace

Verdict judge_round(double before_ns, double after_ns, double preemptions,
                    double round_ns) noexcept {
  constexpr double kAlwaysAllowed = 3;  // the kernel's own threads
  constexpr double kAllowedPerNs =
      30.0 / 1e9;  // a busy neighbour takes the core over a hundred times a second
  const auto [low, high] = std::minmax(before_ns, after_ns);
  if (low < kSharedCoreNs) return Verdict::shared_core;
  if (high > kPaceChange * low) return Verdict::interrupted;
  if (preemptions > kAlwaysAllowed + kAllowedPerNs * round_ns) return Verdict::interrupted;
  return Verdict::sound;
}

std::vector<std::vector<std::size_t>> by_distance(std::span<const double> probes_ns) {
  std::vector<std::size_t> order(probes_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return probes_ns[a] < probes_ns[b]; });
  std::vector<std::vector<std::size_t>> distances;
  double least = 0;
  for (const std::size_t at : order) {
    if (distances.empty() || probes_ns[at] > kPaceChange * least) {
      distances.emplace_back();
      least = probes_ns[at];
    }
    distances.back().push_back(at);
  }
  for (auto& distance : distances) std::sort(distance.begin(), distance.end());
  std::stable_sort(distances.begin(), distances.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return distances;
}

Rounds measure_rounds(Pair& pair, std::uint32_t wanted,
                      const std::function<std::vector<double>()>& round) {
  std::vector<Judged> sound;
  std::vector<Judged> discarded;
  std::uint32_t shared_core = 0;
  static_cast<void>(round());
  const Stopwatch watch;
  const auto goes_on = [&](std::uint32_t tried) {
    const auto distances = by_distance(probes_of(sound));
    const bool enough = !distances.empty() && distances.front().size() >= wanted;
    if (enough || tried >= 2 * wanted) return false;
    return tried < wanted || pair.from_sender(watch.elapsed_ns()) < kPatienceNs;
  };
  for (std::uint32_t tried = 0; goes_on(tried); ++tried) {
    Judged judged = judged_round(pair, round);
    if (judged.verdict == Verdict::shared_core) ++shared_core;
    (judged.verdict == Verdict::sound ? sound : discarded).push_back(std::move(judged));
  }
  // Discarded rounds are used where nothing else is there, and are of any distance.
  const std::vector<Judged>& used = sound.empty() ? discarded : sound;
  const auto distances = by_distance(probes_of(used));
  double least = used.front().idle_code_ns;
  for (const auto* judged : {&sound, &discarded})
    for (const Judged& one : *judged) least = std::min(least, one.idle_code_ns);
  Rounds rounds = some_of(used, distances.front(), least);
  for (std::size_t at = 1; at < distances.size() && !sound.empty(); ++at)
    rounds.elsewhere.push_back(some_of(used, distances[at], least));
  rounds.shared_core = shared_core;
  rounds.interrupted = static_cast<std::uint32_t>(discarded.size()) - shared_core;
  rounds.kept_unsound = sound.empty();
  return rounds;
}

std::string Rounds::note() const {
  const auto kept = [](const Rounds& rounds) {
    return rounds.values.empty() ? std::size_t{0} : rounds.values.front().size();
  };
  std::string text;
  if (shared_core + interrupted != 0)
    text = fmt::format(
        "{} rounds were discarded because both CPUs shared a physical core, {} because one was "
        "interrupted{} (ping-pong RTT/2 {:.0f} ns, {} rounds kept)",
        shared_core, interrupted,
        kept_unsound ? "; none was left, so that discarded ones are used after all: repeat on a "
                       "quiet machine"
                     : "",
        probe_ns, kept(*this));
  if (shared_pipeline != 0)
    text += fmt::format(
        "{}in {} of {} rounds another program used one of the two cores, or its second hardware "
        "thread "
        "(instructions took up to {:.1f} times as long): compare figures of runs without this note",
        text.empty() ? "" : "; ", shared_pipeline, kept(*this), slowest);
  for (const Rounds& other : elsewhere)
    text += fmt::format(
        "{}{} rounds with the cores at another distance (RTT/2 {:.0f} ns, not {:.0f}) are apart",
        text.empty() ? "" : "; ", kept(other), other.probe_ns, probe_ns);
  return text;
}

}  // namespace viaduct::bench
