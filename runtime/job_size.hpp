#pragma once
/// @file
/// How many processes a job may have.

#include <cstdint>
#include <string>

namespace viaduct {

/// The most processes of a job. Global pointers of Split-C name the process in 16 bits; every other
/// field for a process' number is at least as wide. A job that would have more does not start: a
/// sentence names this limit.
inline constexpr std::uint32_t kMaxJobSize = 65536;

/// "the job has the ranks 0 to 3; ...": which ranks there are, and how there would be more, for
/// sentences about a rank beyond them.  Throws std::bad_alloc alone.
[[nodiscard]] std::string describe_ranks(std::uint32_t size);

}  // namespace viaduct
