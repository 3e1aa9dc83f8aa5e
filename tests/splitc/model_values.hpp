#pragma once
/// @file
/// What the randomised test draws from: numbers that depend on a seed alone, and the types of
/// values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {

/// The same sequence from the same seed, on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint32_t>(next() % bound);
  }
  void fill(std::byte* to, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(next() >> 24);
  }

 private:
  std::uint64_t state_;
};

[[nodiscard]] inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b,
                                         std::uint64_t c = 0) noexcept {
  return Random(a ^ Random(b ^ Random(c).next()).next()).next();
}

struct Three {
  unsigned char at[3];
};
struct Twelve {
  int at[3];
};
struct Sixteen {
  long at[2];
};
struct FortyEight {
  double at[6];
};
struct Hundred {
  int at[25];
};

using Types = std::tuple<char, signed char, unsigned char, short, unsigned short, int, unsigned,
                         long, unsigned long, long long, unsigned long long, float, double, void*,
                         splitc::global_ptr<int>, Three, Twelve, Sixteen, FortyEight, Hundred>;
inline constexpr std::size_t kTypes = std::tuple_size_v<Types>;
inline constexpr std::array<const char*, kTypes> kTypeNames{
    "char",           "signed char",  "unsigned char",      "short",
    "unsigned short", "int",          "unsigned",           "long",
    "unsigned long",  "long long",    "unsigned long long", "float",
    "double",         "void*",        "global_ptr",         "struct of 3",
    "struct of 12",   "struct of 16", "struct of 48",       "struct of 100"};

/// What the plan must know of a type.
struct TypeFacts {
  std::uint32_t bytes;
  std::uint32_t alignment;
  bool integral;
  bool atomic;  // swap and compare_swap
  bool adds;    // += and its like on it never overflow in the letter
};

namespace detail {
template <class T>
constexpr TypeFacts facts() {
  constexpr bool kAdds =
      std::is_integral_v<T> && (std::is_unsigned_v<T> || sizeof(T) < sizeof(int));
  return {sizeof(T), alignof(T), std::is_integral_v<T>, splitc::detail::Atomic<T>, kAdds};
}
template <std::size_t... I>
constexpr std::array<TypeFacts, kTypes> all_facts(std::index_sequence<I...>) {
  return {facts<std::tuple_element_t<I, Types>>()...};
}
}  // namespace detail
inline constexpr auto kTypeFacts = detail::all_facts(std::make_index_sequence<kTypes>());

}  // namespace viaduct::splitc_test
