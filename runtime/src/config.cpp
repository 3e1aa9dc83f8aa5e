#include "viaduct/runtime/config.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::config {
namespace {

struct Suffix {
  std::string_view text;
  std::int64_t factor;
};

constexpr std::array<Suffix, 5> kByteSuffixes{
    {{"", 1}, {"K", 1LL << 10}, {"M", 1LL << 20}, {"G", 1LL << 30}, {"T", 1LL << 40}}};
constexpr std::array<Suffix, 5> kTimeSuffixes{
    {{"", 1}, {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
constexpr std::array<Suffix, 1> kNoSuffix{{{"", 1}}};

std::span<const Suffix> suffixes(Type type) noexcept {
  if (type == Type::bytes) return kByteSuffixes;
  if (type == Type::time_ns) return kTimeSuffixes;
  return kNoSuffix;
}

std::optional<std::int64_t> parse_number(std::string_view text, Type type) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{}) return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  for (const Suffix& candidate : suffixes(type)) {
    std::int64_t result = 0;
    if (suffix != candidate.text) continue;
    if (__builtin_mul_overflow(number, candidate.factor, &result)) return std::nullopt;
    return result;
  }
  return std::nullopt;
}

std::optional<bool> parse_boolean(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"1", "yes", "on", "true"}) {
    if (lower == word) return true;
  }
  for (const std::string_view word : {"0", "no", "off", "false"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

bool is_choice(std::string_view text, std::string_view choices) {
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == text) return true;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

[[noreturn]] void reject(const Option& option, std::string_view value) {
  throw Error(errors::bad_setting, std::errc::invalid_argument,
              fmt::format("{}={} is not accepted: give {} (the default is {})", option.variable,
                          value, describe_values(option), option.default_text));
}

template <typename T>
void store(void* settings, const Option& option, T value) {
  *reinterpret_cast<T*>(static_cast<std::byte*>(settings) + option.offset) = std::move(value);
}

void load_number(void* settings, const Option& option, std::string_view text) {
  if (text == "auto" && option.default_text == "auto") {
    store(settings, option, kAuto);
    return;
  }
  const auto number = parse_number(text, option.type);
  if (!number || *number < option.min || *number > option.max) reject(option, text);
  store(settings, option, *number);
}

void load_one(void* settings, const Option& option, std::string_view text) {
  if (option.type == Type::boolean) {
    const auto value = parse_boolean(text);
    if (!value) reject(option, text);
    store(settings, option, *value);
  } else if (option.type == Type::text) {
    if (!option.choices.empty() && !is_choice(text, option.choices)) reject(option, text);
    store(settings, option, std::string(text));
  } else {
    load_number(settings, option, text);
  }
}

/// The number as a user would write it: the largest suffix that divides it.
std::string with_suffix(std::int64_t number, Type type) {
  const Suffix* best = nullptr;
  for (const Suffix& suffix : suffixes(type)) {
    if (number != 0 && number % suffix.factor == 0) best = &suffix;
  }
  if (best == nullptr) return std::to_string(number);
  return std::to_string(number / best->factor) + std::string(best->text);
}

std::string describe_numbers(const Option& option) {
  const bool bounded = option.max != std::numeric_limits<std::int64_t>::max();
  std::string text = option.type == Type::bytes     ? "a number of bytes (suffixes K, M, G, T)"
                     : option.type == Type::time_ns ? "a time (suffixes ns, us, ms, s)"
                                                    : "a whole number";
  text += bounded ? fmt::format(" from {} to {}", with_suffix(option.min, option.type),
                                with_suffix(option.max, option.type))
                  : fmt::format(", at least {}", with_suffix(option.min, option.type));
  if (option.default_text == "auto") text += ", or auto";
  return text;
}

}  // namespace

std::string describe_values(const Option& option) {
  if (option.type == Type::boolean) return "0 or 1 (also no/yes, off/on, false/true)";
  if (option.type != Type::text) return describe_numbers(option);
  return option.choices.empty() ? std::string("a text") : fmt::format("one of {}", option.choices);
}

void load(void* settings, std::span<const Option> options) {
  for (const Option& option : options) {
    const char* const value = std::getenv(option.variable);
    load_one(settings, option, value != nullptr ? std::string_view(value) : option.default_text);
  }
}

}  // namespace viaduct::config
