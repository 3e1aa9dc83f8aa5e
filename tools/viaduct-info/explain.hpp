#pragma once
/// @file
/// viaduct-info explain: entries of the error catalogue.

#include <string>
#include <vector>

namespace viaduct::info {

/// The entries that @p codes name ("VIA-0101", "via-101" or "101"), or all of them when there are
/// none: the code, the name, the cause and the remedy.  Throws Error: a code that there is not; its
/// text names the nearest.
[[nodiscard]] std::string explain(const std::vector<std::string>& codes);

}  // namespace viaduct::info
