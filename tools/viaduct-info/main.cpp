// viaduct-info: the abilities of this machine for Viaduct, the cost of a peer, and the settings in
// force. A job of one rank.

#include <fmt/format.h>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "runtime/program/command_line.hpp"
#include "runtime/standard_streams.hpp"
#include "tools/viaduct-info/doctor.hpp"
#include "tools/viaduct-info/explain.hpp"
#include "tools/viaduct-info/report.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/version.hpp"

int main(int argc, char** argv) {
  viaduct::open_standard_streams();
  viaduct::program::CommandLine app(
      "Prints what Viaduct finds on this machine, what a peer costs, and every setting",
      "viaduct-info");
  bool help_config = false;
  bool version = false;
  app.flag("--help-config", help_config,
           "Print every setting alone, with its default and present value");
  app.flag("--version", version, "Print the version");
  auto& doctor =
      app.command("doctor",
                  "Find what slows Viaduct down or stops it here, with the command that mends it; "
                  "exit status 1 when there is a problem");
  std::string system_root;
  doctor.option("--system-root", system_root, "What stands before /proc and /sys").hidden();
  auto& choose = app.command(
      "choose", "Say how a message would travel, and why; in a job, between two of its ranks");
  std::uint64_t bytes = 8;
  std::uint32_t from = 0;
  std::uint32_t to = 1;
  choose.option("--bytes", bytes, "Length of the message").shows_default();
  choose.option("--from", from, "The rank that sends").shows_default();
  choose.option("--to", to, "The rank that receives").shows_default();
  auto& explain = app.command("explain",
                              "Say what the code of an error means, as in VIA-0101, and "
                              "what to do; without a code all are listed");
  std::vector<std::string> codes;
  explain.option("CODE", codes, "Codes as texts show them");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code)) return exit_code;
  if ((help_config || version) && (doctor.chosen() || choose.chosen() || explain.chosen())) {
    std::fprintf(stderr, "viaduct-info: --help-config and --version stand without a command\n");
    return viaduct::program::CommandLine::kBadCommandLine;
  }
  try {
    std::string text;
    if (doctor.chosen()) {
      const auto findings = viaduct::info::examine(system_root);
      text = viaduct::info::describe(findings);
      exit_code = viaduct::info::exit_code_of(findings);
    } else if (choose.chosen()) {
      const bool names_ranks = choose.given("--from") || choose.given("--to");
      text = viaduct::info::choose(from, to, bytes, names_ranks);
    } else if (explain.chosen()) {
      text = viaduct::info::explain(codes);
    } else if (version) {
      text = fmt::format("viaduct-info {}\n", viaduct::kVersion);
    } else if (help_config) {
      text = viaduct::config::help();
    } else {
      text =
          fmt::format("viaduct {}\n\n{}\n{}\n{}\n{}", viaduct::kVersion, viaduct::info::machine(),
                      viaduct::info::providers(), viaduct::info::job(), viaduct::config::help());
    }
    viaduct::program::write_out(text);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "viaduct-info: %s\n", problem.what());
    return 1;
  }
  return exit_code;
}
