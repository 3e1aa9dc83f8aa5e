// Moving along the tokens, and going on after an error.

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {
namespace {
constexpr int kMaxNesting = 2000;
}

Parser::Parser(Unit& unit, Diagnostics& diagnostics)
    : unit_(unit), diagnostics_(diagnostics), sema_(unit, diagnostics), jumps_(unit) {}

Parser::Depth::Depth(Parser& parser) : parser_(parser) {
  if (++parser_.nesting_ > kMaxNesting) {
    --parser_.nesting_;
    parser_.fail(fmt::format("more than {} levels of nesting", kMaxNesting));
  }
}

const Token& Parser::token(int ahead) const {
  const std::size_t index = static_cast<std::size_t>(at_ + ahead);
  return index < unit_.tokens.size() ? unit_.tokens[index] : unit_.tokens.back();
}

bool Parser::accept(Tok what) {
  if (kind() != what) return false;
  ++at_;
  return true;
}

void Parser::fail(const std::string& text, const std::string& rule) {
  const int where = std::min(at_, static_cast<int>(unit_.tokens.size()) - 1);
  sema_.error_at(where, text, rule);
  throw SyntaxError();
}

// At a word where a type must stand.
void Parser::fail_type() {
  fail(fmt::format("'{}' is no type that is known here", text()),
       text() == "global" || text() == "spread"
           ? "'global' and 'spread' stand behind the '*': T *global p"
       : text() == "on_one" ? "#include <split-c/control.h> defines it"
                            : "");
}

void Parser::fail_expected(const char* what, const char* where) {
  if (at_end()) {
    // The message gets the place of the file's last token.
    if (at_ > 0) --at_;
    const std::string text = fmt::format("the file ends where {} is expected{}", what, where);
    sema_.error_at(at_, text);
    ++at_;
    throw SyntaxError();
  }
  if (token().line_start && at_ > 0 && (what[1] == ';' || what[1] == ')')) {
    sema_.error_at(at_ - 1, fmt::format("{} is missing{}", what, where));
    throw SyntaxError();
  }
  std::string rule;
  if (kind() == Tok::spread_end || kind() == Tok::get_put || kind() == Tok::store)
    rule =
        "Split-C reads ':=', ':-' and '::' as one operator each; put a space in between if two "
        "are meant";
  if (kind() == Tok::star && at_ > 0 &&
      (unit_.text(at_ - 1) == "global" || unit_.text(at_ - 1) == "spread"))
    rule = "'global' and 'spread' stand behind the '*': T *global p";
  fail(fmt::format("{} is expected{}, not '{}'", what, where, text()), rule);
}

int Parser::expect(Tok what, const char* name, const char* where) {
  if (kind() != what) fail_expected(name, where);
  return at_++;
}

// At an opening bracket of any kind: to behind the closing one.
void Parser::skip_balanced() {
  int depth = 0;
  do {
    if (kind() == Tok::end) fail_expected("a closing bracket", "");
    depth += bracket_depth(kind());
    ++at_;
  } while (depth > 0);
}

// After an error in a block: behind the next semicolon of this block, or before its brace.
void Parser::skip_statement() {
  int depth = 0;
  for (; !at_end(); ++at_) {
    if (kind() == Tok::l_brace) ++depth;
    if (kind() == Tok::r_brace && depth-- == 0) return;
    if ((kind() == Tok::semicolon && depth == 0) || (kind() == Tok::r_brace && depth == 0)) {
      ++at_;
      return;
    }
  }
}

// After an error at file scope: behind the next semicolon or function body.
void Parser::skip_external() {
  int depth = 0;
  for (; !at_end(); ++at_) {
    if (kind() == Tok::l_brace) ++depth;
    if (kind() == Tok::r_brace) --depth;
    if (depth <= 0 && (kind() == Tok::semicolon || kind() == Tok::r_brace)) {
      ++at_;
      accept(Tok::semicolon);
      return;
    }
  }
}

void Parser::skip_pragmas() {
  while (kind() == Tok::pragma) ++at_;
}

// __attribute__((...)) and asm("..."), any number: answers the last token, or -1.
int Parser::skip_attributes(Specifiers* specifiers, Declarator* declarator) {
  int last = -1;
  while (kind() == Tok::kw_attribute || (kind() == Tok::kw_asm && kind(1) == Tok::l_paren)) {
    const int first = ++at_;
    if (kind() != Tok::l_paren) fail_expected("'('", "");
    skip_balanced();
    last = at_ - 1;
    for (int i = first; i < at_; ++i) {
      const std::string_view word = unit_.text(i);
      if (specifiers != nullptr && (word == "gnu_inline" || word == "__gnu_inline__"))
        specifiers->is_gnu_inline = true;
      if (word == "vector_size" || word == "__vector_size__") {
        if (specifiers != nullptr) specifiers->is_vector = true;
        if (declarator != nullptr) declarator->is_vector = true;
      }
      if (word != "mode" && word != "__mode__") continue;
      const std::string_view name = i + 2 < at_ ? unit_.text(i + 2) : std::string_view();
      const auto has = [name](std::string_view part) {
        return name.find(part) != std::string_view::npos;
      };
      const Kind mode = has("QI")                                    ? Kind::schar
                        : has("HI")                                  ? Kind::short_int
                        : has("SI")                                  ? Kind::integer
                        : has("DI") || has("word") || has("pointer") ? Kind::long_int
                        : has("TI")                                  ? Kind::int128
                                                                     : Kind::error;
      if (specifiers != nullptr) specifiers->mode = mode;
      if (declarator != nullptr) declarator->mode = mode;
    }
  }
  return last;
}

// The first attribute, in a range of tokens of attributes, that says something of an object's
// memory; -1: none.
int Parser::memory_attribute(int first, int last) const {
  static constexpr std::array kOther = {"unused",     "used", "deprecated",
                                        "visibility", "mode", "vector_size"};
  const auto is_other = [](std::string_view word) {
    if (word.size() > 4 && word.substr(0, 2) == "__") word = word.substr(2, word.size() - 4);
    return std::find(kOther.begin(), kOther.end(), word) != kOther.end();
  };
  int depth = 0;
  bool is_name = false;
  for (int i = first; i <= last; ++i) {
    const Tok what = token_at(i).kind;
    if (is_name && what != Tok::l_paren && what != Tok::r_paren && !is_other(unit_.text(i)))
      return i;
    depth += what == Tok::l_paren ? 1 : what == Tok::r_paren ? -1 : 0;
    is_name = depth == 2 && (what == Tok::l_paren || what == Tok::comma);
  }
  return -1;
}

}  // namespace viaduct::splitcc
