#pragma once
/// @file
/// What the linker does not find, said at the line that uses it.

#include <string>
#include <vector>

namespace viaduct::splitcc {

/// The linker's messages, where those about undefined names are replaced by errors at the places
/// that the objects and archives among @p command tell. What none of them tells stays as it is.
[[nodiscard]] std::string explain_undefined(const std::string& messages,
                                            const std::vector<std::string>& command, bool color);

}  // namespace viaduct::splitcc
