#pragma once
/// @file
/// The exceptions for refusals by a device: with the remedy, if it is a matter of the limit
/// of locked memory.

#include <cstddef>
#include <string>

namespace viaduct::via::verbs {

/// @p bytes could not be registered as @p what.
[[noreturn]] void throw_registration(int error, const std::string& what, std::size_t bytes);

/// @p sentence says what was refused; queues are locked memory, too.
[[noreturn]] void throw_refused(int error, const std::string& sentence);

}  // namespace viaduct::via::verbs
