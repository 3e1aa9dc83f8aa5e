#pragma once
/// @file
/// The ways of messages with VIADUCT_AM_GENERATION, for viaduct-info choose.

#include <cstdint>
#include <string>

#include "via/choice.hpp"

namespace viaduct::info {

/// The value of VIADUCT_AM_GENERATION; empty where channels carry the messages.  Throws Error:
/// there is no such generation.
[[nodiscard]] std::string generation_in_force();

/// The provider whose VIs the MAPs of @p generation use. @p forced: VIADUCT_PROVIDER, or "".
[[nodiscard]] via::Choice provider_of_maps(const std::string& generation, bool same_host,
                                           const std::string& forced, std::uint32_t turn);

/// How a MAP of @p generation carries a message of @p bytes, as docs/generations.md describes it.
/// @p most_short and @p most_medium: the largest short and medium message.
[[nodiscard]] std::string way_of_map(const std::string& generation, std::uint64_t bytes,
                                     std::uint64_t most_short, std::uint64_t most_medium);

}  // namespace viaduct::info
