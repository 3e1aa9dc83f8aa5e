#pragma once
/// @file
/// The choice of the provider for the traffic between two ranks.

#include <cstdint>
#include <string>
#include <string_view>

#include "viaduct/runtime/types.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::via {

namespace channel {
class Nic;
}

struct Choice {
  std::string provider;  ///< empty: none that this build and machine have
  std::string why;       ///< a sentence without its full stop
};

/// @p same_host: Job::same_host() of the two. @p forced: VIADUCT_PROVIDER, or "". @p turn:
/// turn_of() the rank that sends.  Cost: for ranks of different hosts, a look at the machine's
/// devices.
[[nodiscard]] Choice choose_provider(bool same_host, std::string_view forced = {},
                                     std::uint32_t turn = 0);

/// The ranks of a host take the devices of a list in turn. @return how many are before @p rank.
[[nodiscard]] std::uint32_t turn_of(const Job& job, Rank rank) noexcept;

/// Throws Error, naming the provider that is missing, unless all ranks of @p job are on one host.
void require_one_host(const Job& job);

/// @return a key of Job::bootstrap() for the NIC or transport that this rank opens next. All ranks
/// get the same one, whatever their providers.
[[nodiscard]] std::string next_nic_key(Job& job);

/// The fence at which all ranks open what next_nic_key() has named @p key.  Throws Error naming
/// both kinds of provider: this rank's, @p kind, is not rank 0's.
void fence_of_provider(Job& job, const std::string& key, std::string_view kind);

/// Puts this rank's VIADUCT_AM_GENERATION and VIADUCT_PROVIDER for the others to compare.  Call
/// before a fence of Job::bootstrap().  Throws Error: one of them names what there is not.
void state_transport(Job& job);

/// Compares them with rank 0's: the generation, and the kind of provider, whose devices may differ.
/// Ranks that differ would wait for each other in use_transport_where_needed().  Call after the
/// fence that follows state_transport().  Throws Error naming both values: they differ.
void require_same_transport(Job& job);

/// Gives @p nic a transport to the ranks that it does not reach by shared memory: those of other
/// hosts, or, with VIADUCT_PROVIDER=verbs, all others. Nothing to do where there are none.
/// Collective; before the NIC's first connection.  Throws Error: the provider is missing, or
/// VIADUCT_PROVIDER names one that channels do not run on.
void use_transport_where_needed(Job& job, channel::Nic& nic);

}  // namespace viaduct::via
