#pragma once
/// @file
/// The list of what a benchmark measures in each round.

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

struct Measurement {
  std::string name;
  std::string unit;
  std::string against;  ///< a yardstick; empty: it is one itself
  std::function<double()> measure;
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

  /// What @p name gave, by round.  Throws std::out_of_range.
  [[nodiscard]] const std::vector<double>& of(const Rounds& rounds, const std::string& name) const {
    for (std::size_t at = 0; at < size(); ++at)
      if ((*this)[at].name == name) return rounds.values[at];
    throw std::out_of_range(name);
  }
};

}  // namespace viaduct::bench
