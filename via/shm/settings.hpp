#pragma once
/// @file
/// Settings of provider shm and the table that describes them.

#include <cstddef>
#include <cstdint>
#include <span>

#include "viaduct/runtime/config.hpp"

namespace viaduct::via::shm {

struct Settings {
  std::int64_t max_regions = 0;
  std::int64_t max_queue_depth = 0;
  std::int64_t copy_threshold = config::kAuto;
  bool cross_memory = true;
};

/// @return the settings of provider shm, as viaduct-info lists them.
[[nodiscard]] std::span<const config::Option> options() noexcept;

}  // namespace viaduct::via::shm
