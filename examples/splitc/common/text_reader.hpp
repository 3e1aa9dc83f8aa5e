#pragma once
// Files of numbers, line by line, with errors that say where.

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "examples/splitc/common/bad_input.hpp"

namespace examples {

/// The whole file. Throws BadInput when it cannot be read, or is empty.
[[nodiscard]] std::string read_file(const std::string& path);

/// Throws BadInput when it cannot be written.
void write_file(const std::string& path, std::string_view contents);

/// Fields between blanks. Blank lines, and text behind a '#', are skipped.
class TextReader {
 public:
  explicit TextReader(std::string path) : path_(std::move(path)), text_(read_file(path_)) {}

  /// Goes on to the next line that has a field; false at the end of the file.
  [[nodiscard]] bool next_line();
  /// Whether this line has another field.
  [[nodiscard]] bool more() const { return !line_.empty(); }
  /// The next field of this line, which must be a number. @p what names it in the error.
  template <class T>
  [[nodiscard]] T number(const char* what);
  /// This line must have no other field.
  void end_line() const {
    if (more()) fail(fmt::format("'{}' is too much on this line", shown(field_ahead())));
  }
  /// Throws BadInput with "path:line: sentence".
  [[noreturn]] void fail(const std::string& sentence) const;

 private:
  [[nodiscard]] std::string_view field_ahead() const;
  /// Replaces bytes that a terminal should not get: the file may be no text at all.
  [[nodiscard]] static std::string shown(std::string_view field);
  void skip_blanks();

  std::string path_;
  std::string text_;
  std::size_t at_ = 0;      // where the next line begins
  std::size_t number_ = 0;  // of this line
  std::string_view line_;   // the rest of this line
};

template <class T>
T TextReader::number(const char* what) {
  const std::string_view field = field_ahead();
  if (field.empty()) fail(fmt::format("{} is missing", what));
  T value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::result_out_of_range)
    fail(fmt::format("{} '{}' is out of range", what, shown(field)));
  if (error != std::errc{} || end != field.data() + field.size())
    fail(fmt::format("{} must be {}number, not '{}'", what,
                     std::is_floating_point_v<T> ? "a "
                     : std::is_signed_v<T>       ? "a whole "
                                                 : "a whole non-negative ",
                     shown(field)));
  line_.remove_prefix(field.size());
  skip_blanks();
  return value;
}

}  // namespace examples
