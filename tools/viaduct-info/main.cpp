// viaduct-info: what this machine lets Viaduct do, what a peer costs, and the settings in force. A
// job of one rank.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "runtime/config.hpp"
#include "runtime/version.hpp"
#include "tools/viaduct-info/report.hpp"

int main(int argc, char** argv) {
  CLI::App app("Prints what Viaduct finds on this machine, what a peer costs, and every setting",
               "viaduct-info");
  bool help_config = false;
  bool version = false;
  app.add_flag("--help-config", help_config,
               "Print every setting alone, with its default and present value");
  app.add_flag("--version", version, "Print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  try {
    if (version) {
      fmt::print("viaduct-info {}\n", viaduct::kVersion);
    } else if (help_config) {
      fmt::print("{}", viaduct::config::help());
    } else {
      fmt::print("viaduct {}\n\n{}\n{}\n{}", viaduct::kVersion, viaduct::info::machine(),
                 viaduct::info::job(), viaduct::config::help());
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "viaduct-info: %s\n", problem.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
