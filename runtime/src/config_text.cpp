// The option tables as text for people: the help text and the warning about unknown names.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/config.hpp"

extern char** environ;  // NOLINT: POSIX's name

namespace viaduct::config {
namespace {

constexpr std::string_view kPrefix = "VIADUCT_";
constexpr const char* kProviderHelp = "How ranks talk; viaduct-run --provider sets it.";

/// The variables of a rendezvous, which its ranks read for themselves, and which are in no table.
struct Joining {
  const char* variable;
  const char* help;
  bool secret = false;  ///< its value is not shown
};
constexpr std::array kJoining{
    Joining{
        launch::kRendezvous,
        "Where the ranks meet that no launcher has started: tcp://HOST:PORT, at rank 0's host."},
    Joining{launch::kRank, "The number of this rank."},
    Joining{launch::kSize, "How many ranks there are; rank 0 alone must have it."},
    Joining{launch::kSecret, "A text of at least 16 characters, the same for all ranks.", true},
    Joining{launch::kSecretFile,
            "A file that holds the secret; it counts where VIADUCT_JOB_SECRET is unset."},
    Joining{launch::kHostKey,
            "Ranks with the same one share memory; unset: those of one kernel and its namespaces. "
            "Under "
            "viaduct-run --hosts the entries say it."},
};

/// The names that a user may have meant.
std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names{launch::kProvider};
  for (const Joining& each : kJoining) names.emplace_back(each.variable);
  for (const Table& table : all_tables()) {
    for (const Option& option : table.options) names.emplace_back(option.variable);
  }
  return names;
}

/// Letters to insert, delete or replace to make one name from the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// The known name that differs least, where at most a third of its letters behind VIADUCT_ differ.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  const auto closer = [&](std::string_view a, std::string_view b) {
    return edit_distance(name, a) < edit_distance(name, b);
  };
  const auto best = std::min_element(known.begin(), known.end(), closer);
  if (best == known.end()) return {};
  const std::size_t letters = std::max(name.size(), best->size()) - kPrefix.size();
  return 3 * edit_distance(name, *best) <= letters ? *best : std::string_view{};
}

std::string present_value(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : fmt::format("      Now {} (from the environment).\n", value);
}

std::string help_line(const Option& option) {
  std::string text = fmt::format("  {} = {}{}{}\n", option.variable, option.default_text,
                                 option.unit.empty() ? "" : " ", option.unit);
  text += fmt::format("      {}\n      Accepts {}.\n", option.help, describe_values(option));
  return text + present_value(option.variable);
}

/// Read by each layer for itself, and so in no table.
std::string provider_lines() {
  return fmt::format(
      "  {} =\n      {} Unset: shm between ranks of one host, verbs between hosts.\n"
      "      Accepts one of {}, or verbs:DEVICE.\n{}",
      launch::kProvider, kProviderHelp, fmt::join(providers(), "|"),
      present_value(launch::kProvider));
}

std::string joining_lines() {
  std::string text;
  for (const Joining& each : kJoining) {
    text += fmt::format("  {} =\n      {}\n", each.variable, each.help);
    text += each.secret && std::getenv(each.variable) != nullptr
                ? "      Now set (from the environment).\n"
                : present_value(each.variable);
  }
  return text;
}

}  // namespace

std::string unknown_variables() {
  const std::vector<std::string_view> known = known_names();
  std::string text;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view pair(*entry);
    const std::string_view name = pair.substr(0, pair.find('='));
    if (name.substr(0, kPrefix.size()) != kPrefix || is_launch_variable(name)) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (!text.empty()) text += ' ';
    text += fmt::format("{} is not a variable that Viaduct knows; it is ignored.", name);
    if (const std::string_view guess = nearest(name, known); !guess.empty()) {
      text += fmt::format(" Did you mean {}?", guess);
    }
  }
  return text;
}

std::string help() {
  std::string text = "Settings, from environment variables (variable = default):\n";
  for (const Table& table : all_tables()) {
    text += fmt::format("\n{}\n", table.layer);
    for (const Option& option : table.options) text += help_line(option);
  }
  return text + "\nprovider\n" + provider_lines() + "\nrendezvous\n" + joining_lines();
}

}  // namespace viaduct::config
