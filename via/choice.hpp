#pragma once
/// @file
/// Which provider carries what goes between two ranks.

#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct {
class Job;
}

namespace viaduct::via {

struct Choice {
  std::string provider;  ///< empty: none that this build and machine have
  std::string why;       ///< a sentence without its full stop
};

/// @p same_host: Job::same_host() of the two. @p forced: VIADUCT_PROVIDER, or "". @p sender: the
/// rank that sends, since ranks may take devices in turn.  Cost: for ranks
/// of different hosts, a look at the machine's devices.
[[nodiscard]] Choice choose_provider(bool same_host, std::string_view forced = {},
                                     std::uint32_t sender = 0);

/// Throws Error, naming the provider that is missing, unless all ranks of @p job are on one host.
void require_one_host(const Job& job);

}  // namespace viaduct::via
