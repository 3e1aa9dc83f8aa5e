#pragma once
/// @file
/// What must be done to old source before a C preprocessor of today takes it.

#include <optional>
#include <string>
#include <string_view>

namespace viaduct::splitcc {

/// Raw newlines inside string literals become `\n\` and a newline, so that lines keep their
/// numbers. Answers nothing when @p source has none.
[[nodiscard]] std::optional<std::string> join_strings(std::string_view source);

}  // namespace viaduct::splitcc
