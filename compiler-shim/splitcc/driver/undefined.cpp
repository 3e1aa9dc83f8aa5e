#include "compiler-shim/splitcc/driver/undefined.hpp"

#include <fmt/format.h>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"
#include "compiler-shim/splitcc/emit/uses.hpp"

namespace viaduct::splitcc {
namespace {

struct Use {
  std::string file;
  int line = 0;
  int column = 0;
  std::string meant;
  bool is_declared = false;
};
using Uses = std::map<std::string, std::vector<Use>, std::less<>>;

std::string_view field(std::string_view& text) {
  const std::size_t colon = text.find(':');
  const std::string_view part = text.substr(0, colon);
  text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
  return part;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Objects and archives hold sections unchanged, so that a search for the mark finds the records in
// both.
void read_uses(const std::string& name, Uses& uses) {
  std::ifstream in(name, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t length = std::strlen(kUseMark);
  for (std::size_t at = bytes.find(kUseMark); at != std::string::npos;
       at = bytes.find(kUseMark, at + length)) {
    const std::size_t end = bytes.find('\0', at);
    if (end == std::string::npos) return;
    std::string_view record(bytes.data() + at + length, end - at - length);
    const std::string symbol(field(record));
    Use use;
    use.line = number(field(record));
    use.column = number(field(record));
    use.meant = field(record);
    use.is_declared = field(record) == "d";
    use.file = record;
    if (use.line > 0 && !use.file.empty()) uses[symbol].push_back(use);
  }
}

Uses all_uses(const std::vector<std::string>& command) {
  Uses uses;
  std::vector<std::string> folders;
  for (const std::string& word : command)
    if (word.substr(0, 2) == "-L") folders.push_back(word.substr(2));
  for (const std::string& word : command) {
    if (word.empty()) continue;
    if (word[0] != '-') read_uses(word, uses);
    if (word.substr(0, 2) == "-l")
      for (const std::string& folder : folders)
        read_uses(folder + "/lib" + word.substr(2) + ".a", uses);
  }
  return uses;
}

// The name that a linker's line reports as missing: GNU's linkers and LLVM's.
std::string_view missing_name(std::string_view line) {
  for (const std::string_view mark :
       {"undefined reference to ", "undefined references to ", "undefined symbol: "}) {
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view name = line.substr(at + mark.size());
    if (!name.empty() && (name.front() == '`' || name.front() == '\'')) name.remove_prefix(1);
    return name.substr(0, name.find_first_of("' "));
  }
  return {};
}

void say(const std::string& name, const Use& use, Diagnostics& diagnostics) {
  Place place;
  place.file = diagnostics.file(use.file);
  place.line = use.line;
  place.column = use.column;
  std::string rule = "compile and link the file that defines it, or name its library with -l";
  if (!use.meant.empty())
    rule = fmt::format("is '{}' meant?", use.meant);
  else if (!use.is_declared)
    rule = "it has no declaration either: is the name right? If so, " + rule;
  diagnostics.error(place, name,
                    fmt::format("'{}' is used here, and nothing that is linked defines it", name),
                    rule);
}

}  // namespace

std::string explain_undefined(const std::string& messages, const std::vector<std::string>& command,
                              bool color) {
  if (messages.find("undefined ") == std::string::npos) return messages;
  const Uses uses = all_uses(command);
  std::set<std::string, std::less<>> told;
  Diagnostics diagnostics;
  diagnostics.set_color(color);
  std::string out;
  std::string place;  // "in function ...", of the messages behind it
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view name = missing_name(line);
    const auto found = uses.find(name);
    if (!name.empty() && found != uses.end()) {
      if (told.emplace(name).second)
        for (const Use& use : found->second) say(found->first, use, diagnostics);
      out += diagnostics.take();
    } else if (line.find(": in function ") != std::string::npos) {
      place = line + "\n";
    } else if (name == "splitc_main") {
      place.clear();  // the driver has a sentence for it
    } else {
      if (line.find("returned 1 exit status") != std::string::npos) place.clear();
      out += place + line + "\n";
      place.clear();
    }
  }
  return out;
}

}  // namespace viaduct::splitcc
