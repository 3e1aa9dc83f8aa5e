#include "compiler-shim/splitcc/lex/lexer.hpp"

#include <fmt/format.h>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "compiler-shim/splitcc/lex/keywords.hpp"

namespace viaduct::splitcc {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes above 127 count as letters: names in other alphabets.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 128;
}

struct Punctuation {
  std::string_view text;
  Tok kind;
};
// Longer ones first.
constexpr std::array kPunctuation = {
    Punctuation{"<<=", Tok::less_less_equal},
    Punctuation{">>=", Tok::greater_greater_equal},
    Punctuation{"...", Tok::ellipsis},
    Punctuation{":=", Tok::get_put},
    Punctuation{":-", Tok::store},
    Punctuation{"::", Tok::spread_end},
    Punctuation{"->", Tok::arrow},
    Punctuation{"++", Tok::plus_plus},
    Punctuation{"--", Tok::minus_minus},
    Punctuation{"&&", Tok::amp_amp},
    Punctuation{"||", Tok::pipe_pipe},
    Punctuation{"==", Tok::equal_equal},
    Punctuation{"!=", Tok::exclaim_equal},
    Punctuation{"<=", Tok::less_equal},
    Punctuation{">=", Tok::greater_equal},
    Punctuation{"<<", Tok::less_less},
    Punctuation{">>", Tok::greater_greater},
    Punctuation{"+=", Tok::plus_equal},
    Punctuation{"-=", Tok::minus_equal},
    Punctuation{"*=", Tok::star_equal},
    Punctuation{"/=", Tok::slash_equal},
    Punctuation{"%=", Tok::percent_equal},
    Punctuation{"&=", Tok::amp_equal},
    Punctuation{"|=", Tok::pipe_equal},
    Punctuation{"^=", Tok::caret_equal},
    Punctuation{"<:", Tok::l_bracket},
    Punctuation{":>", Tok::r_bracket},
    Punctuation{"<%", Tok::l_brace},
    Punctuation{"%>", Tok::r_brace},
    Punctuation{"(", Tok::l_paren},
    Punctuation{")", Tok::r_paren},
    Punctuation{"[", Tok::l_bracket},
    Punctuation{"]", Tok::r_bracket},
    Punctuation{"{", Tok::l_brace},
    Punctuation{"}", Tok::r_brace},
    Punctuation{",", Tok::comma},
    Punctuation{";", Tok::semicolon},
    Punctuation{":", Tok::colon},
    Punctuation{"?", Tok::question},
    Punctuation{".", Tok::dot},
    Punctuation{"~", Tok::tilde},
    Punctuation{"!", Tok::exclaim},
    Punctuation{"+", Tok::plus},
    Punctuation{"-", Tok::minus},
    Punctuation{"*", Tok::star},
    Punctuation{"/", Tok::slash},
    Punctuation{"%", Tok::percent},
    Punctuation{"&", Tok::amp},
    Punctuation{"|", Tok::pipe},
    Punctuation{"^", Tok::caret},
    Punctuation{"<", Tok::less},
    Punctuation{">", Tok::greater},
    Punctuation{"=", Tok::equal},
};

class Lexer {
 public:
  Lexer(std::string_view text, Diagnostics& diagnostics, Standard standard)
      : text_(text), diagnostics_(diagnostics), standard_(standard) {
    tokens_.reserve(text.size() / 5 + 16);
    file_ = diagnostics.file("<input>");
  }

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        new_line();
      } else if (is_space(c)) {
        ++at_;
        space_ = true;
      } else if (c == '#' && at_line_start_) {
        directive();
      } else {
        token();
      }
    }
    push(Tok::end, at_, at_);
    return std::move(tokens_);
  }

 private:
  void new_line() {
    ++at_;
    ++line_;
    line_begin_ = at_;
    at_line_start_ = true;
    space_ = true;
  }

  void push(Tok kind, std::size_t from, std::size_t to) {
    Token token;
    token.kind = kind;
    token.in_system_header = system_;
    token.space_before = space_;
    token.line_start = at_line_start_;
    token.line = line_;
    token.column = static_cast<int>(from - line_begin_) + 1;
    token.file = file_;
    token.text = text_.substr(from, to - from);
    tokens_.push_back(token);
    space_ = false;
    at_line_start_ = false;
    at_ = to;
  }

  void error(std::size_t from, std::size_t to, const std::string& what) {
    Place place;
    place.file = file_;
    place.line = line_;
    place.column = static_cast<int>(from - line_begin_) + 1;
    diagnostics_.error(place, text_.substr(from, to - from), what);
  }

  // # 12 "file" 1 3, or #line 12 "file", or #pragma.
  void directive() {
    std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    const std::string_view line = text_.substr(at_, end - at_);
    std::size_t i = 1;
    const auto skip = [&] {
      while (i < line.size() && is_space(line[i])) ++i;
    };
    skip();
    if (line.compare(i, 6, "pragma") == 0 || line.compare(i, 5, "ident") == 0) {
      push(Tok::pragma, at_, end);
      return;
    }
    if (line.compare(i, 4, "line") == 0) i += 4;
    skip();
    int number = 0;
    const auto parsed = std::from_chars(line.data() + i, line.data() + line.size(), number);
    if (parsed.ec == std::errc{}) {
      i = static_cast<std::size_t>(parsed.ptr - line.data());
      skip();
      if (i < line.size() && line[i] == '"') marker_name(line, i);
      line_ = number - 1;
    }
    at_ = end;
  }

  void marker_name(std::string_view line, std::size_t i) {
    std::string name;
    for (++i; i < line.size() && line[i] != '"'; ++i) {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      name += line[i];
    }
    system_ = line.find(" 3", i) != std::string_view::npos;
    file_ = diagnostics_.file(name);
  }

  void token() {
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == '"' || c == '\'') return quoted(at_, at_);
    if (const std::size_t prefix = literal_prefix(); prefix > 0) return quoted(at_, at_ + prefix);
    if (is_letter(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(next))) return number();
    for (const Punctuation& p : kPunctuation) {
      if (text_.compare(at_, p.text.size(), p.text) != 0) continue;
      // Headers of the system are plain C.
      if (system_ && p.text.size() == 2 && c == ':' && next != '>') continue;
      return push(p.kind, at_, at_ + p.text.size());
    }
    if (static_cast<unsigned char>(c) < 32 || c == 127)
      error(at_, at_ + 1,
            fmt::format("a byte of value {} is no part of a program", static_cast<unsigned>(c)));
    else
      error(at_, at_ + 1, fmt::format("'{}' is no part of a program", c));
    ++at_;
    space_ = true;
  }

  // The bytes of the prefix of a string or character here, L, or from gnu99 on u, U and u8; or 0.
  [[nodiscard]] std::size_t literal_prefix() const {
    const auto at = [&](std::size_t i) { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; };
    const bool quote = at(1) == '"' || at(1) == '\'';
    if (at(0) == 'L') return quote ? 1 : 0;
    if (standard_ < Standard::gnu99 || (at(0) != 'u' && at(0) != 'U')) return 0;
    return quote ? 1 : at(0) == 'u' && at(1) == '8' && at(2) == '"' ? 2 : 0;
  }

  void word() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    push(keyword(text_.substr(at_, end - at_), standard_), at_, end);
  }

  void number() {
    const bool hex = text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] | 32) == 'x';
    std::size_t end = at_;
    bool floating = false;
    while (end < text_.size()) {
      const char c = text_[end];
      const char low = static_cast<char>(c | 32);
      const bool exponent = hex ? low == 'p' : low == 'e';
      if (c == '.' || exponent) floating = true;
      if (exponent && end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-')) {
        end += 2;
      } else if (c == '.' || is_letter(c) || is_digit(c)) {
        ++end;
      } else {
        break;
      }
    }
    push(floating ? Tok::floating : Tok::integer, at_, end);
  }

  // Reads a literal from @p from, where a prefix may stand, with the quote at @p quote. Newlines in
  // a string stand behind a backslash here: the pre-lexer has put it there.
  void quoted(std::size_t from, std::size_t quote) {
    const char mark = text_[quote];
    const bool is_string = mark == '"';
    std::size_t end = quote + 1;
    while (end < text_.size() && text_[end] != mark && text_[end] != '\n')
      end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2U : 1U;
    if (end >= text_.size() || text_[end] != mark) {
      end = std::min(end, text_.size());
      error(from, quote + 1,
            is_string ? "this string has no end" : "this character constant has no end");
      // gcc's preprocessor has taken the apostrophe for one in text that nobody reads.
      if (!is_string) diagnostics_.is_error(Idiom::loose_quote);
    } else {
      ++end;
      if (!is_string && end == quote + 2) error(from, end, "an empty character constant");
    }
    push(is_string ? Tok::string : Tok::character, from, end);
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  Standard standard_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
  int file_ = -1;
  bool system_ = false;
  bool at_line_start_ = true;
  bool space_ = false;
};

}  // namespace

std::vector<Token> lex(std::string_view text, Diagnostics& diagnostics, Standard standard) {
  return Lexer(text, diagnostics, standard).run();
}

}  // namespace viaduct::splitcc
