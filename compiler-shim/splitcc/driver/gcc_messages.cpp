#include "compiler-shim/splitcc/driver/gcc_messages.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

namespace viaduct::splitcc {
namespace {

struct Message {
  std::string_view file;
  int line = 0;
  Severity severity = Severity::note;
  std::string_view text;
};

// file:line[:column]: severity: text
bool split(std::string_view whole, Message& m) {
  const struct {
    std::string_view mark;
    Severity severity;
  } kinds[] = {{": error: ", Severity::error},
               {": fatal error: ", Severity::error},
               {": warning: ", Severity::warning},
               {": note: ", Severity::note}};
  for (const auto& kind : kinds) {
    const std::size_t at = whole.find(kind.mark);
    if (at == std::string_view::npos) continue;
    std::string_view head = whole.substr(0, at);
    m.text = whole.substr(at + kind.mark.size());
    m.severity = kind.severity;
    int numbers[2] = {0, 0};
    int count = 0;
    while (count < 2) {
      const std::size_t colon = head.rfind(':');
      if (colon == std::string_view::npos) break;
      int number = 0;
      const auto parsed =
          std::from_chars(head.data() + colon + 1, head.data() + head.size(), number);
      if (parsed.ec != std::errc{} || parsed.ptr != head.data() + head.size()) break;
      numbers[count++] = number;
      head = head.substr(0, colon);
    }
    if (count == 0) return false;
    m.line = numbers[count - 1];
    m.file = head;
    return true;
  }
  return false;
}

// The first name in gcc's quotation marks; names of types say nothing about the place.
bool names_something(std::string_view word) {
  static constexpr std::array kTypes = {"int",   "char",   "short", "long",   "unsigned", "signed",
                                        "float", "double", "void",  "struct", "union",    "enum"};
  return !word.empty() && word.find_first_of(" *") == std::string_view::npos &&
         std::find(kTypes.begin(), kTypes.end(), word) == kTypes.end();
}

std::string quoted_word(std::string_view text) {
  for (const std::string_view open : {"\xe2\x80\x98", "'"}) {
    const std::string_view close = open.size() == 3 ? "\xe2\x80\x99" : "'";
    std::size_t to = 0;
    for (std::size_t from = text.find(open); from != std::string_view::npos;
         from = text.find(open, to + close.size())) {
      from += open.size();
      to = text.find(close, from);
      if (to == std::string_view::npos) break;
      const std::string_view word = text.substr(from, to - from);
      if (names_something(word)) return std::string(word);
    }
  }
  // A header: "name: No such file or directory".
  const std::size_t missing = text.find(": No such file");
  return missing == std::string_view::npos ? std::string() : std::string(text.substr(0, missing));
}

// The copy of an `extern inline` function is named as the program names the function.
void without_prefix(std::string& line, std::string_view prefix) {
  for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix, at))
    line.erase(at, prefix.size());
}

}  // namespace

std::string translate_messages(const std::string& text, Diagnostics& diagnostics) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    without_prefix(line, "vsc_inline_");
    Message m;
    if (!split(line, m)) {
      out += line + "\n";
      continue;
    }
    Place place;
    place.file = diagnostics.file(m.file);
    place.line = m.line;
    const std::string word = quoted_word(m.text);
    const std::string body(m.text);
    if (m.severity == Severity::error)
      diagnostics.error(place, word, body);
    else if (m.severity == Severity::warning)
      diagnostics.warning(Warning::plain, place, word, body);
    else
      diagnostics.note(place, word, body);
    out += diagnostics.take();
  }
  return out;
}

}  // namespace viaduct::splitcc
