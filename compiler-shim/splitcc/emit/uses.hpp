#pragma once
/// @file
/// Names that a file uses and does not define: an object file records the places, for messages of
/// the link.

#include <string>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

/// The beginning of each record in an object file. A zero byte ends a record. Between them stand,
/// with a colon behind each but the last: name, line, column, the name that may be meant or
/// nothing, `u` if the name is declared nowhere or else `d`, and the file.
inline constexpr const char* kUseMark = "splitcc-use:";

/// C that puts the records into a section which the linker leaves out.
[[nodiscard]] std::string uses_of(const Unit& unit, const Diagnostics& diagnostics);

}  // namespace viaduct::splitcc
