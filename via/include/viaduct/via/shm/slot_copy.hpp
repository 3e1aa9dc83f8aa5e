#pragma once
/// @file
/// Short payloads, into the words of a slot and out of them. Inline: they are the data path's.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "viaduct/via/slot.hpp"

namespace viaduct::via::shm {

/// @return the 8 bytes at @p from, which need not be aligned.
[[nodiscard]] inline std::uint64_t word_at(const std::byte* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

/// The last n % 8 bytes of n, as two pieces that may overlap.  Precondition: @p n is not a multiple
/// of 8.
inline void copy_rest(std::byte* to, const std::byte* from, std::uint32_t n) noexcept {
  if (n >= 8) {
    std::memcpy(to + n - 8, from + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + n - 4, from + n - 4, 4);
  } else {
    to[0] = from[0];
    to[n / 2] = from[n / 2];
    to[n - 1] = from[n - 1];
  }
}

/// Copies @p n bytes into a slot's words. Bytes behind the last one are undefined.  Precondition:
/// @p n is at most kInlineBytes. Cost: one store for every 8 bytes, two for the rest.
inline void copy_small(Slot& slot, const std::byte* from, std::uint32_t n) noexcept {
  if (n == 16) [[likely]] {
    slot.put(0, word_at(from));
    slot.put(1, word_at(from + 8));
    return;
  }
  for (std::uint32_t i = 0; i < n / 8; ++i) slot.put(i, word_at(from + std::size_t{8} * i));
  if (n % 8 != 0) copy_rest(reinterpret_cast<std::byte*>(slot.words), from, n);
}

/// Copies the first @p n bytes of a slot's words to @p to.  Precondition: @p n is at most
/// kInlineBytes. Cost: one load for every 8 bytes, two for the rest.
inline void copy_out_small(std::byte* to, Slot& slot, std::uint32_t n) noexcept {
  if (n == 16) [[likely]] {
    std::memcpy(to, slot.words, 16);
    return;
  }
  for (std::uint32_t i = 0; i < n / 8; ++i) {
    const std::uint64_t word = slot.get(i);
    std::memcpy(to + std::size_t{8} * i, &word, 8);
  }
  if (n % 8 != 0) copy_rest(to, reinterpret_cast<const std::byte*>(slot.words), n);
}

}  // namespace viaduct::via::shm
