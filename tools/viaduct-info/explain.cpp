#include "tools/viaduct-info/explain.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "runtime/errors/catalogue.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::info {
namespace {

using errors::Entry;

/// The number in "VIA-0101", "[VIA-0101]", "via-101" or "101"; -1 when there is none.
int number_of(std::string_view code) {
  const auto digit =
      std::find_if(code.begin(), code.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  int number = -1;
  const char* const end =
      std::from_chars(code.data() + (digit - code.begin()), code.data() + code.size(), number).ptr;
  const bool is_end = end == code.data() + code.size() || *end == ']';
  return is_end ? number : -1;
}

const Entry& entry_of(const std::string& code) {
  const int wanted = number_of(code);
  const auto distance = [wanted](const Entry& e) {
    return std::abs(static_cast<int>(e.code) - wanted);
  };
  const Entry& nearest =
      *std::min_element(std::begin(errors::kCatalogue), std::end(errors::kCatalogue),
                        [&](const Entry& a, const Entry& b) { return distance(a) < distance(b); });
  if (distance(nearest) == 0) return nearest;
  throw Error(errors::no_such_code, std::errc::invalid_argument,
              fmt::format("there is no code {}: the nearest is {} ({}); viaduct-info explain lists "
                          "all",
                          code, to_string(nearest.code), nearest.name));
}

std::string text_of(const Entry& e) {
  std::string name(e.name);
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format("{} ({})\n  Cause:  {}\n  Remedy: {}\n", to_string(e.code), name, e.cause,
                     e.remedy);
}

}  // namespace

std::string explain(const std::vector<std::string>& codes) {
  std::string text;
  if (codes.empty())
    for (const Entry& e : errors::kCatalogue) text += text_of(e);
  for (const std::string& code : codes) text += text_of(entry_of(code));
  return text;
}

}  // namespace viaduct::info
