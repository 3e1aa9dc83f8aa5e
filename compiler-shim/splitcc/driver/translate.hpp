#pragma once
/// @file
/// From preprocessed Split-C to GNU C, in memory.

#include <string>
#include <string_view>
#include <vector>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"
#include "compiler-shim/splitcc/lex/token.hpp"

namespace viaduct::splitcc {

struct Translation {
  bool ok = false;
  std::string c;  // when ok
  /// C to be put behind `c`: the names that the file uses and does not define, and the places of
  /// use, for the link.
  std::string uses;
  std::vector<std::string> defined;  // the functions that the file defines
};

/// Accepts any bytes. Never throws because of the source: errors are in @p diagnostics.
[[nodiscard]] Translation translate(std::string_view preprocessed, Diagnostics& diagnostics,
                                    bool sequential = false, Standard standard = Standard::gnu89,
                                    bool short_enums = false);

}  // namespace viaduct::splitcc
