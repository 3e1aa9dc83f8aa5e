#include "runtime/launcher/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/remote_command.hpp"
#include "runtime/program/command_line.hpp"
#include "runtime/src/job_size_check.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/version.hpp"

namespace viaduct::launcher {
namespace {

constexpr double kMinTimeLimit = 1e-3;
constexpr double kMaxTimeLimit = 1e9;

std::string known_providers() {
  std::string known;
  for (const std::string_view provider : config::providers())
    known += (known.empty() ? "" : ", ") + std::string(provider);
  return known;
}

std::string check_time_limit(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && seconds >= kMinTimeLimit && seconds <= kMaxTimeLimit)
    return {};  // never for "nan"
  return "give seconds without a unit, from 0.001 to 1000000000";
}

/// Beyond the limit a sentence can tell more than the range.
std::string check_ranks(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number > kMaxJobSize)
    return job_size_problem(number);
  const bool accepted = read.ec == std::errc{} && read.ptr == end && number != 0;
  return accepted ? "" : "give a whole number from 1 to " + std::to_string(kMaxJobSize);
}

int complain(const std::string& sentence) {
  const std::string text =
      with_code(errors::bad_command_line, sentence + "; see viaduct-run --help");
  std::fprintf(stderr, "viaduct-run: %s\n", text.c_str());
  return kExitUsage;
}

/// The settings, and the variables of the environment that look like settings and are none.
std::string settings_text() {
  const std::string unknown = config::unknown_variables();
  return config::help() + (unknown.empty() ? "" : "\nWarning: " + unknown + "\n");
}

std::string version_line() { return std::string("viaduct-run ") + kVersion + "\n"; }

void describe_hosts(program::CommandLine& app, Options& options, std::string& hosts) {
  app.option("--hosts", hosts,
             "Start the ranks on these hosts: a:2,b:2, or a,b with -n divided among them");
  app.option("--remote-command", options.remote_command,
             "Runs a command on a host: {host} and {command} are replaced")
      .default_value("ssh -o BatchMode=yes {host} {command}");
  app.option("--address", options.address,
             "Address by which the other hosts reach this one (default: all that it has)");
}

void describe(program::CommandLine& app, Options& options, std::string& mode) {
  app.option("-n,--ranks", options.ranks, "Ranks to start")
      .check(check_ranks, "NUMBER")
      .shows_default();
  app.option("--provider", options.provider, ("How ranks talk: " + known_providers()).c_str())
      .check(config::provider_problem, "NAME");
  app.option("--mode", mode, "Ranks are processes, or threads of one process")
      .one_of({"processes", "threads"})
      .shows_default();
  app.option("--timeout", options.time_limit_s,
             "End the job after so many seconds, with status 124")
      .check(check_time_limit, "SECONDS");
  app.option("--grace", options.grace_s,
             "Ranks that SIGTERM has not ended after so many seconds are killed (default 10)")
      .check(check_time_limit, "SECONDS");
  app.flag("--bind", options.bind, "Bind each rank to one core of the allowed ones");
  app.flag("--label", options.label, "Put [rank] before each line of output");
  app.flag("--keep-going", options.keep_going, "When a rank fails, let the others run on");
  app.flag("--quiet", options.quiet, "Do not report ranks that fail");
  app.question("--version", "Print the version", version_line);
  app.question("--help-config", "Print every setting, with its default and present value",
               settings_text);
}

/// ssh takes such an address as it is.
std::string without_brackets(const std::string& host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']'
             ? host.substr(1, host.size() - 2)
             : host;
}

/// Reads the shares of the hosts, which must fit the other options. Answers a complaint or nothing.
std::string settle_hosts(const program::CommandLine& app, Options& options,
                         const std::string& hosts) {
  if (!app.given("--hosts")) {
    const bool in_vain = app.given("--remote-command") || app.given("--address");
    return in_vain ? "--remote-command and --address are for --hosts" : "";
  }
  options.address = without_brackets(options.address);
  if (options.threads) return "--mode threads is for one process, and --hosts starts several";
  const auto words = split_words(options.remote_command);
  if (!words) return "--remote-command: a quote is not closed: " + options.remote_command;
  if (words->empty() || words->front().empty()) return "--remote-command names no command";
  std::string problem;
  options.hosts = place_ranks(hosts, app.given("--ranks") ? options.ranks : 0, problem);
  if (!problem.empty()) return problem;
  options.ranks = options.hosts.back().first + options.hosts.back().ranks;
  return {};
}

/// mpirun's "-np 4" becomes "-n 4". The command line's parser would read it as "-n p" behind which
/// the program 4 stands. Words behind the program are its own.
std::vector<char*> with_plain_ranks_option(int argc, char** argv) {
  static char plain[] = "-n";
  std::vector<char*> words(argv, argv + argc);
  for (std::size_t i = 1; i < words.size() && words[i][0] == '-'; ++i) {
    const std::string_view word(words[i]);
    if (word == "-np") words[i] = plain;
    if (word == "--") break;
    const bool with_value = word == "-n" || word == "-np" || word == "--ranks" ||
                            word == "--provider" || word == "--mode" || word == "--timeout" ||
                            word == "--grace" || word == "--hosts" || word == "--remote-command" ||
                            word == "--address";
    if (with_value) ++i;
  }
  return words;
}

std::uint32_t number_behind(const std::string& text, std::size_t colon) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, number);
  return read.ec == std::errc{} && read.ptr == end ? number : 0;
}

/// Where the colon before the number of ranks is. Those of an address of IPv6 are in brackets.
std::size_t end_of_host(const std::string& word) {
  const bool bracketed = !word.empty() && word.front() == '[';
  return word.find(':', bracketed ? std::min(word.find(']'), word.size()) : 0);
}

}  // namespace

std::vector<Options::Share> place_ranks(const std::string& list, std::uint32_t ranks,
                                        std::string& problem) {
  std::vector<Options::Share> shares;
  std::istringstream words(list + (list.ends_with(',') ? "," : ""));  // getline drops a last ""
  std::size_t numbered = 0;
  std::uint64_t sum = 0;
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t colon = end_of_host(word);
    Options::Share share{without_brackets(word.substr(0, colon)), 0, 0};
    if (colon != std::string::npos) {
      share.ranks = number_behind(word, colon);
      ++numbered;
    }
    if (share.host.empty() || share.host.front() == '-' || share.host.front() == '[' ||
        (colon != std::string::npos && share.ranks == 0)) {
      problem = "--hosts: \"" + word + "\" is not HOST or HOST:RANKS";
      return {};
    }
    sum += share.ranks;
    shares.push_back(share);
  }
  if (shares.empty()) {
    problem = "--hosts: \"" + list + "\" is not HOST or HOST:RANKS";
  } else if (const auto all = std::max<std::uint64_t>(sum, shares.size()); all > kMaxJobSize) {
    problem = "--hosts: " + job_size_problem(all);
  } else if (numbered != 0 && numbered != shares.size()) {
    problem = "--hosts: give all hosts a number of ranks behind a colon, or none";
  } else if (numbered != 0 && ranks != 0 && ranks != sum) {
    problem = "--hosts gives places for " + std::to_string(sum) + " ranks, -n says " +
              std::to_string(ranks);
  } else if (numbered == 0 && ranks != 0 && ranks < shares.size()) {
    problem = "--hosts: " + std::to_string(ranks) + " ranks are fewer than the hosts";
  }
  if (!problem.empty()) return {};
  const auto hosts = static_cast<std::uint32_t>(shares.size());
  if (ranks == 0) ranks = numbered != 0 ? static_cast<std::uint32_t>(sum) : hosts;
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    if (numbered == 0) shares[i].ranks = ranks / hosts + (i < ranks % hosts ? 1 : 0);
    shares[i].first = first;
    first += shares[i].ranks;
  }
  return shares;
}

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
  Options options;
  std::string mode = "processes";
  program::CommandLine app("Starts a program as the ranks of one Viaduct job.", "viaduct-run");
  app.set_usage("Usage: viaduct-run [OPTIONS] PROGRAM [ARGUMENTS]");
  app.set_footer(
      "SIGUSR1 prints what every rank waits for. Exit status: the first failing rank's, 128 + its "
      "signal, 124 "
      "time limit,\n125 the launcher failed, 2 bad command line, 1 a rank left without "
      "finalizing.");
  std::string hosts;
  describe(app, options, mode);
  describe_hosts(app, options, hosts);
  app.stop_at_first_argument();  // options end at PROGRAM; the rest is its own
  using Parsed = program::CommandLine::Parsed;
  std::vector<char*> words = with_plain_ranks_option(argc, argv);
  const Parsed parsed = app.parse(static_cast<int>(words.size()), words.data());
  if (parsed != Parsed::go_on) {
    exit_code = parsed == Parsed::refused ? complain(app.text())
                : app.print_answer()      ? 0
                                          : kExitLauncher;
    return std::nullopt;
  }
  options.program = app.remaining();
  // Behind -- stands the program, whatever its name begins with.
  const bool marked = !options.program.empty() && options.program.front() == "--";
  if (marked) options.program.erase(options.program.begin());
  if (options.program.empty() || options.program.front().empty()) {
    exit_code = complain("no PROGRAM is given");
    return std::nullopt;
  }
  if (!marked && options.program.front().front() == '-') {
    exit_code = complain("there is no option " + options.program.front());
    return std::nullopt;
  }
  options.threads = mode == "threads";
  if (options.threads && options.bind) {
    exit_code = complain("--bind gives each process a core, and --mode threads starts only one");
    return std::nullopt;
  }
  if (const std::string problem = settle_hosts(app, options, hosts); !problem.empty()) {
    exit_code = complain(problem);
    return std::nullopt;
  }
  return options;
}

}  // namespace viaduct::launcher
