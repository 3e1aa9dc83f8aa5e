#pragma once
/// @file
/// Finds out which files named .c are Split-C: compilers of the time accepted both languages by
/// that name.

#include <string>

namespace viaduct::splitcc {

/// Whether the file includes a header of split-c/ and it, or a header that it includes by a name in
/// quotes, has a construct of the language: *global, *spread, :: or :=.
[[nodiscard]] bool is_split_c(const std::string& file);

}  // namespace viaduct::splitcc
