#pragma once
/// @file
/// The job that the benchmark `scale` launches with each number of ranks, and what it tells.

#include <cstdint>
#include <map>
#include <string>

namespace viaduct::bench {

/// What a job tells by its name. Moments are those of monotonic_ns(), which all processes share.
using Told = std::map<std::string, double>;

/// Memory that a process has resident, program files not counted.
struct Resident {
  double private_bytes = 0;  ///< of anonymous memory: heap, stack, data written to
  double shared_bytes = 0;   ///< of shared memory: of each page a part, by how many have it mapped
};
/// @return the same of this process, as the kernel counts it.
[[nodiscard]] Resident resident();

/// A rank's life: @p started_ns is when main() began. Rank 0 says what the job has found, as lines
/// that told_by() reads.  @return the exit code.
int run_scale_job(std::uint64_t started_ns, int argc, char** argv);

/// @return what a job's output tells.
[[nodiscard]] Told told_by(const std::string& output);

}  // namespace viaduct::bench
