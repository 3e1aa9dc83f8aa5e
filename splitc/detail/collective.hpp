#pragma once
// The lines that collectives exchange, and the check that all processes call the same.

#include <atomic>
#include <array>
#include <cstddef>
#include <cstdint>

#include "splitc/detail/access.hpp"

namespace viaduct::splitc::detail {

inline constexpr std::uint32_t kLineWords = 7;
inline constexpr std::size_t kLineBytes = kLineWords * 8;

/// What a collective call is; travels with its lines, so that calls that do not fit are found.
enum class CollectiveKind : std::uint8_t {
  barrier,
  all_reduce,
  reduce_to_one,
  broadcast,
  gather,
  scan,
  allocate,
  release,
  store_sync,
};

}  // namespace viaduct::splitc::detail
