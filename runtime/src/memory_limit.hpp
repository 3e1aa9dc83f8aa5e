#pragma once
/// @file
/// How much memory this process may still take, and which limit says so. Shared memory that goes
/// over a control group's limit is not refused by the kernel but ends in the out-of-memory killer,
/// hence the look before.

#include <cstdint>
#include <string>

namespace viaduct {

struct MemoryHeadroom {
  std::uint64_t free_bytes = ~std::uint64_t{0};
  std::uint64_t limit_bytes = ~std::uint64_t{0};
  std::uint64_t used_bytes = 0;
  std::string source;  ///< the file that holds the limit; empty when there is none
};

/// The tightest of: memory.max of this process' control group and of those above it (version 2, or
/// version 1's memory.limit_in_bytes), and the memory and swap that the machine has available. Page
/// cache that can be dropped does not count as used.  @p root stands before /proc and /sys.  Cost:
/// a few small files read.
[[nodiscard]] MemoryHeadroom memory_headroom(const std::string& root = {});

}  // namespace viaduct
