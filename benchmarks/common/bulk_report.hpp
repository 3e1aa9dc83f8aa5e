#pragma once
/// @file
/// The report of the benchmark `bulk` about its curves: tables of sizes by ways, plateaus, n-half.

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/measurements.hpp"

namespace viaduct::bench {

/// The names of one way's bandwidths by size.
struct Curve {
  std::string name;
  std::string yardstick;  ///< another curve's name; empty: this one is a yardstick

  std::string pulled_yardstick;  ///< of the figures with the reader; empty: `yardstick`
  [[nodiscard]] bool is_yardstick() const noexcept { return yardstick.empty(); }
  [[nodiscard]] const std::string& read_yardstick() const noexcept {
    return pulled_yardstick.empty() ? yardstick : pulled_yardstick;
  }
  // A layer's plain name is the whole job's, as in logp; a yardstick's is the copy's, as in limits.
  /// The figure of the transfer alone.
  [[nodiscard]] std::string alone(std::size_t piece) const;
  /// The figure of the transfer together with the receiver's reading.
  [[nodiscard]] std::string read(std::size_t piece) const;
};

/// The size that the paper takes for a short message.
inline constexpr std::size_t kShortMessage = 32;

class BulkReport {
 public:
  /// @p list and @p rounds hold alone() and read() of each curve at each of @p sizes, which ascend;
  /// they outlive this.
  BulkReport(std::vector<Curve> curves, std::vector<std::size_t> sizes, const Measurements& list,
             const Rounds& rounds);

  void add_note(const std::string& sentence);

  /// Figures of every size of every curve, and of the curves' shapes.
  [[nodiscard]] Figures all() const;
  /// The curves as tables, each yardstick beside the curves that are divided by it; then the
  /// figures of their shapes.
  void print(std::FILE* file) const;

 private:
  [[nodiscard]] const std::vector<double>& of(const std::string& name) const {
    return list_.of(rounds_, name);
  }
  [[nodiscard]] const Curve& find(const std::string& name) const;
  [[nodiscard]] bool is_measured(const std::string& name) const;
  [[nodiscard]] std::vector<std::size_t> shape_sizes() const;
  template <class F>
  [[nodiscard]] std::vector<double> by_round(const Curve& curve, F f) const;
  void add_summary(Figures& figures) const;
  void add_names_of_logp(Figures& figures) const;
  void add_shapes(Figures& figures) const;
  void add_kib_breakdown(Figures& figures) const;
  void print_table(std::FILE* file, const Curve& yardstick, bool read) const;

  std::vector<Curve> curves_;
  std::vector<std::size_t> sizes_;
  const Measurements& list_;
  const Rounds& rounds_;
  std::vector<std::string> notes_;
};

}  // namespace viaduct::bench
