#pragma once
/// @file
/// From preprocessed text with line markers to tokens.

#include <string_view>
#include <vector>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"
#include "compiler-shim/splitcc/lex/token.hpp"

namespace viaduct::splitcc {

/// All tokens of @p text, which must outlive them; the last one is Tok::end. Split-C's operators
/// `:=`, `:-` and `::` are recognised by longest match outside system headers.
[[nodiscard]] std::vector<Token> lex(std::string_view text, Diagnostics& diagnostics,
                                     Standard standard = Standard::gnu89);

}  // namespace viaduct::splitcc
