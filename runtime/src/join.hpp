#pragma once
/// @file
/// How a rank that was not started by viaduct-run joins its job: from the hub's address and the
/// secret to the job page and the agent's socket.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/src/address.hpp"
#include "runtime/src/environment.hpp"
#include "runtime/src/pmix.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

struct Rendezvous {
  std::vector<Address> addresses;  ///< of the hub
  std::string shown;               ///< for messages
  std::string secret;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;  ///< handshake::kAskRankZero: known when all have come
  std::chrono::nanoseconds limit{};
  FileDescriptor listener;  ///< of rank 0: the hub's socket
};

/// Joins. Afterwards the environment has the variables that viaduct-run would have set, so that
/// programs that this process starts know that they are not this rank.  Throws Error, in bounded
/// time, naming the missing ranks.
[[nodiscard]] Launch join(Rendezvous rendezvous);

/// The rendezvous that VIADUCT_RENDEZVOUS, VIADUCT_RANK, VIADUCT_SIZE and the secret name. Rank 0
/// opens the hub's socket; the others need no VIADUCT_SIZE.  Throws Error for a missing or
/// malformed value.
[[nodiscard]] Rendezvous rendezvous_by_address(std::chrono::nanoseconds limit);

/// The same by way of a PMIx server.
[[nodiscard]] Rendezvous rendezvous_by_pmix(Pmix& pmix, std::chrono::nanoseconds limit);

}  // namespace viaduct
