#pragma once
/// @file
/// The command line of splitcc.

#include <string>
#include <vector>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"
#include "compiler-shim/splitcc/lex/token.hpp"

namespace viaduct::splitcc {

enum class Stage : unsigned char { preprocess, translate, assembly, object, link };

enum class Language : unsigned char { split_c, c, cxx, other, object };

struct Input {
  std::string name;
  Language language = Language::object;
  bool is_told = false;  // -x gives the language
};

struct Options {
  Stage stage = Stage::link;
  std::vector<Input> inputs;            // objects and libraries keep their order
  std::string output;                   // -o
  std::vector<std::string> preprocess;  // for gcc -E: -I, -D and so on
  std::vector<std::string> compile;     // for gcc on the generated C
  std::vector<std::string> cxx;         // as given, for other languages
  std::vector<std::string> link;        // flags; -l and -L are among the inputs
  std::vector<Warning> disabled;
  std::string standard = "gnu89";
  std::string c_standard;                     // -std as given, for C files
  std::string cxx_standard = "-std=gnu++20";  // for C++; viaduct/splitc.hpp is C++20
  bool verbose = false;
  bool sequential = false;
  bool short_enums = false;
  bool show_idioms = false;
  bool show_remote_loops = false;
  bool zero_automatics = true;
  bool checked = false;  // the program looks for races as it runs
  bool no_warnings = false;
  bool warnings_are_errors = false;
  bool color = false;
  bool help = false;
  bool version = false;
  bool print_makefile = false;

  [[nodiscard]] Standard dialect() const {
    return standard == "gnu89"   ? Standard::gnu89
           : standard == "gnu99" ? Standard::gnu99
                                 : Standard::gnu11;
  }
};

/// A mistake in a command line, as a sentence.
struct UsageError {
  std::string text;
};

/// Throws UsageError.
[[nodiscard]] Options parse_options(const std::vector<std::string>& args);
[[nodiscard]] std::string help_text();

}  // namespace viaduct::splitcc
