#pragma once
/// @file
/// Collects a benchmark's figures, prints them as a table beside the values that they are read
/// against, writes them as JSON.

#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/common/statistics.hpp"
#include "runtime/program/json.hpp"

namespace viaduct::bench {

/// The limit or peer beside which a figure is read.
struct Against {
  std::string name;            ///< "hand_over_ns", "GASNet-EX"
  double value = 0;            ///< in the figure's unit; 0 when `rounds` are given
  std::vector<double> rounds;  ///< a yardstick measured in the same rounds, one value each
};

class Figures {
 public:
  /// Adds figure @p name with one sample a round. With against.rounds the median of the ratios
  /// round by round becomes a figure of its own, NAME_ratio; else the table shows median /
  /// against.value. Throws std::invalid_argument for a name already there, no samples, or rounds
  /// that do not match.
  void add(const std::string& name, const std::string& unit, const std::vector<double>& samples,
           const Against& against);

  /// Adds yardstick @p name: as add(), read against its expected value, and marked when it is
  /// suspect (expected.hpp). The table says so for a yardstick without an expected value.
  void add_yardstick(const std::string& name, const std::string& unit,
                     const std::vector<double>& samples);

  /// A sentence for the reader, printed under the table: measurements that were not possible,
  /// rounds that were discarded, ...
  void add_note(const std::string& sentence);

  /// The figures of the rounds in which the cores were at another distance, with a hand-over of @p
  /// hand_over_ns: a table of their own behind this one.
  void add_elsewhere(double hand_over_ns, Figures figures);

  /// Median of figure @p name, for figures derived from others.  Throws std::out_of_range when
  /// there is none.
  [[nodiscard]] double median_of(const std::string& name) const;

  void print(std::FILE* file) const;
  /// {"figures": {NAME: {"min", "median", "p95", "unit", "n"}}, "machine": {...}}; the machine is
  /// @p machine (an object) with "notes" and "suspect_yardsticks" added, which a reader of the
  /// figures must know. "elsewhere": {HAND_OVER: figures}, if there were such rounds.
  [[nodiscard]] program::Json to_json(const program::Json& machine) const;
  /// Writes to_json() to @p path.  Throws Error naming the file.
  void write_json(const std::string& path, const program::Json& machine) const;

 private:
  struct Figure {
    std::string name;
    std::string unit;
    Summary summary;
    std::string against;
    double against_value = 0;
    double ratio = 0;
    bool is_ratio = false;  // NAME_ratio: in the JSON; the table shows it in NAME's line
    bool suspect = false;
  };
  Figure& insert(const std::string& name, const std::string& unit, const Summary& summary);

  struct Elsewhere;
  [[nodiscard]] program::Json figures_json() const;

  std::vector<Figure> figures_;
  std::vector<Elsewhere> elsewhere_;
  std::vector<std::string> notes_;
  std::vector<std::string> suspects_;
};

struct Figures::Elsewhere {
  double hand_over_ns;
  Figures figures;
};

}  // namespace viaduct::bench
