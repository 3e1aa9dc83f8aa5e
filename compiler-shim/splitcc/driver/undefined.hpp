#pragma once
/// @file
/// Reports names that the linker does not find at the line that uses them.

#include <string>
#include <vector>

namespace viaduct::splitcc {

/// The linker's messages, where those about undefined names are replaced by errors at the places
/// that the records in the objects and archives among @p command give. Names without a record keep
/// the linker's message.
[[nodiscard]] std::string explain_undefined(const std::string& messages,
                                            const std::vector<std::string>& command, bool color);

}  // namespace viaduct::splitcc
