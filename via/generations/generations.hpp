#pragma once
/// @file
/// The three generations of AMVIA as a transport of channels: each link is a MAP over VIs of any
/// provider. docs/generations.md describes the messages, the credits and the invariants. Source:
/// Begel et al. 2001, sections 4.1, 5 and 8.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "viaduct/via/transport.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::via::generations {

enum class Generation : std::uint8_t {
  v1,         ///< three VIs a MAP, one for each size of message, each with credits of its own
  v2,         ///< RDMA writes with immediate into a ring that the sender manages
  v3,         ///< one VI a MAP, with k credits for messages of all sizes
  v1_strict,  ///< v1 as published: no RDMA for long data, a reply has at most its request's size
};

/// @return the generation that VIADUCT_AM_GENERATION names; none where it is unset or says channel.
/// Throws Error naming the variable and its values: there is no such generation.  Never blocks.
[[nodiscard]] std::optional<Generation> wished_generation();

/// A transport whose links are MAPs of @p generation, over VIs of a NIC of @p provider (a name as
/// open_nic() takes it). The transport rings no doorbell of a rank that sleeps.  Collective: blocks
/// until all ranks have opened theirs.  Throws Error as open_nic() does.
[[nodiscard]] std::unique_ptr<via::Transport> open_transport(Job& job, std::string_view provider,
                                                             Generation generation);

}  // namespace viaduct::via::generations
