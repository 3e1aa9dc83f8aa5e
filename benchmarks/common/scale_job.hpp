#pragma once
/// @file
/// The job that the benchmark `scale` launches with each number of ranks, and its results.

#include <cstdint>
#include <map>
#include <string>

namespace viaduct::bench {

/// A job's results by name. Moments are those of monotonic_ns(), which all processes share.
using Told = std::map<std::string, double>;

/// Memory that a process has resident, program files not counted.
struct Resident {
  double private_bytes = 0;  ///< of anonymous memory: heap, stack, data written to
  double shared_bytes = 0;   ///< of shared memory: of each page a part, by how many have it mapped
};
/// @return the same of this process, as the kernel counts it.
[[nodiscard]] Resident resident();

/// Runs a rank: @p started_ns is when main() began. Rank 0 prints the job's results, as lines that
/// told_by() reads.  @return the exit code.
int run_scale_job(std::uint64_t started_ns, int argc, char** argv);

/// @return the results in a job's output.
[[nodiscard]] Told told_by(const std::string& output);

}  // namespace viaduct::bench
