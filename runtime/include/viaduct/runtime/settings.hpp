#pragma once
/// @file
/// The settings of the runtime layer and the table that describes them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "viaduct/runtime/config.hpp"

namespace viaduct {

struct RuntimeSettings {
  std::int64_t spin_ns = config::kAuto;
  std::int64_t yields = config::kAuto;
  std::int64_t shm_window = 0;
  std::int64_t hang_report_ns = 0;
  std::int64_t join_timeout_ns = 0;
  bool stats = false;
  std::string log;
};

/// @return the runtime layer's part of config::all_tables(); it lives as long as the process.
[[nodiscard]] std::span<const config::Option> runtime_options() noexcept;

}  // namespace viaduct
