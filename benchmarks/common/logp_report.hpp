#pragma once
/// @file
/// What was measured, as figures; o_r and L are made of it by differences.

#include <vector>

#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/measurements.hpp"

namespace viaduct::bench {

/// Of one figure, by round.
using Samples = std::vector<double>;

/// @return @p from minus @p less, round by round.
[[nodiscard]] Samples differences(const Samples& from, const Samples& less);

/// Adds all of @p list to @p figures; PREFIXo_r_ns and PREFIXL_ns in the place of PREFIXo_both_ns.
void report(const Measurements& list, const Rounds& rounds, Figures& figures);

}  // namespace viaduct::bench
