#include "examples/splitc/common/text_reader.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace examples {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

std::string read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw BadInput(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  std::string contents;
  char piece[65536];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, file.get()))
    contents.append(piece, got);
  if (std::ferror(file.get()))
    throw BadInput(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (contents.empty()) throw BadInput(fmt::format("{} is empty", path));
  return contents;
}

void write_file(const std::string& path, std::string_view contents) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) throw BadInput(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  const bool written =
      std::fwrite(contents.data(), 1, contents.size(), file.get()) == contents.size();
  if (std::fclose(file.release()) != 0 || !written)
    throw BadInput(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

bool TextReader::next_line() {
  while (at_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = std::string_view(text_).substr(at_, end - at_);
    line_ = line_.substr(0, line_.find('#'));
    at_ = end + 1;
    ++number_;
    skip_blanks();
    if (more()) return true;
  }
  return false;
}

void TextReader::fail(const std::string& sentence) const {
  throw BadInput(fmt::format("{}:{}: {}", path_, number_, sentence));
}

std::string_view TextReader::field_ahead() const {
  return line_.substr(0, line_.find_first_of(kBlanks));
}

std::string TextReader::shown(std::string_view field) {
  constexpr std::size_t kMost = 40;
  std::string text(field.substr(0, kMost));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return field.size() > kMost ? text + "..." : text;
}

void TextReader::skip_blanks() {
  line_.remove_prefix(std::min(line_.find_first_not_of(kBlanks), line_.size()));
}

}  // namespace examples
