#pragma once
/// @file
/// Changes to old source without which a C preprocessor of today does not accept it.

#include <optional>
#include <string>
#include <string_view>

namespace viaduct::splitcc {

/// Raw newlines inside string literals become `\n\` and a newline, so that lines keep their
/// numbers. Answers nothing when @p source has none.
[[nodiscard]] std::optional<std::string> join_strings(std::string_view source);

}  // namespace viaduct::splitcc
