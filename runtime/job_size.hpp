#pragma once
/// @file
/// How many processes a job may have.

#include <cstdint>

namespace viaduct {

/// The most processes of a job. Global pointers of Split-C name the process in 16 bits; what else
/// has a field for a process' number has one that is at least as wide. A job that would have more
/// does not start: a sentence names this limit.
inline constexpr std::uint32_t kMaxJobSize = 65536;

}  // namespace viaduct
