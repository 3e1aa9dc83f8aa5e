#include "compiler-shim/splitcc/diag/diagnostics.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <fstream>
#include <utility>

namespace viaduct::splitcc {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool stands_at(std::string_view line, std::string_view word, std::size_t at) {
  if (line.compare(at, word.size(), word) != 0) return false;
  if (!is_word_char(word.front())) return true;
  const std::size_t end = at + word.size();
  return (at == 0 || !is_word_char(line[at - 1])) &&
         (end >= line.size() || !is_word_char(line[end]));
}

}  // namespace

int find_column(std::string_view line, std::string_view word, int column, int nth) {
  if (word.empty()) return 0;
  if (column > 0 && static_cast<std::size_t>(column) <= line.size() &&
      stands_at(line, word, static_cast<std::size_t>(column) - 1))
    return column;
  int last = 0;
  for (std::size_t at = 0; at + word.size() <= line.size(); ++at) {
    if (!stands_at(line, word, at)) continue;
    last = static_cast<int>(at) + 1;
    if (nth-- <= 0) return last;
    at += word.size() - 1;
  }
  return last;
}

const char* warning_name(Warning which) {
  switch (which) {
    case Warning::discarded_qualifiers:
      return "discarded-qualifiers";
    case Warning::get_before_sync:
      return "get-before-sync";
    case Warning::pointer_order:
      return "pointer-order";
    case Warning::remote_loop:
      return "remote-loop";
    case Warning::remote_pointer:
      return "remote-pointer";
    default:
      return "";
  }
}

int Diagnostics::file(std::string_view name) {
  if (const auto found = index_.find(name); found != index_.end()) return found->second;
  const int index = static_cast<int>(names_.size());
  names_.emplace_back(name);
  index_.emplace(std::string(name), index);
  return index;
}

const std::string& Diagnostics::file_name(int index) const {
  static const std::string kNone = "splitcc";
  return index < 0 ? kNone : names_[static_cast<std::size_t>(index)];
}

const std::vector<std::string>* Diagnostics::lines_of(int file) {
  if (file < 0) return nullptr;
  auto found = lines_.find(file);
  if (found == lines_.end()) {
    std::vector<std::string> lines;
    std::ifstream in(file_name(file));
    for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
    found = lines_.emplace(file, std::move(lines)).first;
  }
  return &found->second;
}

const std::string* Diagnostics::source_of(Place at) {
  const std::vector<std::string>* const lines = lines_of(at.file);
  if (lines == nullptr || at.line <= 0 || static_cast<std::size_t>(at.line) > lines->size())
    return nullptr;
  return &(*lines)[static_cast<std::size_t>(at.line) - 1];
}

bool Diagnostics::line_has(Place at, std::string_view word) {
  const std::string* const source = source_of(at);
  return source != nullptr && find_column(*source, word, 0, 0) > 0;
}

void Diagnostics::say(Severity severity, Place at, std::string_view word, const std::string& text,
                      std::string_view flag) {
  const char* const name = severity == Severity::error     ? "error"
                           : severity == Severity::warning ? "warning"
                                                           : "note";
  const char* const paint = !color_                         ? ""
                            : severity == Severity::error   ? "\033[01;31m"
                            : severity == Severity::warning ? "\033[01;35m"
                                                            : "\033[01;36m";
  const char* const plain = color_ ? "\033[m" : "";
  const std::string* const source = source_of(at);
  const int column = source == nullptr ? 0 : find_column(*source, word, at.column, at.nth);
  std::string head = file_name(at.file);
  if (at.line > 0) head += fmt::format(":{}", at.line);
  if (column > 0) head += fmt::format(":{}", column);
  out_ += fmt::format("{}: {}{}:{} {}{}\n", head, paint, name, plain, text, flag);
  // A note on the line that has just been shown needs no second copy of it.
  if (source == nullptr || (severity == Severity::note && at.line == last_line_ &&
                            at.file == last_file_ && word.empty()))
    return;
  last_line_ = at.line;
  last_file_ = at.file;
  out_ += fmt::format("{:5} | {}\n", at.line, *source);
  if (column == 0) return;
  std::string under;
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(column); ++i)
    under += (*source)[i] == '\t' ? '\t' : ' ';
  const std::size_t room = source->size() - static_cast<std::size_t>(column) + 1;
  under += paint;
  under += '^';
  under.append(std::min(std::max<std::size_t>(word.size(), 1), room) - 1, '~');
  under += plain;
  out_ += fmt::format("      | {}\n", under);
}

void Diagnostics::error(Place at, std::string_view word, const std::string& text,
                        const std::string& rule) {
  if (is_full()) return;
  ++errors_;
  say(Severity::error, at, word, text, {});
  if (!rule.empty()) say(Severity::note, at, {}, rule, {});
  if (is_full()) out_ += "splitcc: too many errors, the rest is not shown\n";
}

void Diagnostics::warning(Warning which, Place at, std::string_view word, const std::string& text,
                          const std::string& rule) {
  if (no_warnings_ || disabled_[static_cast<std::size_t>(which)] || is_full()) return;
  if (which == Warning::remote_loop && !remote_loops_shown_ && leaves_out(Idiom::remote_loop))
    return;
  const std::string flag =
      which == Warning::plain ? std::string() : fmt::format(" [-W{}]", warning_name(which));
  if (warnings_are_errors_) ++errors_;
  say(warnings_are_errors_ ? Severity::error : Severity::warning, at, word, text, flag);
  if (!rule.empty()) say(Severity::note, at, {}, rule, {});
}

bool Diagnostics::leaves_out(Idiom which) {
  if (idioms_shown_ || no_warnings_ || warnings_are_errors_) return false;
  ++left_out_[static_cast<std::size_t>(which)];
  return true;
}

std::string left_out_text(const LeftOut& counts) {
  static constexpr std::array kKinds = {"pointers to blocks for pointers to elements",
                                        "functions of the C library without a declaration",
                                        "functions without a declaration that answer pointers",
                                        "text behind directives of the preprocessor",
                                        "macros of headers that the program defines too",
                                        "names of the C library for the program's own",
                                        "functions of other types for qsort and the like",
                                        "NULL as a number",
                                        "declarations without a type or a name",
                                        "values of functions without one",
                                        "apostrophes in text that is left out",
                                        "loops that wait for each element of another process",
                                        "'volatile void' for functions that do not return"};
  static_assert(kKinds.size() == static_cast<std::size_t>(Idiom::count));
  int all = 0;
  std::string kinds;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    all += counts[i];
    kinds += fmt::format("{}{} of {}", kinds.empty() ? "" : ", ", counts[i], kKinds[i]);
  }
  if (all == 0) return {};
  return fmt::format("splitcc: {} warning{} about old idioms left out: {}; -Wold-idioms shows {}\n",
                     all, all == 1 ? "" : "s", kinds, all == 1 ? "it" : "them");
}

void Diagnostics::note(Place at, std::string_view word, const std::string& text) {
  if (!is_full()) say(Severity::note, at, word, text, {});
}

std::string Diagnostics::take() { return std::exchange(out_, {}); }

}  // namespace viaduct::splitcc
