#pragma once
/// @file
/// Values and operators for the tests of collectives, and what the operations must answer.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/splitc/model_values.hpp"

namespace viaduct::splitc_test {

/// 2 x 2 matrices modulo a prime: their product is associative and not commutative. One line holds
/// one.
struct Matrix {
  std::array<std::uint32_t, 4> at;
  bool operator==(const Matrix&) const = default;
};
struct Product {
  Matrix operator()(const Matrix& a, const Matrix& b) const noexcept {
    constexpr std::uint64_t kPrime = 1'000'003;
    const auto entry = [&](std::size_t row, std::size_t column) {
      const std::uint64_t sum = std::uint64_t{a.at[2 * row]} * b.at[column] +
                                std::uint64_t{a.at[2 * row + 1]} * b.at[2 + column];
      return static_cast<std::uint32_t>(sum % kPrime);
    };
    return {{entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)}};
  }
};

/// What is known of a text: enough to know it of two texts one after the other.
struct Text {
  std::uint64_t hash;
  std::uint64_t power;  // of the base, to the length
  bool operator==(const Text&) const = default;
};
struct Concatenate {
  Text operator()(const Text& a, const Text& b) const noexcept {
    return {a.hash * b.power + b.hash, a.power * b.power};
  }
};

/// N numbers in another order; one after the other is not commutative. Of any size.
template <std::size_t N>
struct Permutation {
  std::array<std::uint16_t, N> at;
  bool operator==(const Permutation&) const = default;
};
struct Follow {
  template <std::size_t N>
  Permutation<N> operator()(const Permutation<N>& a, const Permutation<N>& b) const noexcept {
    Permutation<N> result;
    for (std::size_t i = 0; i < N; ++i) result.at[i] = b.at[a.at[i]];
    return result;
  }
};

/// Just bytes.
template <std::size_t N>
struct Blob {
  std::array<std::byte, N> at;
  bool operator==(const Blob&) const = default;
};

template <class T>
[[nodiscard]] T drawn(Random& random) {
  if constexpr (std::same_as<T, bool>) {
    return random.below(2) != 0;
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(static_cast<double>(random.next() >> 20) * 1e-9) - T(5000);
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(random.next());
  } else {
    T value;
    random.fill(reinterpret_cast<std::byte*>(&value), sizeof(T));
    return value;
  }
}
template <>
[[nodiscard]] inline Matrix drawn<Matrix>(Random& random) {
  Matrix m;
  for (std::uint32_t& entry : m.at) entry = random.below(1'000'003);
  return m;
}
template <>
[[nodiscard]] inline Text drawn<Text>(Random& random) {
  constexpr std::uint64_t kBase = 0x100000001b3;
  Text text{0, 1};
  for (std::uint32_t left = 1 + random.below(20); left != 0; --left)
    text = Concatenate{}(text, {random.next() & 0xff, kBase});
  return text;
}
template <class P>
requires requires(P p) { p.at[0] = std::uint16_t{}; }
[[nodiscard]] P drawn_permutation(Random& random) {
  P p;
  std::iota(p.at.begin(), p.at.end(), std::uint16_t{0});
  for (std::size_t i = p.at.size(); i > 1; --i) std::swap(p.at[i - 1], p.at[random.below(i)]);
  return p;
}
template <>
[[nodiscard]] inline Permutation<24> drawn(Random& random) {
  return drawn_permutation<Permutation<24>>(random);
}
template <>
[[nodiscard]] inline Permutation<28> drawn(Random& random) {
  return drawn_permutation<Permutation<28>>(random);
}
template <>
[[nodiscard]] inline Permutation<29> drawn(Random& random) {
  return drawn_permutation<Permutation<29>>(random);
}
template <>
[[nodiscard]] inline Permutation<100> drawn(Random& random) {
  return drawn_permutation<Permutation<100>>(random);
}
template <>
[[nodiscard]] inline Permutation<5000> drawn(Random& random) {
  return drawn_permutation<Permutation<5000>>(random);
}

/// Everybody's values of one call; every process knows them all.
template <class T>
[[nodiscard]] std::vector<T> values_of(std::uint64_t seed, std::size_t procs) {
  std::vector<T> values;
  for (std::size_t p = 0; p < procs; ++p) {
    Random random(mixed(seed, p, sizeof(T)));
    values.push_back(drawn<T>(random));
  }
  return values;
}

/// The bits that make up the value: a long double has some that do not.
template <class T>
[[nodiscard]] bool same_bits(const T& a, const T& b) noexcept {
  if constexpr (std::same_as<T, long double>)
    return std::memcmp(&a, &b, 10) == 0;
  else
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// One after the other.
template <class T, class Op>
[[nodiscard]] T in_order(const std::vector<T>& values, std::size_t count, Op op) {
  T result = values[0];
  for (std::size_t i = 1; i < count; ++i) result = static_cast<T>(op(result, T(values[i])));
  return result;
}

/// As the interface promises for operators that are not quite associative (floating point): pairs
/// at the front until a power of two of values is left, then neighbours, again and again.
template <class T, class Op>
[[nodiscard]] T in_tree(std::vector<T> values, Op op) {
  std::size_t power = 1;
  while (2 * power <= values.size()) power *= 2;
  const auto halve = [&](std::size_t pairs) {
    std::vector<T> next;
    std::size_t i = 0;
    for (; next.size() < pairs; i += 2)
      next.push_back(static_cast<T>(op(T(values[i]), T(values[i + 1]))));
    next.insert(next.end(), values.begin() + static_cast<std::ptrdiff_t>(i), values.end());
    values = next;
  };
  halve(values.size() - power);
  while (values.size() > 1) halve(values.size() / 2);
  return values[0];
}

}  // namespace viaduct::splitc_test
