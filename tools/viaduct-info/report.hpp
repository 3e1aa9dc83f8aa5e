#pragma once
/// @file
/// The parts of viaduct-info's report.

#include <string>

namespace viaduct::info {

/// Cores, control groups' limits, memory, and what the kernel allows.
[[nodiscard]] std::string machine();

/// The provider's attributes and what peers cost, from a job of one rank made here.  Throws Error
/// when the environment is one of another launcher that cannot be used.
[[nodiscard]] std::string job();

}  // namespace viaduct::info
