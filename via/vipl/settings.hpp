#pragma once
/// @file
/// Settings of the C interface VIPL and the table that describes them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "viaduct/runtime/config.hpp"

namespace viaduct::via::vipl {

struct Settings {
  std::int64_t queue_depth = 0;
  std::int64_t max_transfer = 0;
  std::string name;
  std::string devices;
};

/// @return the table of the settings above.
[[nodiscard]] std::span<const config::Option> options() noexcept;

}  // namespace viaduct::via::vipl
