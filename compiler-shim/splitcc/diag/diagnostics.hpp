#pragma once
/// @file
/// Messages to the user: file, line, column, sentence, source line, caret, and a note with the rule
/// of the language.

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::splitcc {

/// A place in a source file. Columns count from 1; 0: unknown.
struct Place {
  int file = -1;
  int line = 0;
  int column = 0;
  int nth = 0;  // how many equal words stand before it in its line, in preprocessed text
};

enum class Severity : unsigned char { note, warning, error };

/// Warnings that have a name: -Wno-NAME turns one off.
enum class Warning : unsigned char {
  plain,
  discarded_qualifiers,  // gcc's name: -Wno-discarded-qualifiers turns off gcc's warnings, too
  get_before_sync,
  pointer_order,
  remote_loop,
  remote_pointer,
  count
};

/// Usages of old programs that are correct: warnings about them are counted, and shown only if
/// asked for.
enum class Idiom : unsigned char {
  block_pointer,       // a pointer to a block where one to its elements stands, and the reverse
  undeclared_library,  // a function of the C library that is called without a declaration
  undeclared_pointer,  // a function without a declaration whose result is a pointer
  endif_text,          // #endif NAME
  own_macro,           // a macro of a header that the program defines too
  own_name,            // a name of the C library that the program defines itself
  callback,            // a function with other types that is passed to qsort, signal and the like
  null_number,         // NULL where the number 0 is meant
  idle_word,           // typedef or static without a name behind it, names without a type
  void_value,          // a value that a void function returns
  loose_quote,         // an apostrophe in text that the preprocessor leaves out
  remote_loop,         // Warning::remote_loop, unless it is asked for
  never_returns,       // volatile void f(): a function that does not return
  count
};

/// How many warnings of each kind were left out.
using LeftOut = std::array<int, static_cast<std::size_t>(Idiom::count)>;

class Diagnostics {
 public:
  /// The index of a file's name.
  int file(std::string_view name);
  [[nodiscard]] const std::string& file_name(int index) const;

  void error(Place at, std::string_view word, const std::string& text,
             const std::string& rule = {});
  void warning(Warning which, Place at, std::string_view word, const std::string& text,
               const std::string& rule = {});
  void note(Place at, std::string_view word, const std::string& text);

  /// Whether the source line at @p at names @p word.
  [[nodiscard]] bool line_has(Place at, std::string_view word);

  void disable(Warning which) { disabled_[static_cast<std::size_t>(which)] = true; }
  void make_warnings_errors() { warnings_are_errors_ = true; }
  void silence_warnings() { no_warnings_ = true; }
  void set_color(bool on) { color_ = on; }
  void show_idioms() { idioms_shown_ = true; }
  void show_remote_loops() { remote_loops_shown_ = true; }
  /// Whether a warning about this usage is left out; counts it then.
  [[nodiscard]] bool leaves_out(Idiom which);
  /// A usage that was counted is an error after all.
  void is_error(Idiom which) {
    if (!idioms_shown_ && !no_warnings_ && !warnings_are_errors_)
      --left_out_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }

  [[nodiscard]] int errors() const { return errors_; }
  [[nodiscard]] bool is_full() const { return errors_ >= kMaxErrors; }
  /// Answers all messages so far, and forgets them.
  [[nodiscard]] std::string take();

  static constexpr int kMaxErrors = 20;

 private:
  void say(Severity severity, Place at, std::string_view word, const std::string& text,
           std::string_view flag);
  const std::vector<std::string>* lines_of(int file);
  const std::string* source_of(Place at);  // its line, or null

  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> index_;
  std::map<int, std::vector<std::string>> lines_;
  std::string out_;
  int last_line_ = -1;
  int last_file_ = -1;
  int errors_ = 0;
  bool disabled_[static_cast<std::size_t>(Warning::count)] = {};
  bool warnings_are_errors_ = false;
  bool no_warnings_ = false;
  bool color_ = false;
  bool idioms_shown_ = false;
  bool remote_loops_shown_ = false;
  LeftOut left_out_{};
};

/// The column of @p word in @p line: at @p column if it is there, else its nth occurrence, else 0.
[[nodiscard]] int find_column(std::string_view line, std::string_view word, int column, int nth);

/// One line about the warnings that were left out; empty when none was.
[[nodiscard]] std::string left_out_text(const LeftOut& counts);

/// The name of a warning, as in -Wno-NAME.
[[nodiscard]] const char* warning_name(Warning which);

}  // namespace viaduct::splitcc
