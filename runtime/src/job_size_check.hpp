#pragma once
/// @file
/// The limit on a job's processes, which every way of starting a job checks.

#include <cstdint>
#include <string>

namespace viaduct {

/// @return why a job cannot have @p size processes and what to do, a sentence; empty: it can.
[[nodiscard]] std::string job_size_problem(std::uint64_t size);

/// Throws Error with that sentence.
void check_job_size(std::uint64_t size);

}  // namespace viaduct
