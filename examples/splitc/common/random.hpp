#pragma once
// Random numbers by position: the i-th number of a seed is a function of both, so every process can
// make any part of the sequence, and the data that a program generates do not depend on the number
// of processes.

#include <cstdint>

namespace examples {

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t word) {
  // Shifts and multiplications that can be undone, so that different words stay different.
  word = (word ^ (word >> 32)) * 0xd6e8feb86659fd93U;
  word = (word ^ (word >> 29)) * 0xa0761d6478bd642fU;
  return word ^ (word >> 32);
}

[[nodiscard]] constexpr std::uint64_t random_at(std::uint64_t seed, std::uint64_t i) {
  return mixed(mixed(seed ^ 0x5851f42d4c957f2dU) + i * 0x9e3779b97f4a7c15U);
}

/// 0 <= x < 1
[[nodiscard]] constexpr double random_real_at(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(random_at(seed, i) >> 11) * 0x1p-53;
}

}  // namespace examples
