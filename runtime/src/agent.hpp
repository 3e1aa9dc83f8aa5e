#pragma once
/// @file
/// The agent of a host whose ranks were not started by viaduct-run: a process that the host's
/// lowest rank forks, and which ends when the ranks of the host have ended. The agent of rank 0's
/// host is the hub, too.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/src/link.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

struct AgentPlan {
  std::string secret;
  std::uint32_t size = 0;
  std::chrono::nanoseconds limit{};  ///< for each stage of the joining
  FileDescriptor listener;           ///< the hub's; else:
  link::Link hub;                    ///< the connection to it,
  std::string job_id;                ///< the job's id, from it,
  std::vector<std::uint32_t> hosts;
  std::uint32_t here = 0;
  FileDescriptor local;          ///< and where this host's ranks come to
  std::uint32_t founder = 0;     ///< the rank that forks it,
  FileDescriptor founder_pidfd;  ///< watched until it has joined
};

/// Forks the agent, which is not this process' child then. Takes over all of @p plan.  Throws
/// Error.
void start_agent(AgentPlan plan);

/// The socket at which the agent of @p host listens for its ranks: opened, or connected to. Throws
/// Error.
[[nodiscard]] FileDescriptor listen_for_ranks(const std::string& secret, const std::string& job_id,
                                              std::uint32_t host);
[[nodiscard]] FileDescriptor connect_to_agent(const std::string& secret, const std::string& job_id,
                                              std::uint32_t host);

}  // namespace viaduct
