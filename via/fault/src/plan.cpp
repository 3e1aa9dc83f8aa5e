#include "via/fault/src/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "runtime/errors/codes.hpp"
#include "via/fault/provider.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::fault {
namespace {

constexpr std::string_view kPrefix = "fault(";
constexpr std::array<std::string_view, kKinds> kKindNames{
    "drop", "duplicate", "corrupt", "error", "disconnect", "full", "refuse"};
constexpr double kLongestNs = 1e10;

[[noreturn]] void refuse(std::string_view name, const std::string& problem) {
  throw Error(errors::bad_fault_setting, std::errc::invalid_argument,
              fmt::format("provider \"{}\": {}", name, problem));
}

struct Time {
  std::string_view key;
  double Plan::*value;
};
constexpr std::array<Time, 5> kTimes{{{"o_s", &Plan::send_ns},
                                      {"o_r", &Plan::receive_ns},
                                      {"L", &Plan::latency_ns},
                                      {"g", &Plan::gap_ns},
                                      {"G", &Plan::byte_ns}}};

/// The position of the comma or parenthesis that ends the provider underneath, whose own name may
/// have both.
std::size_t end_of_provider(std::string_view inside) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < inside.size(); ++at) {
    if (inside[at] == '(') ++depth;
    if (inside[at] == ')' && depth-- == 0) return at;
    if (inside[at] == ',' && depth == 0) return at;
  }
  return inside.size();
}

double read_number(std::string_view name, std::string_view key, std::string_view text, double most,
                   std::string_view unit) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || !std::isfinite(value) ||
      value < 0 || value > most)
    refuse(name, fmt::format("{} is \"{}\": give {} from 0 to {}", key, text, unit, most));
  return value;
}

void set(Plan& plan, std::string_view name, std::string_view key, std::string_view text) {
  const auto time_of = [&] { return read_number(name, key, text, kLongestNs, "nanoseconds"); };
  if (key == "seed") {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), plan.seed);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
      refuse(name, fmt::format("seed is \"{}\": give a whole number", text));
    return;
  }
  if (key == "o") {
    plan.send_ns = plan.receive_ns = time_of();
    return;
  }
  for (const Time& time : kTimes)
    if (key == time.key) {
      plan.*time.value = time_of();
      return;
    }
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    if (key == kKindNames[kind]) {
      plan.chance[kind] = read_number(name, key, text, 1, "a probability");
      return;
    }
  refuse(name, fmt::format("there is no setting \"{}\"; there are o, o_s, o_r, L, g, G, {} and "
                           "seed (docs/fault-provider.md)",
                           key, fmt::join(kKindNames, ", ")));
}

/// The settings that @p key sets: o stands for two.
std::vector<std::string_view> parts_of(std::string_view key) {
  if (key == "o") return {"o_s", "o_r"};
  return {key};
}

}  // namespace

bool is_fault(std::string_view name) noexcept { return name.starts_with(kPrefix); }

Plan read_plan(std::string_view name) {
  if (!is_fault(name) || !name.ends_with(')'))
    refuse(name, "write fault(PROVIDER) or fault(PROVIDER,KEY=VALUE,...)");
  std::string_view rest = name.substr(kPrefix.size(), name.size() - kPrefix.size() - 1);
  const std::size_t end = end_of_provider(rest);
  Plan plan;
  plan.provider = rest.substr(0, end);
  if (plan.provider.empty() || (end < rest.size() && rest[end] == ')'))
    refuse(name, "write fault(PROVIDER) or fault(PROVIDER,KEY=VALUE,...)");
  rest.remove_prefix(end);
  std::vector<std::string_view> given;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the comma
    const std::string_view setting = rest.substr(0, rest.find(','));
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      refuse(name, fmt::format("\"{}\" is no setting: write KEY=VALUE", setting));
    const std::string_view key = setting.substr(0, equals);
    set(plan, name, key, setting.substr(equals + 1));
    for (const std::string_view part : parts_of(key)) {
      if (std::find(given.begin(), given.end(), part) != given.end())
        refuse(name, fmt::format("{} is given twice: give each setting once", part));
      given.push_back(part);
    }
    rest.remove_prefix(setting.size());
  }
  return plan;
}

std::string provider_under(std::string_view name) { return read_plan(name).provider; }

Dice::Dice(const Plan& plan, std::uint32_t rank) : chance_(plan.chance) {
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    std::seed_seq seeds{static_cast<std::uint32_t>(plan.seed),
                        static_cast<std::uint32_t>(plan.seed >> 32), rank, kind};
    sequences_[kind].seed(seeds);
  }
}

bool Dice::falls_on(Kind kind) {
  const double chance = chance_[static_cast<std::size_t>(kind)];
  if (chance == 0) return false;
  return std::uniform_real_distribution<double>(0, 1)(sequences_[static_cast<std::size_t>(kind)]) <
         chance;
}

std::uint64_t Dice::below(Kind kind, std::uint64_t bound) {
  return sequences_[static_cast<std::size_t>(kind)]() % bound;
}

}  // namespace viaduct::via::fault
