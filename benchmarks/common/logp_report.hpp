#pragma once
/// @file
/// The measurements as figures; differences of them give o_r and L.

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
