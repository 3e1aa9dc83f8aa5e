#pragma once
/// @file
/// Which files named .c are Split-C: compilers of the time took both by that name.

#include <string>

namespace viaduct::splitcc {

/// Whether the file includes a header of split-c/ and it, or a header that it includes by a name in
/// quotes, has a construct of the language: *global, *spread, :: or :=.
[[nodiscard]] bool is_split_c(const std::string& file);

}  // namespace viaduct::splitcc
