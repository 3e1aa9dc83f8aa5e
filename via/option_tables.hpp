#pragma once
/// @file
/// The options of all providers and of VIPL, for the list of a program's options.

#include <array>

#include "viaduct/runtime/config.hpp"

namespace viaduct::via {

/// @return a table for each provider, and VIPL's.  Never throws.
[[nodiscard]] std::array<config::Table, 3> option_tables() noexcept;

}  // namespace viaduct::via
