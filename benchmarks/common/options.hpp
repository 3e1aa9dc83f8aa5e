#pragma once
/// @file
/// The command line that all benchmarks share.

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/program/command_line.hpp"

namespace viaduct::bench {

struct Options {
  std::string json_file;  ///< empty: none is written
  std::string provider = "shm";
  std::size_t size_bytes = 0;    ///< 0: the benchmark's own sizes
  std::uint64_t iterations = 0;  ///< operations a round; 0: as each figure is defined
  std::uint32_t rounds = 11;
};

/// Adds --json, --provider, --iters and --rounds to @p app (which has --help).
void add_common_options(program::CommandLine& app, Options& options);

/// Adds --size, for programs whose figures have no size in their names.
void add_size_option(program::CommandLine& app, Options& options,
                     const char* what = "Bytes per copy, instead of the usual sizes");

}  // namespace viaduct::bench
