#pragma once
/// @file
/// The parts of viaduct-info's report.

#include <cstdint>
#include <string>
#include <vector>

#include "via/memory_lock.hpp"

namespace viaduct::info {

/// Cores, control groups' limits, memory, and what the kernel allows.
[[nodiscard]] std::string machine();

/// Providers of this build, RDMA devices and their ports, and which port would be used.
[[nodiscard]] std::string providers();

/// The provider's attributes and what peers cost, from a job of one rank made here.  Throws Error
/// when the environment is one of another launcher that cannot be used.
[[nodiscard]] std::string job();

/// How @p bytes would get from rank @p from to rank @p to of this job, and why; in a job of one,
/// for ranks on one host and on two, unless the caller @p names_ranks.  Throws Error: no such rank.
[[nodiscard]] std::string choose(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                 bool names_ranks);

/// How much this process may lock, as every part of the report says it: "8.0 MiB (at most 64.0
/// MiB)", "unlimited", or "unlimited by CAP_IPC_LOCK (ulimit -l is 8.0 MiB)".
[[nodiscard]] std::string locked_memory(const via::MemoryLock& lock);

/// "1.5 GiB".
[[nodiscard]] std::string in_units(std::uint64_t bytes);

}  // namespace viaduct::info
