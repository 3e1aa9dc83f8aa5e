#include "compiler-shim/splitcc/lex/prelex.hpp"

#include <algorithm>
#include <cctype>

namespace viaduct::splitcc {
namespace {

class Joiner {
 public:
  explicit Joiner(std::string_view in) : in_(in) {}

  std::optional<std::string> run() {
    while (at_ < in_.size()) step();
    if (!changed_) return std::nullopt;
    return std::move(out_);
  }

 private:
  void step() {
    const char c = in_[at_];
    if (line_start_ && (c == ' ' || c == '\t')) return copy(1);
    if (line_start_ && c == '#') return directive();
    line_start_ = c == '\n';
    if (skipped_ > 0 || (c != '"' && c != '\'' && c != '/')) return copy(1);
    if (c == '/') return slash();
    const std::size_t end = end_on_line(at_, c);
    if (end != std::string_view::npos) return copy(end - at_);
    if (c == '\'') return copy(1);
    long_string();
  }

  void copy(std::size_t count) {
    out_.append(in_.substr(at_, count));
    at_ += count;
  }

  // Behind the closing quote, or npos when the line ends first.
  [[nodiscard]] std::size_t end_on_line(std::size_t at, char mark) const {
    for (std::size_t i = at + 1; i < in_.size(); ++i) {
      if (in_[i] == '\\') {
        ++i;
      } else if (in_[i] == mark) {
        return i + 1;
      } else if (in_[i] == '\n') {
        return std::string_view::npos;
      }
    }
    return std::string_view::npos;
  }

  void slash() {
    const char next = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    if (next == '*') {
      const std::size_t end = in_.find("*/", at_ + 2);
      return copy(end == std::string_view::npos ? in_.size() - at_ : end + 2 - at_);
    }
    if (next != '/') return copy(1);
    std::size_t end = at_ + 2;
    while (end < in_.size() && in_[end] != '\n')
      end = joins_lines(end) ? behind_join(end) : end + 1;
    copy(std::min(end, in_.size()) - at_);
  }

  // Whether a backslash stands before a line end: gcc -E allows blanks between.
  [[nodiscard]] bool joins_lines(std::size_t at) const {
    return in_[at] == '\\' && in_.find_first_not_of(" \t\r", at + 1) == in_.find('\n', at + 1);
  }
  [[nodiscard]] std::size_t behind_join(std::size_t at) const {
    return std::min(in_.find('\n', at), in_.size() - 1) + 1;
  }

  // Whether the line that begins there ends or changes what a condition hides.
  [[nodiscard]] bool is_condition(std::size_t at) const {
    const std::size_t mark = in_.find_first_not_of(" \t", at);
    if (mark == std::string_view::npos || in_[mark] != '#') return false;
    const std::size_t name = std::min(in_.find_first_not_of(" \t", mark + 1), in_.size());
    for (const char* const word : {"if", "el", "endif"})
      if (in_.substr(name).starts_with(word)) return true;
    return false;
  }

  // A false condition hides all its lines, quotes too; other directives end at their line, except
  // that a definition may hold a string.
  void directive() {
    std::size_t i = at_ + 1;
    while (i < in_.size() && (in_[i] == ' ' || in_[i] == '\t')) ++i;
    std::size_t end = i;
    while (end < in_.size() && std::isalpha(static_cast<unsigned char>(in_[end])) != 0) ++end;
    const std::string_view name = in_.substr(i, end - i);
    while (end < in_.size() && (in_[end] == ' ' || in_[end] == '\t')) ++end;
    const bool is_if = name == "if" || name == "ifdef" || name == "ifndef";
    if (skipped_ > 0) {
      if (is_if) ++skipped_;
      if (name == "endif" || (skipped_ == 1 && (name == "else" || name == "elif"))) --skipped_;
    } else if (name == "if" && in_.substr(end, 1) == "0" &&
               (end + 1 >= in_.size() || std::isspace(static_cast<unsigned char>(in_[end + 1])))) {
      skipped_ = 1;
    }
    line_start_ = false;
    if (name == "error" || name == "warning" || name == "pragma") {
      const std::size_t line_end = in_.find('\n', at_);
      return copy(line_end == std::string_view::npos ? in_.size() - at_ : line_end - at_);
    }
    copy(1);
  }

  void long_string() {
    std::string joined = "\"";
    std::size_t i = at_ + 1;
    for (; i < in_.size() && in_[i] != '"'; ++i) {
      if (in_[i] == '\\' && i + 1 < in_.size()) {
        joined += in_[i++];
      } else if (in_[i] == '\n') {
        if (is_condition(i + 1)) return copy(1);  // the quote is in a group that is left out
        joined += "\\n\\";
      }
      joined += in_[i];
    }
    if (i >= in_.size()) return copy(1);  // the string has no end: the compiler will say so
    out_ += joined;
    out_ += '"';
    at_ = i + 1;
    changed_ = true;
  }

  std::string_view in_;
  std::string out_;
  std::size_t at_ = 0;
  int skipped_ = 0;
  bool line_start_ = true;
  bool changed_ = false;
};

}  // namespace

std::optional<std::string> join_strings(std::string_view source) { return Joiner(source).run(); }

}  // namespace viaduct::splitcc
