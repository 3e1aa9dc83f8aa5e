#pragma once
/// @file
/// Memory that all ranks of a job have mapped, for benchmarks.

#include <cstddef>

#include "benchmarks/common/pair.hpp"
#include "viaduct/job.hpp"

namespace viaduct::bench {

/// Collective, blocks. @p bytes of zeroed memory in @p owner's segment, aligned to 2 MiB; each rank
/// gets its own address of them. They stay until the job ends.  Throws Error when the memory is not
/// there.
[[nodiscard]] std::byte* share_block(Job& job, std::size_t bytes, Rank owner = Rank{0});

/// Pins the calling rank to its core, and makes sure that its partner in the pair has another one:
/// ranks that spin on one core measure the scheduler. Both call it; @p block starts with a
/// PairPage.  Throws Error with the remedy.
void require_own_core(Job& job, std::byte* block, Role role);

}  // namespace viaduct::bench
