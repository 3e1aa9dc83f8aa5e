#pragma once
/// @file
/// Names of an enumeration's values, as a table.

#include <cstddef>

namespace viaduct {

/// @return the name of @p value in @p names, which has one for each value up to @p Last, in their
/// order; @p otherwise for a number that is no value.  Never blocks.
template <auto Last, std::size_t N>
[[nodiscard]] constexpr const char* enum_name(const char* const (&names)[N], decltype(Last) value,
                                              const char* otherwise) noexcept {
  static_assert(N == static_cast<std::size_t>(Last) + 1, "one name for each value");
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : otherwise;
}

}  // namespace viaduct
