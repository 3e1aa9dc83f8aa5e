#pragma once
/// @file
/// viaduct-info doctor: the conditions of this machine that slow Viaduct down or stop it, and the
/// commands that mend them.

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::info {

enum class Health : std::uint8_t {
  good,
  hint,     ///< works; could be better, or matters to others only
  problem,  ///< something of Viaduct's does not work, or works slower
};

struct Finding {
  Health health = Health::good;
  std::string subject;
  std::string found;
  std::string meaning;
  std::string remedy;  ///< a command; empty when there is nothing to mend
};

/// Looks at everything. @p system_root stands before /proc and /sys: "" but in tests.
[[nodiscard]] std::vector<Finding> examine(const std::string& system_root);

/// One paragraph for each finding, then how many problems there are.
[[nodiscard]] std::string describe(const std::vector<Finding>& findings);

/// 0, or 1 when there is a problem.
[[nodiscard]] int exit_code_of(const std::vector<Finding>& findings) noexcept;

}  // namespace viaduct::info
