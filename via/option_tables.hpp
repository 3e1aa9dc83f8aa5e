#pragma once
/// @file
/// The options of all providers, of the generations of AMVIA and of VIPL, for the list of a program's options.

#include <array>

#include "viaduct/runtime/config.hpp"

namespace viaduct::via {

/// @return a table for each provider, the generations' and VIPL's.  Never throws.
[[nodiscard]] std::array<config::Table, 4> option_tables() noexcept;

}  // namespace viaduct::via
