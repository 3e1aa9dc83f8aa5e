#pragma once
/// @file
/// The command line that all benchmarks share.

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/program/command_line.hpp"

namespace viaduct::bench {

struct Options {
  std::string json_file;         ///< empty: none is written
  std::string provider;          ///< empty: none is named
  std::size_t size_bytes = 0;    ///< 0: the benchmark's own sizes
  std::uint64_t iterations = 0;  ///< operations a round; 0: as each figure is defined
  std::uint32_t rounds = 11;
};

/// Adds --json, --provider, --iters and --rounds to @p app (which has --help).
void add_common_options(program::CommandLine& app, Options& options);

/// @return the provider to measure: that of --provider, else of VIADUCT_PROVIDER, else shm.
[[nodiscard]] std::string provider_of(const Options& options);
/// Makes Active Messages and Split-C use that provider; call it before the context is made. They
/// use provider fault over AMVIA's generation v3, and with rings so long that a message is one
/// message of the provider's: a ring of the usual length adds a message of counts to every 16.
/// Settings of these in the environment stay.  @return a note for the figures, empty without fault.
std::string use_provider(const Options& options);
/// For a program that has sent messages before it reads its command line.  Throws Error: the
/// messages use another provider than --provider names.
void require_provider(const Options& options);

/// Adds --size, for programs whose figures have no size in their names.
void add_size_option(program::CommandLine& app, Options& options,
                     const char* what = "Bytes per copy, instead of the usual sizes");

}  // namespace viaduct::bench
