// figures_judge DOCUMENT SECTION FIGURES: whether the figures of a benchmark (FIGURES, JSON) are
// those that the section of the document defines: each figure stands in a table of the section or
// among the yardsticks, and each name in the section's table is a figure. Exit code: 0 they are,
// 1 they are not, 2 there is nothing to judge by.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/program/json.hpp"

namespace {

using Names = std::vector<std::string>;

Names words_of(const std::string& name) {
  Names words(1);
  for (const char c : name) {
    if (c == '_')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

/// Words of a name in a document that stand for several, all of which must be measured.
const std::vector<std::pair<std::string, Names>> kWordsForMany{
    {"TYPE", {"char", "short", "int", "long", "float", "double"}},
    {"FORM", {"v1", "channel"}},
    {"GENERATION", {"channel", "v1", "v2", "v3"}},
    {"GROUP", {"base", "event", "flow", "semantics"}},
    {"ROW",
     {"send_done", "post_send", "recv_done", "post_recv", "recycle_send", "recycle_recv", "build",
      "cq_send", "cq_recv", "bookkeeping", "read_data", "act"}},
};

/// The names that @p name stands for.
Names all_of(const std::string& name) {
  Names all{name};
  for (const auto& [word, stands_for] : kWordsForMany) {
    Names more;
    for (const std::string& each : all) {
      const std::size_t at = each.find(word);
      if (at == std::string::npos) more.push_back(each);
      for (const std::string& one : stands_for)
        if (at != std::string::npos)
          more.push_back(std::string(each).replace(at, word.size(), one));
    }
    all = more;
  }
  return all;
}

bool all_digits(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Whether @p word of a figure may stand where the document has @p pattern.
bool word_matches(const std::string& pattern, const std::string& word) {
  if (pattern == "SIZE")
    return !word.empty() && std::string("bkm").find(word.back()) != std::string::npos &&
           all_digits(word.substr(0, word.size() - 1));
  if (pattern == "N") return all_digits(word);
  if (pattern == "PATH") return word == "direct" || word == "rdma" || word == "message";
  return pattern == word || pattern == "APP" || pattern == "WAY";
}

using At = Names::const_iterator;
bool words_match(At pattern, At pattern_end, At word, At word_end) {
  if (pattern == pattern_end || word == word_end) return pattern == pattern_end && word == word_end;
  if (!word_matches(*pattern, *word)) return false;
  // These two are of any number of words.
  if ((*pattern == "APP" || *pattern == "WAY") &&
      words_match(pattern, pattern_end, word + 1, word_end))
    return true;
  return words_match(pattern + 1, pattern_end, word + 1, word_end);
}

bool matches(const std::string& pattern, const std::string& figure) {
  const Names patterns = words_of(pattern);
  const Names words = words_of(figure);
  return words_match(patterns.begin(), patterns.end(), words.begin(), words.end());
}

/// The names in the first column of the tables below the heading @p title.
Names documented(const std::string& path, const std::string& title) {
  std::ifstream file(path);
  Names names;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## " + title;
    if (!inside || line.rfind("| `", 0) != 0) continue;
    const std::string column = line.substr(2, line.find(" | ", 2) - 2);
    for (std::size_t from = column.find('`'); from != std::string::npos;) {
      const std::size_t to = column.find('`', from + 1);
      for (const std::string& name : all_of(column.substr(from + 1, to - from - 1)))
        names.push_back(name);
      from = to == std::string::npos ? to : column.find('`', to + 1);
    }
  }
  if (names.empty())
    throw std::runtime_error(fmt::format("{} has no table of names below '{}'", path, title));
  return names;
}

/// Without those that are made from others: NAME_ratio.
std::set<std::string> figures_of(const std::string& path) {
  const auto figures = viaduct::program::Json::read(path).at("figures");
  std::set<std::string> names;
  for (const std::string& name : figures.keys()) {
    for (const char* part : {"min", "median", "p95", "unit", "n"})
      if (!figures.at(name).has(part)) throw std::runtime_error(name + " has no " + part);
    names.insert(name);
  }
  for (auto at = names.begin(); at != names.end();) {
    const std::size_t end = at->rfind("_ratio");
    const bool made = end != std::string::npos && names.count(at->substr(0, end)) == 1;
    at = made ? names.erase(at) : std::next(at);
  }
  return names;
}

bool any_matches(const Names& patterns, const std::string& figure) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, figure); });
}

bool agree(const Names& own, const Names& yardsticks, const std::set<std::string>& figures) {
  bool well = !figures.empty();
  for (const std::string& figure : figures) {
    if (any_matches(own, figure) || any_matches(yardsticks, figure)) continue;
    fmt::print("{} is measured, and the document does not define it\n", figure);
    well = false;
  }
  for (const std::string& pattern : own) {
    if (std::any_of(figures.begin(), figures.end(),
                    [&](const std::string& figure) { return matches(pattern, figure); }))
      continue;
    fmt::print("{} is defined by the document, and not measured\n", pattern);
    well = false;
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: figures_judge DOCUMENT SECTION FIGURES.json\n", stderr);
    return 2;
  }
  try {
    const Names own = documented(argv[1], argv[2]);
    const Names yardsticks = documented(argv[1], "The yardsticks");
    return agree(own, yardsticks, figures_of(argv[3])) ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "figures_judge: %s\n", problem.what());
    return 2;
  }
}
