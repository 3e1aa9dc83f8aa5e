#pragma once
/// @file
/// The vocabulary types that every layer shares.

#include "viaduct/runtime/language.hpp"

#include <cstddef>
#include <cstdint>

namespace viaduct {

/// Bytes between two words that different cores write, so that neither steals the other's line. One
/// line is 64 bytes; adjacent-line prefetchers fetch pairs, hence words that are hot on both sides
/// stand 128 bytes apart.
inline constexpr std::size_t kCacheLineBytes = 64;
inline constexpr std::size_t kDestructivePairBytes = 128;

/// A process' number in its job, 0 to size - 1.
enum class Rank : std::uint32_t {};

/// @return the rank as a number, for tables with an entry for each rank.
[[nodiscard]] constexpr std::uint32_t index(Rank rank) noexcept {
  return static_cast<std::uint32_t>(rank);
}

}  // namespace viaduct
