#include "benchmarks/common/options.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/config.hpp"

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

void add_common_options(CLI::App& app, Options& options) {
  app.add_option("--json", options.json_file, "Also write the figures to this file, as JSON")
      ->check(CLI::Validator(check_writable, ""))
      ->type_name("FILE");
  const auto known = config::providers();
  app.add_option("--provider", options.provider, "VIA provider to measure")
      ->check(CLI::IsMember(std::vector<std::string>(known.begin(), known.end())))
      ->capture_default_str();
  app.add_option("--iters", options.iterations,
                 "Operations a round, instead of the number that each figure is defined with")
      ->check(CLI::Range(std::uint64_t{1}, kMost));
  app.add_option("--rounds", options.rounds, "Rounds to keep")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
}

void add_size_option(CLI::App& app, Options& options, const char* what) {
  app.add_option("--size", options.size_bytes, what)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, kMost));
}

bool parse_command_line(CLI::App& app, int argc, char** argv, bool speaks, int& exit_code) {
  constexpr int kBadCommandLine = 2;
  exit_code = 0;
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    std::ostringstream silence;
    const int code = speaks ? app.exit(error) : app.exit(error, silence, silence);
    exit_code = code == 0 ? 0 : kBadCommandLine;
    return false;
  }
}

}  // namespace viaduct::bench
