#include "compiler-shim/splitcc/driver/gcc_messages.hpp"

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

// Words in gcc's quotation marks.
std::string quoted_word(std::string_view text) {
  for (const std::string_view open : {"\xe2\x80\x98", "'"}) {
    const std::string_view close = open.size() == 3 ? "\xe2\x80\x99" : "'";
    const std::size_t from = text.find(open);
    if (from == std::string_view::npos) continue;
    const std::size_t to = text.find(close, from + open.size());
    if (to != std::string_view::npos)
      return std::string(text.substr(from + open.size(), to - from - open.size()));
  }
  // A header: "name: No such file or directory".
  const std::size_t missing = text.find(": No such file");
  return missing == std::string_view::npos ? std::string() : std::string(text.substr(0, missing));
}

}  // namespace

std::string translate_messages(const std::string& text, Diagnostics& diagnostics) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
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
