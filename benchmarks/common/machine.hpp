#pragma once
/// @file
/// The machine as a benchmark sees it: facts for the report, and cores to pin ranks to.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/program/json.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::bench {

/// Numbers of the cores that the calling thread may run on.
[[nodiscard]] std::vector<int> allowed_cores();

/// Pins the calling thread to its rank-th allowed core (counted round where ranks outnumber cores).
/// A thread that is bound to one core already stays there. Returns the core.  Throws Error when the
/// kernel refuses.
int pin_to_core(Rank rank);

/// Lets the calling thread run on every core that its container allows, and undoes any pinning.
/// Async-signal-safe.
void unpin() noexcept;

/// The number of cores that all programs of this machine, and of virtual machines that take time
/// from it, keep busy while the caller sleeps for @p milliseconds; the kernel counts in steps of 10
/// ms. 0 where the kernel gives no counts.
[[nodiscard]] double busy_cores(std::uint32_t milliseconds);

/// {"cpu", "cores", "kernel", "compiler", "ranks", "mode", "tsc_invariant", "tsc_ghz",
/// "copy_threshold_bytes", "large_copy"}. @p mode is "processes" or "threads".
[[nodiscard]] program::Json machine_facts(std::uint32_t ranks, const std::string& mode);

}  // namespace viaduct::bench
