#include "compiler-shim/splitcc/emit/uses.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace viaduct::splitcc {
namespace {

// How many letters have to be changed, added, left out or exchanged with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

// The declared function that is spelled almost as @p name.
std::string_view meant(const Unit& unit, std::string_view name) {
  std::string_view best;
  std::size_t least = std::min<std::size_t>(name.size() / 3, 2) + 1;
  for (const Symbol& s : unit.symbols) {
    if (s.what != Symbol::What::function || s.is_implicit || s.depth > 0 || s.name == name ||
        s.name.empty() || s.name.front() == '_')
      continue;
    const std::size_t longer = std::max(s.name.size(), name.size());
    if (longer - std::min(s.name.size(), name.size()) >= least) continue;
    const std::size_t far = distance(name, s.name);
    if (far < least) least = far, best = s.name;
  }
  return best;
}

bool is_missing(const Symbol& s) {
  if (s.first_use < 0 || s.is_defined || s.from_system || s.is_library || !s.emitted.empty())
    return false;
  if (s.what == Symbol::What::function) return s.storage != Storage::static_;
  return s.what == Symbol::What::variable && s.storage == Storage::extern_;
}

}  // namespace

std::string uses_of(const Unit& unit, const Diagnostics& diagnostics) {
  std::string records;
  for (const Symbol& s : unit.symbols) {
    if (!is_missing(s)) continue;
    const Place place = unit.place(s.first_use);
    const std::string& file = diagnostics.file_name(place.file);
    const auto plain = [](char c) { return c >= ' ' && c != '"' && c != '\\' && c != '%'; };
    if (!std::all_of(file.begin(), file.end(), plain)) continue;
    records += fmt::format("  \".asciz \\\"{}{}:{}:{}:{}:{}:{}\\\"\\n\"\n", kUseMark, s.name,
                           place.line, place.column, s.is_implicit ? meant(unit, s.name) : "",
                           s.is_implicit ? "u" : "d", file);
  }
  if (records.empty()) return {};
  return "__asm__(\".pushsection .splitcc.uses,\\\"e\\\",@progbits\\n\"\n" + records +
         "  \".popsection\\n\");\n";
}

}  // namespace viaduct::splitcc
