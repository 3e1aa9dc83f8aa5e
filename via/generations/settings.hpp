#pragma once
/// @file
/// The setting that chooses a generation of AMVIA, and the table that describes it.

#include <span>
#include <string>

#include "viaduct/runtime/config.hpp"

namespace viaduct::via::generations {

struct Settings {
  std::string generation;  ///< "channel": none of the three
};

/// @return the settings of this room, as viaduct-info lists them.
[[nodiscard]] std::span<const config::Option> options() noexcept;

}  // namespace viaduct::via::generations
