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
  double grace_s = 10;      ///< from SIGTERM until ranks that are left are killed
  std::string provider;     ///< empty: the library's default
  bool threads = false;
  bool bind = false;
  bool label = false;
  bool keep_going = false;
  bool quiet = false;
  std::vector<std::string> program;  ///< and its arguments; never empty

  /// Ranks of one host of several, one after the other.
  struct Share {
    std::string host;
    std::uint32_t first = 0;
    std::uint32_t ranks = 0;
  };
  std::vector<Share> hosts;    ///< empty: this host alone
  std::string remote_command;  ///< with {host} and {command}
  std::string address;         ///< of this host for the others; empty: all that it has
};

/// Where ranks go: @p list is a:2,b:2 or a,b. @p ranks: how many, 0 when the command line does not
/// say. Empty with @p problem when it does not fit.
[[nodiscard]] std::vector<Options::Share> place_ranks(const std::string& list, std::uint32_t ranks,
                                                      std::string& problem);

/// Reads the command line. Without a value the process is to end with @p exit_code: help was
/// printed (0), or a complaint (2).
[[nodiscard]] std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace viaduct::launcher
