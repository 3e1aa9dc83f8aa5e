#include "benchmarks/common/options.hpp"

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/config.hpp"

namespace viaduct::bench {

void add_common_options(CLI::App& app, Options& options) {
  app.add_option("--json", options.json_file, "Also write the figures to this file, as JSON")
      ->type_name("FILE");
  const auto known = config::providers();
  app.add_option("--provider", options.provider, "VIA provider to measure")
      ->check(CLI::IsMember(std::vector<std::string>(known.begin(), known.end())))
      ->capture_default_str();
  app.add_option("--size", options.size_bytes,
                 "Bytes per message or copy, instead of the usual sizes")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--iters", options.iterations,
                 "Operations a round, instead of the number that each figure is defined with");
  app.add_option("--rounds", options.rounds, "Rounds to keep")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
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
