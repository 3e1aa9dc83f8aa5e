#include "benchmarks/common/options.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "viaduct/runtime/config.hpp"

namespace viaduct::bench {
namespace {

/// More bytes or operations than this are a mistake, like the number that -1 becomes.
constexpr std::uint64_t kMost = 1'000'000'000'000;

/// Empty, or why @p path cannot be written: known before minutes of measuring, not after them.
std::string check_writable(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  const bool known = std::filesystem::exists(path, ignored);
  const char* const there = known ? path.c_str() : folder.empty() ? "." : folder.c_str();
  if (std::filesystem::is_directory(path, ignored)) return "cannot write to " + path + ": a folder";
  if (::access(there, known ? W_OK : W_OK | X_OK) == 0) return {};
  return "cannot write to " + path + ": " + std::strerror(errno);
}

}  // namespace

void add_common_options(program::CommandLine& app, Options& options) {
  app.option("--json", options.json_file, "Also write the figures to this file, as JSON")
      .check(check_writable, "FILE");
  app.option("--provider", options.provider, "VIA provider to measure")
      .check(config::provider_problem, "NAME")
      .shows_default();
  app.option("--iters", options.iterations,
             "Operations a round, instead of the number that each figure is defined with")
      .within(1, kMost);
  app.option("--rounds", options.rounds, "Rounds to keep").within(1, 10'000).shows_default();
}

void add_size_option(program::CommandLine& app, Options& options, const char* what) {
  app.option("--size", options.size_bytes, what).with_size_units().within(1, kMost);
}

}  // namespace viaduct::bench
