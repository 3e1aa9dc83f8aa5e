#include "benchmarks/common/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace viaduct::bench {
namespace {

double middle(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

Summary summarize(std::span<const double> samples) {
  if (samples.empty()) return {};
  const std::vector<double> sorted = sorted_copy(samples);
  const std::size_t rank95 = (sorted.size() * 95 + 99) / 100;  // rounded up, in whole numbers
  return {sorted.front(), middle(sorted), sorted[rank95 - 1], sorted.size()};
}

double median(std::span<const double> samples) { return middle(sorted_copy(samples)); }

double mean_between(std::span<const double> samples, double from, double to) {
  if (samples.empty()) return 0;
  const std::vector<double> sorted = sorted_copy(samples);
  const auto count = static_cast<double>(sorted.size());
  const auto first = std::min(static_cast<std::size_t>(count * from), sorted.size() - 1);
  const auto last = std::clamp(static_cast<std::size_t>(count * to), first + 1, sorted.size());
  const double sum = std::accumulate(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                                     sorted.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
  return sum / static_cast<double>(last - first);
}

std::vector<double> ratios(std::span<const double> values, std::span<const double> yardstick) {
  if (values.size() != yardstick.size()) {
    throw std::invalid_argument(
        fmt::format("{} rounds of a figure cannot be compared with {} rounds of its yardstick",
                    values.size(), yardstick.size()));
  }
  std::vector<double> result(values.size());
  std::transform(values.begin(), values.end(), yardstick.begin(), result.begin(),
                 [](double value, double unit) { return value / unit; });
  return result;
}

}  // namespace viaduct::bench
