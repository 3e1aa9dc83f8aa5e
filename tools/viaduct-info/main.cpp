// viaduct-info: what this machine lets Viaduct do, what a peer costs, and the settings in force. A
// job of one rank.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "runtime/config.hpp"
#include "runtime/version.hpp"
#include "tools/viaduct-info/doctor.hpp"
#include "tools/viaduct-info/report.hpp"

int main(int argc, char** argv) {
  CLI::App app("Prints what Viaduct finds on this machine, what a peer costs, and every setting",
               "viaduct-info");
  bool help_config = false;
  bool version = false;
  app.add_flag("--help-config", help_config,
               "Print every setting alone, with its default and present value");
  app.add_flag("--version", version, "Print the version");
  CLI::App* const doctor = app.add_subcommand(
      "doctor",
      "Find what slows Viaduct down or stops it here, with the command that mends it; "
      "exit status 1 when there is a problem");
  std::string system_root;
  doctor->add_option("--system-root", system_root, "What stands before /proc and /sys")->group("");
  CLI::App* const choose = app.add_subcommand(
      "choose", "Say how a message would travel, and why; in a job, between two of its ranks");
  std::uint64_t bytes = 8;
  std::uint32_t from = 0;
  std::uint32_t to = 1;
  choose->add_option("--bytes", bytes, "Length of the message")->capture_default_str();
  choose->add_option("--from", from, "The rank that sends")->capture_default_str();
  choose->add_option("--to", to, "The rank that receives")->capture_default_str();
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  try {
    if (*doctor) {
      const auto findings = viaduct::info::examine(system_root);
      fmt::print("{}", viaduct::info::describe(findings));
      return std::fflush(stdout) == 0 ? viaduct::info::exit_code_of(findings) : 1;
    }
    if (*choose) {
      fmt::print("{}", viaduct::info::choose(from, to, bytes));
    } else if (version) {
      fmt::print("viaduct-info {}\n", viaduct::kVersion);
    } else if (help_config) {
      fmt::print("{}", viaduct::config::help());
    } else {
      fmt::print("viaduct {}\n\n{}\n{}\n{}\n{}", viaduct::kVersion, viaduct::info::machine(),
                 viaduct::info::providers(), viaduct::info::job(), viaduct::config::help());
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "viaduct-info: %s\n", problem.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
