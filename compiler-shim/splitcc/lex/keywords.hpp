#pragma once
// Spellings of keywords.

#include <string_view>

#include "compiler-shim/splitcc/lex/token.hpp"

namespace viaduct::splitcc {

/// Tok::identifier for anything else.
[[nodiscard]] Tok keyword(std::string_view word, Standard standard);

}  // namespace viaduct::splitcc
