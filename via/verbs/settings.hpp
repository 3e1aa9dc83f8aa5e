#pragma once
/// @file
/// Settings of provider verbs and the table that describes them.

#include <cstdint>
#include <span>
#include <string>

#include "viaduct/runtime/config.hpp"

namespace viaduct::via::verbs {

struct Settings {
  std::string device;
  std::int64_t max_regions = 0;
  std::int64_t max_queue_depth = 0;
  std::int64_t inline_bytes = 0;
  std::int64_t timeout = 0;
  std::int64_t retries = 0;
  std::int64_t rnr_retries = 0;
  std::int64_t service_level = 0;
  std::int64_t traffic_class = 0;
  std::int64_t link_depth = 0;
  std::int64_t link_inline_bytes = 0;
  bool shared_receives = true;
  std::int64_t silence_ns = 0;    ///< 0: for ever
  std::int64_t keepalive_ns = 0;  ///< 0: never
  std::int64_t pinned_bytes = 0;  ///< config::kAuto: default_pinned_bytes()
  std::int64_t cache_from = 0;
};

/// @return the settings of provider verbs, as viaduct-info lists them.
[[nodiscard]] std::span<const config::Option> options() noexcept;

}  // namespace viaduct::via::verbs
