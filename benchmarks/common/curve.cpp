#include "benchmarks/common/curve.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace viaduct::bench {

double plateau(std::span<const double> bandwidths) {
  return bandwidths.empty() ? 0 : *std::max_element(bandwidths.begin(), bandwidths.end());
}

double n_half(std::span<const std::size_t> sizes, std::span<const double> bandwidths) {
  if (sizes.size() != bandwidths.size() || sizes.empty())
    throw std::invalid_argument("n-half needs a bandwidth for each size");
  const double half = plateau(bandwidths) / 2;
  const auto above = std::find_if(bandwidths.begin(), bandwidths.end(),
                                  [half](double bandwidth) { return bandwidth >= half; });
  const auto at = static_cast<std::size_t>(above - bandwidths.begin());
  const auto size = static_cast<double>(sizes[at]);
  if (at == 0) return size;
  const auto smaller = static_cast<double>(sizes[at - 1]);
  const double part = (half - bandwidths[at - 1]) / (bandwidths[at] - bandwidths[at - 1]);
  return smaller * std::pow(size / smaller, part);
}

std::string size_name(std::size_t bytes) {
  constexpr std::size_t kKiB = std::size_t{1} << 10;
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  if (bytes >= kMiB && bytes % kMiB == 0) return fmt::format("{}m", bytes / kMiB);
  if (bytes >= kKiB && bytes % kKiB == 0) return fmt::format("{}k", bytes / kKiB);
  return fmt::format("{}b", bytes);
}

}  // namespace viaduct::bench
