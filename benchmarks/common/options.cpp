#include "benchmarks/common/options.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

/// More bytes or operations than this are a mistake, like the number that -1 becomes.
constexpr std::uint64_t kMost = 1'000'000'000'000;

/// For provider fault.
constexpr std::pair<const char*, const char*> kLongRings[] = {{"VIADUCT_AM_SLOTS", "8192"},
                                                              {"VIADUCT_AM_CREDITS", "224"},
                                                              {"VIADUCT_SPLITC_SLOTS", "8192"},
                                                              {"VIADUCT_SPLITC_CREDITS", "224"}};

/// Empty, or why @p path cannot be written: a test before minutes of measuring.
std::string check_writable(const std::string& path) {
  if (path.empty()) return "give the name of a file";
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
  app.option("--provider", options.provider,
             "VIA provider to measure, instead of that of VIADUCT_PROVIDER (shm)")
      .check(config::provider_problem, "NAME");
  app.option("--iters", options.iterations,
             "Operations a round, instead of the number that each figure is defined with")
      .within(1, kMost);
  app.option("--rounds", options.rounds, "Rounds to keep").within(1, 10'000).shows_default();
}

std::string provider_of(const Options& options) {
  const char* const named = std::getenv("VIADUCT_PROVIDER");
  return !options.provider.empty() ? options.provider : named != nullptr ? named : "shm";
}

std::string use_provider(const Options& options) {
  static std::once_flag once;  // ranks may be threads
  const std::string provider = provider_of(options);
  const bool faulty = provider.starts_with("fault(");
  std::call_once(once, [&] {
    setenv("VIADUCT_PROVIDER", provider.c_str(), 1);
    if (!faulty) return;
    setenv("VIADUCT_AM_GENERATION", "v3", 0);
    for (const auto& [name, value] : kLongRings) setenv(name, value, 0);
  });
  if (!faulty) return {};
  std::string note = fmt::format("{} is used over AMVIA's generation {}, with", provider,
                                 std::getenv("VIADUCT_AM_GENERATION"));
  for (const auto& [name, value] : kLongRings)
    note += fmt::format(" {}={}", name, std::getenv(name));
  return note;
}

void require_provider(const Options& options) {
  const std::string begun = provider_of(Options());
  if (options.provider.empty() || options.provider == begun) return;
  throw Error(
      std::errc::invalid_argument,
      fmt::format("--provider {}: this program's messages begin before it reads its command "
                  "line, here with provider {}; set VIADUCT_PROVIDER={} instead",
                  options.provider, begun, options.provider));
}

void add_size_option(program::CommandLine& app, Options& options, const char* what) {
  app.option("--size", options.size_bytes, what).with_size_units().within(1, kMost);
}

}  // namespace viaduct::bench
