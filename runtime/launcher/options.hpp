#pragma once
/// @file
/// viaduct-run's command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace viaduct::launcher {

struct Options {
  std::uint32_t ranks = 1;
  double time_limit_s = 0;  ///< 0: none
  std::string provider;     ///< empty: the library's default
  bool threads = false;
  bool bind = false;
  bool label = false;
  bool keep_going = false;
  bool quiet = false;
  std::vector<std::string> program;  ///< and its arguments; never empty
};

/// Reads the command line. Without a value the process is to end with @p exit_code: help was
/// printed (0), or what is wrong (2).
[[nodiscard]] std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace viaduct::launcher
