#pragma once
/// @file
/// What gcc says of the C that was made, in terms of the user's source.

#include <string>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"

namespace viaduct::splitcc {

/// Puts gcc's messages, which name the user's files by line markers, in splitcc's form: the column
/// is that of the first word in quotes that the line has.
[[nodiscard]] std::string translate_messages(const std::string& text, Diagnostics& diagnostics);

}  // namespace viaduct::splitcc
