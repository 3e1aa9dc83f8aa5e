#pragma once
/// @file
/// The list of a benchmark's measurements in each round.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

struct Measurement {
  std::string name;
  std::string unit;
  std::string against;  ///< a yardstick; empty: this one is a yardstick
  std::function<double()> measure;
  double limit = 0;  ///< not 0: the value that `against` names, which is no measurement
};

class Measurements : public std::vector<Measurement> {
 public:
  void add(std::string name, std::string unit, std::string against,
           std::function<double()> measure) {
    push_back({std::move(name), std::move(unit), std::move(against), std::move(measure)});
  }

  /// Measures all, one after the other, in each round; both ranks meet before each.
  [[nodiscard]] Rounds run(Pair& pair, std::uint32_t rounds) const {
    return measure_rounds(pair, rounds, [&] {
      std::vector<double> values;
      for (const Measurement& measurement : *this) {
        pair.meet();
        values.push_back(measurement.measure());
      }
      return values;
    });
  }

  /// The same, as figures. @p divisor: the factor by which the operations of a round were reduced
  /// because other programs use these cores; if it is not 1 there are at most three rounds, and a
  /// note says so.
  [[nodiscard]] Figures figures(Pair& pair, std::uint32_t most_rounds,
                                std::uint64_t divisor) const {
    constexpr std::uint32_t kBusyRounds = 3;
    const Rounds rounds =
        run(pair, divisor == 1 ? most_rounds : std::min(most_rounds, kBusyRounds));
    Figures figures;
    add_to(figures, rounds);
    if (divisor != 1)
      figures.add_note(fmt::format(
          "other programs use these cores, so a hand-over waits for the scheduler: {} times fewer "
          "operations a round, and at most {} rounds; the ratios say little",
          divisor, kBusyRounds));
    tell(rounds, figures);
    return figures;
  }

  /// Adds each measurement of @p rounds to @p figures.
  void add_to(Figures& figures, const Rounds& rounds) const {
    for (const Measurement& m : *this) {
      const std::vector<double>& samples = of(rounds, m.name);
      if (m.against.empty())
        figures.add_yardstick(m.name, m.unit, samples);
      else if (m.limit != 0)
        figures.add(m.name, m.unit, samples, {m.against, m.limit, {}});
      else
        figures.add(m.name, m.unit, samples, {m.against, 0, of(rounds, m.against)});
    }
  }

  /// Adds to @p figures a note about the discarded rounds, and the figures of the rounds with the
  /// cores at other distances, which @p add makes of them.
  template <class Add>
  void tell(const Rounds& rounds, Figures& figures, Add&& add) const {
    if (const std::string note = rounds.note(); !note.empty()) figures.add_note(note);
    for (const Rounds& other : rounds.elsewhere) {
      Figures apart;
      add(other, apart);
      figures.add_elsewhere(other.probe_ns, std::move(apart));
    }
  }
  void tell(const Rounds& rounds, Figures& figures) const {
    tell(rounds, figures, [this](const Rounds& other, Figures& apart) { add_to(apart, other); });
  }

  /// The values of measurement @p name, by round.  Throws std::out_of_range.
  [[nodiscard]] const std::vector<double>& of(const Rounds& rounds, const std::string& name) const {
    for (std::size_t at = 0; at < size(); ++at)
      if ((*this)[at].name == name) return rounds.values[at];
    throw std::out_of_range(name);
  }
};

}  // namespace viaduct::bench
