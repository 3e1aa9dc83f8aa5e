#include "compiler-shim/splitcc/driver/gcc_messages.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>
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

// Whether a word in gcc's quotation marks marks a place: names of types do not.
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

// Messages name the copy of an `extern inline` function as the program names the function.
void without_prefix(std::string& line, std::string_view prefix) {
  for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix, at))
    line.erase(at, prefix.size());
}

// Removes the type of global and spread pointers in generated C, and gcc's explanation of it.
void without_words(std::string& line) {
  static constexpr std::string_view kWord = "vsc_word", kAka = " {aka '";
  if (line.find(kWord) == std::string::npos) return;
  for (std::size_t at = line.find(kAka); at != std::string::npos; at = line.find(kAka, at)) {
    const std::size_t end = line.find("'}", at);
    if (end == std::string::npos) break;
    line.erase(at, end + 2 - at);
  }
  for (std::size_t at = line.find(kWord); at != std::string::npos; at = line.find(kWord, at))
    line.replace(at, kWord.size(), "global or spread pointer");
}

}  // namespace

namespace {

// A message with the notes behind it.
struct Group {
  std::vector<std::string> lines;
};

// gcc's "'int *' ... 'int (*)[5]'": the two types differ only in that one is a block of the other.
// The types stand in the message or, for arguments, in the note.
bool differ_by_blocks(const Group& group) {
  for (const std::string& line : group.lines) {
    std::vector<std::string> types;
    std::vector<bool> blocks;
    std::size_t to = 0;
    for (std::size_t from = line.find('\''); from != std::string::npos;
         from = line.find('\'', to + 1)) {
      to = line.find('\'', from + 1);
      if (to == std::string::npos) break;
      const std::string type = line.substr(from + 1, to - from - 1);
      const std::size_t star = type.find('*');
      if (star == std::string::npos || star == 0) continue;
      std::string element = type.substr(0, type.find_first_of("*("));
      element.erase(element.find_last_not_of(' ') + 1);
      types.push_back(std::move(element));
      blocks.push_back(type.find('[') != std::string::npos);
    }
    if (types.size() >= 2 && types[0] == types[1] && (blocks[0] || blocks[1])) return true;
  }
  return false;
}

/// Whether the source line of the group's message has the word.
bool line_has(const Group& group, Diagnostics& diagnostics, std::string_view word) {
  Message m;
  for (const std::string& line : group.lines) {
    if (!split(line, m) || m.severity != Severity::warning) continue;
    Place place;
    place.file = diagnostics.file(m.file);
    place.line = m.line;
    return diagnostics.line_has(place, word);
  }
  return false;
}

/// "passing argument 4 of 'qsort' from incompatible pointer type": for functions that take a
/// callback.
bool is_callback(const Group& group) {
  static constexpr std::array kTakers = {"'qsort'",   "'bsearch'", "'signal'",  "'atexit'",
                                         "'lsearch'", "'lfind'",   "'on_exit'", "'tsearch'"};
  return std::any_of(kTakers.begin(), kTakers.end(), [&](std::string_view taker) {
    return std::any_of(group.lines.begin(), group.lines.end(), [&](const std::string& line) {
      return line.find(" passing argument ") != std::string::npos &&
             line.find(taker) != std::string::npos;
    });
  });
}

bool is_left_out(const Group& group, Diagnostics& diagnostics) {
  const auto has = [&](std::string_view text) {
    return std::any_of(group.lines.begin(), group.lines.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  if (!has(": warning: ")) return false;
  if (has("incompatible implicit declaration of built-in function"))
    return diagnostics.leaves_out(Idiom::undeclared_library);
  if (has("[-Wbuiltin-declaration-mismatch]")) return diagnostics.leaves_out(Idiom::own_name);
  if (has("[-Wendif-labels]") || has("extra tokens at end of #"))
    return diagnostics.leaves_out(Idiom::endif_text);
  if (has("\" redefined") && has(": note: ") &&
      (has("split-c/control.h:") || has("/usr/include/") || has("/usr/lib/")))
    return diagnostics.leaves_out(Idiom::own_macro);
  if (has("[-Wincompatible-pointer-types]")) {
    if (differ_by_blocks(group)) return diagnostics.leaves_out(Idiom::block_pointer);
    return is_callback(group) && diagnostics.leaves_out(Idiom::callback);
  }
  if ((has("[-Wint-conversion]") && has("'void *'")) ||
      has("comparison between pointer and integer"))
    return line_has(group, diagnostics, "NULL") && diagnostics.leaves_out(Idiom::null_number);
  if (has("useless storage class specifier in empty declaration") ||
      has("data definition has no type or storage class"))
    return diagnostics.leaves_out(Idiom::idle_word);
  if (has("'return' with a value, in function returning void"))
    return diagnostics.leaves_out(Idiom::void_value);
  if (has("qualified void return type")) return diagnostics.leaves_out(Idiom::never_returns);
  if (has("missing terminating ' character")) return diagnostics.leaves_out(Idiom::loose_quote);
  return false;
}

/// Whether gcc's message is about the C that splitcc makes, and not about the user's source.
bool is_about_generated(std::string_view line) {
  return line.find("(near initialization for 'vsc_") != std::string_view::npos;
}

/// The number at the beginning of @p text. Removes the number, and the character that ends it.
int take_number(std::string_view& text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(parsed.ptr - text.data()) + 1));
  return number;
}

std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

/// Translates the errors that Emitter::check_sizes provokes in gcc:
/// vsc_long_LINE_ARGUMENT_NUMBER_NAME has two sizes, or vsc_fits_LINE_NUMBER has none. Answers
/// whether @p group was such an error.
bool say_long_arguments(const Group& group, Diagnostics& diagnostics) {
  static const char* const kRule =
      "the pointer and the arguments of atomic travel in one message of 40 bytes: bulk_write what "
      "is longer to the owner before, and pass its address there";
  static const char* const kResultRule =
      "the result of atomic comes in one message of 40 bytes: let the function put what is longer "
      "into an object of its process, and bulk_read it afterwards";
  Message m;
  for (const std::string& line : group.lines) {
    if (!split(line, m) || m.severity != Severity::error) continue;
    std::string_view rest = behind(m.text, "vsc_long_");
    const bool named = !rest.empty();
    if (!named) rest = behind(m.text, "vsc_fits_");
    if (rest.empty()) continue;
    Place place;
    place.file = diagnostics.file(m.file);
    place.line = take_number(rest);
    if (!named) {
      diagnostics.error(place, "atomic", "more than 40 bytes of arguments for atomic", kRule);
      return true;
    }
    const int argument = take_number(rest);
    take_number(rest);
    const std::string name(rest.substr(0, rest.find_first_of("'\xe2")));
    std::string size;
    for (const std::string& other : group.lines) {
      const std::string_view bytes = behind(other, "with type 'char[");
      if (!bytes.empty()) size = bytes.substr(0, bytes.find(']'));
    }
    const std::string shown = name.empty() ? std::string() : " ('" + name + "')";
    const std::string what = argument == 0
                                 ? "the result of '" + name + "'"
                                 : "argument " + std::to_string(argument) + shown + " of atomic";
    diagnostics.error(place, "atomic", what + " has " + size + " bytes, which do not fit",
                      argument == 0 ? kResultRule : kRule);
    return true;
  }
  return false;
}

/// Says of a switch or goto that it passes over the declaration of a spread array: gcc names the
/// variable of generated C that keeps the array. Answers whether @p group was such an error.
bool say_jump(const Group& group, Diagnostics& diagnostics) {
  const auto place_of = [&](std::string_view file, int line) {
    Place place;
    place.file = diagnostics.file(file);
    place.line = line;
    return place;
  };
  Message jump;
  Message m;
  for (const std::string& line : group.lines) {
    if (!split(line, m)) continue;
    if (m.text.find("into scope of identifier with variably modified") != std::string_view::npos)
      jump = m;
    const bool declared = m.severity == Severity::note && m.text.find("'vsc_") == 0 &&
                          m.text.find("declared here") != std::string_view::npos;
    if (!declared || jump.line == 0) continue;
    diagnostics.error(place_of(jump.file, jump.line), {},
                      "a jump passes over the declaration of a spread array",
                      "the array is allocated where it is declared: declare it before the switch "
                      "or goto");
    diagnostics.note(place_of(m.file, m.line), {}, "the array is declared here");
    return true;
  }
  return false;
}

/// Whether gcc says that a constant is needed; for lines that name PROCS or MYPROC, which no
/// compiler knows.
bool wants_constant(std::string_view text) {
  static constexpr std::array kWords = {"variably modified", "not an integer constant",
                                        "to an integer constant", "initializer element is not",
                                        "storage size of"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* words) { return text.find(words) != std::string_view::npos; });
}

void explain_constant(const Message& m, const Place& place, Diagnostics& diagnostics) {
  if (m.severity != Severity::error || !wants_constant(m.text)) return;
  for (const char* const name : {"MYPROC", "PROCS"}) {
    if (!diagnostics.line_has(place, name)) continue;
    diagnostics.note(
        place, {},
        std::string(name) +
            " is known only when the program runs, so that it is no constant: allocate "
            "with malloc or all_spread_malloc, declare an automatic array, or compare "
            "with if");
    return;
  }
}

void say_message(const Message& m, Diagnostics& diagnostics) {
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
  explain_constant(m, place, diagnostics);
}

}  // namespace

std::string translate_messages(const std::string& text, Diagnostics& diagnostics) {
  std::string out;
  Group group;
  std::vector<std::string> includes;  // "In file included from ...", of the next message
  std::string function;               // "In function 'f':", until a message about f is shown
  const auto finish = [&] {
    if (say_long_arguments(group, diagnostics) || say_jump(group, diagnostics)) {
      out += std::exchange(function, {}) + diagnostics.take();
    } else if (!group.lines.empty() && !is_left_out(group, diagnostics)) {
      std::string before;  // lines before a message that may be left out
      for (const std::string& line : group.lines) {
        Message m;
        if (!split(line, m)) {
          before += line + "\n";
          continue;
        }
        say_message(m, diagnostics);
        const std::string said = diagnostics.take();
        if (said.empty()) break;  // the notes behind a hidden message are hidden too
        out += std::exchange(function, {}) + std::exchange(before, {}) + said;
      }
    }
    group.lines.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    without_prefix(line, "vsc_inline_");
    without_prefix(line, "vsc_program_");
    without_prefix(line, "vsc_pointer_");
    without_words(line);
    if (is_about_generated(line)) continue;
    Message m;
    if (split(line, m)) {
      if (m.severity != Severity::note) finish();
      group.lines.insert(group.lines.end(), includes.begin(), includes.end());
      group.lines.push_back(line);
      includes.clear();
    } else if (line.find("In file included from ") == 0 || line.find("        ") == 0) {
      includes.push_back(line);
    } else {
      finish();
      if (line.find(": In function 'vsc_") != std::string::npos)
        function.clear();
      else if (line.find(": In function ") != std::string::npos ||
               line.find(": At top level:") != std::string::npos)
        function = line + "\n";
      else
        out += line + "\n";
    }
  }
  finish();
  return out;
}

}  // namespace viaduct::splitcc
