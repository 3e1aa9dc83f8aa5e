// figures_judge DOCUMENT SECTION FIGURES: whether the figures of a benchmark (FIGURES, JSON) are
// those that the section of the document defines: each figure stands in a table of the section or
// among the yardsticks, and each name in the section's table is a figure. Exit code: 0 they are,
// 1 they are not, 2 there is nothing to judge by.

#include <cstdio>
#include <exception>
#include <fstream>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using Names = std::vector<std::string>;

/// What stands for what in the document's names. Of the types each must be there.
const char* expression_of(const std::string& word) {
  if (word == "SIZE") return "[0-9]+[bkm]";
  if (word == "N") return "[0-9]+";
  if (word == "PATH") return "(direct|rdma|message)";
  if (word == "APP" || word == "WAY") return "[a-z0-9_]+";
  return nullptr;
}

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

/// One expression for each figure, or kind of figures, that @p name stands for.
Names expressions_of(const std::string& name) {
  Names all{""};
  for (const std::string& word : words_of(name)) {
    Names choices{expression_of(word) != nullptr ? expression_of(word) : word};
    if (word == "TYPE") choices = {"char", "short", "int", "long", "float", "double"};
    Names longer;
    for (const std::string& so_far : all)
      for (const std::string& choice : choices)
        longer.push_back(so_far.empty() ? choice : so_far + "_" + choice);
    all = longer;
  }
  return all;
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
    static const std::regex name("`([A-Za-z0-9_]+)`");
    for (std::sregex_iterator at(column.begin(), column.end(), name), end; at != end; ++at)
      for (const std::string& expression : expressions_of((*at)[1])) names.push_back(expression);
  }
  if (names.empty())
    throw std::runtime_error(fmt::format("{} has no table of names below '{}'", path, title));
  return names;
}

/// Without those that are made from others: NAME_ratio.
std::set<std::string> figures_of(const std::string& path) {
  const nlohmann::json document = nlohmann::json::parse(std::ifstream(path));
  std::set<std::string> names;
  for (const auto& [name, figure] : document.at("figures").items()) {
    for (const char* part : {"min", "median", "p95", "unit", "n"})
      if (!figure.contains(part)) throw std::runtime_error(name + " has no " + part);
    names.insert(name);
  }
  for (auto at = names.begin(); at != names.end();) {
    const std::size_t end = at->rfind("_ratio");
    const bool made = end != std::string::npos && names.count(at->substr(0, end)) == 1;
    at = made ? names.erase(at) : std::next(at);
  }
  return names;
}

bool any_matches(const std::string& figure, const Names& expressions) {
  for (const std::string& expression : expressions)
    if (std::regex_match(figure, std::regex(expression))) return true;
  return false;
}

bool agree(const Names& own, const Names& yardsticks, const std::set<std::string>& figures) {
  bool well = !figures.empty();
  for (const std::string& figure : figures) {
    if (any_matches(figure, own) || any_matches(figure, yardsticks)) continue;
    fmt::print("{} is measured, and the document does not define it\n", figure);
    well = false;
  }
  for (const std::string& expression : own) {
    const std::regex pattern(expression);
    bool found = false;
    for (const std::string& figure : figures) found = found || std::regex_match(figure, pattern);
    if (found) continue;
    fmt::print("{} is defined by the document, and not measured\n", expression);
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
