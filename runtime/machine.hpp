#pragma once
/// @file
/// The part of the machine that this process may use, by affinity, control groups and free memory.

#include <cstdint>
#include <string>

namespace viaduct {

struct MachineLimits {
  std::uint32_t cores = 1;  ///< that may be used
  std::uint32_t quota_cores =
      0;  ///< cores that a control group's quota allows, rounded up; 0: there is none
  std::uint64_t free_memory_bytes = 0;  ///< that may still be taken
  std::string memory_source;            ///< the file that says so; empty: no limit was found
  std::uint64_t free_processes = 0;     ///< that a control group lets be started still
  std::string process_source;           ///< the file that says so; empty: no limit was found
};

/// Reads them anew; @p system_root stands before /proc and /sys: "" but in tests.  Call from any
/// thread.  Cost: some small files read.
[[nodiscard]] MachineLimits machine_limits(const std::string& system_root = {});

}  // namespace viaduct
