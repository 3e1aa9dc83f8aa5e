#pragma once
/// @file
/// The summary of a series of rounds: minimum, median, 95th percentile.

#include <cstddef>
#include <span>
#include <vector>

namespace viaduct::bench {

struct Summary {
  double min = 0;
  double median = 0;
  double p95 = 0;  ///< smallest sample that at least 95 % of them do not exceed
  std::size_t n = 0;
};

/// Summary of @p samples; all zero when there are none.
[[nodiscard]] Summary summarize(std::span<const double> samples);

/// The middle one, or the mean of the two in the middle; 0 when there are none.
[[nodiscard]] double median(std::span<const double> samples);

/// Mean of the sorted samples from the @p from-th part of them to the @p to-th (0 <= from < to <=
/// 1): finer than a median where the clock ticks coarsely, and without the samples with interrupts,
/// which are the highest. 0 when there are none.
[[nodiscard]] double mean_between(std::span<const double> samples, double from, double to);

/// Round by round @p values[i] / @p yardstick[i]; bars show the median of these ratios. The ratio
/// of two medians differs from it when the machine changes its pace between rounds.  Throws
/// std::invalid_argument when the lengths differ.
[[nodiscard]] std::vector<double> ratios(std::span<const double> values,
                                         std::span<const double> yardstick);

}  // namespace viaduct::bench
