#pragma once
/// @file
/// Plain processes, forked and started at once, for yardsticks that use nothing of Viaduct.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct::bench {

/// Zeroed memory that a fork shares, gone with its last process.  Throws Error: there is none.
[[nodiscard]] MappedMemory map_shared(std::size_t bytes);

/// Forks @p count processes, not pinned, each of which runs @p body with its number and ends. None
/// begins before all are there. After a fork in a program that may have threads @p body must not
/// allocate or lock.  @p what: of the sentence about a failure.
///
/// Blocks      until all have ended; the caller sleeps meanwhile.
/// Errors      throws Error when a process cannot be forked or does not end well.
void run_forked(std::uint32_t count, const char* what,
                const std::function<void(std::uint32_t)>& body);

}  // namespace viaduct::bench
