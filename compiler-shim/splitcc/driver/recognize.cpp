#include "compiler-shim/splitcc/driver/recognize.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

namespace viaduct::splitcc {
namespace {

namespace fs = std::filesystem;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Recognizer {
 public:
  void read(const fs::path& file) {
    constexpr std::size_t kMostFiles = 200;
    if (seen_.size() > kMostFiles || !seen_.insert(file.lexically_normal()).second) return;
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    scan(text, file.parent_path());
  }
  [[nodiscard]] bool is_split_c() const { return library_ && construct_; }

 private:
  void scan(std::string_view text, const fs::path& folder) {
    bool line_start = true;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      const std::string_view rest = text.substr(at);
      if (rest.substr(0, 2) == "/*") {
        at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
      } else if (c == '"' || c == '\'') {
        at = end_of_literal(text, at);
      } else if (c == '#' && line_start) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        directive(text.substr(at + 1, end - at - 1), folder);
        ++at;  // macros may hold constructs
      } else {
        construct_ = construct_ || begins_construct(rest);
        ++at;
      }
      if (!is_blank(c)) line_start = c == '\n';
    }
  }

  static std::size_t end_of_literal(std::string_view text, std::size_t at) {
    const char mark = text[at++];
    for (; at < text.size() && text[at] != mark && text[at] != '\n'; ++at)
      if (text[at] == '\\') ++at;
    return at + 1;
  }

  void directive(std::string_view line, const fs::path& folder) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.substr(0, 7) != "include") return;
    const std::size_t open = line.find_first_of("<\"");
    if (open == std::string_view::npos) return;
    const std::size_t close = line.find_first_of(">\"", open + 1);
    const std::string name(line.substr(open + 1, close - open - 1));
    if (name.substr(0, 8) == "split-c/")
      library_ = true;
    else if (line[open] == '"')
      read(folder / name);
  }

  static bool begins_construct(std::string_view text) {
    if (text.substr(0, 2) == "::" || text.substr(0, 2) == ":=") return true;
    if (text.front() != '*') return false;
    text.remove_prefix(1);
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    const std::string_view word = text.substr(0, 6);
    return (word == "global" || word == "spread") && (text.size() == 6 || !is_word(text[6]));
  }

  std::set<fs::path> seen_;
  bool library_ = false;
  bool construct_ = false;
};

}  // namespace

bool is_split_c(const std::string& file) {
  Recognizer recognizer;
  recognizer.read(file);
  return recognizer.is_split_c();
}

}  // namespace viaduct::splitcc
