#pragma once
/// @file
/// Reading this process' control group, in either version of the interface.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace viaduct {

/// The whole of a small file, or nothing.
[[nodiscard]] std::optional<std::string> read_small_file(const std::string& path);

/// The number that a file holds, or nothing (no file, or a word such as "max").
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::string& path);

/// The number after @p field at the start of a line of @p text ("MemAvailable:", "inactive_file").
[[nodiscard]] std::optional<std::uint64_t> field_of(const std::string& text,
                                                    const std::string& field);

struct ControlGroup {
  std::string directory;  ///< as seen here, for example /sys/fs/cgroup/user.slice
  bool version2;
};

/// This process' group for @p controller ("memory", "cpu") and the groups above it, innermost
/// first. Empty when none is visible here.
[[nodiscard]] std::vector<ControlGroup> control_groups(const std::string& root,
                                                       const std::string& controller);

}  // namespace viaduct
