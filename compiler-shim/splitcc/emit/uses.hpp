#pragma once
/// @file
/// What a file uses and does not define: an object file says where, for messages of the link.

#include <string>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

/// What each record in an object file begins with; it ends with a byte of zero. Between them stand,
/// with a colon behind each but the last: name, line, column, the name that is meant perhaps or
/// nothing, `u` if it is declared nowhere or `d`, and the file.
inline constexpr const char* kUseMark = "splitcc-use:";

/// C that puts the records into a section which the linker leaves out.
[[nodiscard]] std::string uses_of(const Unit& unit, const Diagnostics& diagnostics);

}  // namespace viaduct::splitcc
