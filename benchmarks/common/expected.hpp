#pragma once
/// @file
/// The yardsticks' values on a quiet machine of the kind that the project's figures come from, and
/// the rule by which a yardstick is suspect: a slow yardstick flatters every figure that is divided
/// by it.

#include <optional>
#include <span>
#include <string_view>

namespace viaduct::bench {

enum class Better : unsigned char { lower, higher };

struct Expected {
  std::string_view name;
  double value;
  Better better;
  std::string_view source;  ///< the measurement that gave the value
};

/// All yardsticks that have a known value.
[[nodiscard]] std::span<const Expected> expected_yardsticks() noexcept;

/// The entry of yardstick @p name, if it has one.
[[nodiscard]] std::optional<Expected> expected_yardstick(std::string_view name) noexcept;

/// A rate is suspect below 0.9 x the expected one, a time above the expected one / 0.9.
[[nodiscard]] bool is_suspect(const Expected& expected, double median) noexcept;

}  // namespace viaduct::bench
