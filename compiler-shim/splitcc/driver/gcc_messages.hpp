#pragma once
/// @file
/// gcc's messages about the generated C, in terms of the user's source.

#include <string>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"

namespace viaduct::splitcc {

/// Puts gcc's messages, which name the user's files thanks to line markers, in splitcc's form. The
/// column is that of the message's first quoted word that stands in the source line.
[[nodiscard]] std::string translate_messages(const std::string& text, Diagnostics& diagnostics);

}  // namespace viaduct::splitcc
