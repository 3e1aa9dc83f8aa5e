#pragma once
/// @file
/// From preprocessed Split-C to GNU C, in memory.

#include <string>
#include <string_view>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"

namespace viaduct::splitcc {

struct Translation {
  bool ok = false;
  std::string c;  // when ok
  /// C to stand behind it: what the file uses and does not define, and where, for the link.
  std::string uses;
};

/// Never throws for what the source contains: errors are in @p diagnostics. Any bytes may come.
[[nodiscard]] Translation translate(std::string_view preprocessed, Diagnostics& diagnostics,
                                    bool sequential = false);

}  // namespace viaduct::splitcc
