#pragma once
/// @file
/// What the tests of accesses to memory of other hosts share: failures that are counted and
/// printed, and Split-C's counters.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "viaduct/job.hpp"
#include "viaduct/runtime/stats.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {

inline std::atomic<int> g_failures{0};  // of all ranks, where they are threads

/// Counts a failure unless `passed`, and prints the first ten with `what` should have been so.
inline void expect(bool passed, const std::string& what) {
  if (passed) return;
  constexpr int kMost = 10;
  if (g_failures++ < kMost) {
    std::printf("process %d: not so: %s\n", MYPROC, what.c_str());
    std::fflush(stdout);
  }
}

/// Split-C's counter of this name: of this process, or of all ranks where they are threads.
[[nodiscard]] inline std::uint64_t accesses(std::string_view name) {
  std::uint64_t sum = 0;
  for (const auto& row : splitc::job().stats().rows())
    if (row.layer == "splitc" && row.name == name) sum += row.value;
  return sum;
}

}  // namespace viaduct::splitc_test
