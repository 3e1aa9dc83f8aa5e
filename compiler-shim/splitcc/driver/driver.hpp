#pragma once
/// @file
/// Carries out a command line of splitcc.

#include <map>
#include <string>
#include <vector>

#include "compiler-shim/splitcc/driver/installation.hpp"
#include "compiler-shim/splitcc/driver/options.hpp"
#include "compiler-shim/splitcc/driver/process.hpp"
#include "compiler-shim/splitcc/driver/translate.hpp"

namespace viaduct::splitcc {

class Driver {
 public:
  explicit Driver(Options options);
  /// The exit code: 0, or 1 after any error.
  int run();

 private:
  int compile(const Input& input, std::string& object);
  int split_c(const Input& input, const std::string& output);
  int other(const Input& input, const std::string& output);
  int preprocess(const Input& input, std::string& text);
  bool join_headers(const Input& input, const std::string& messages, const std::string& beside);
  int compile_c(const Input& input, const Translation& translation, const std::string& output);
  void rename_own_symbols();
  int link();
  int execute_c(const std::vector<std::string>& command);
  int execute(const std::vector<std::string>& command);
  [[nodiscard]] std::vector<std::string> header_options() const;
  [[nodiscard]] std::vector<std::string> cxx_header_options() const;
  [[nodiscard]] std::vector<std::string> zero_options() const;
  [[nodiscard]] std::vector<std::string> checked_options() const;
  [[nodiscard]] bool is_library_of_the_time(const std::string& name) const;
  void say_gcc(const std::string& text);
  void count_left_out(const Diagnostics& diagnostics);
  void show(const std::vector<std::string>& command) const;
  void refuse_output_over_input() const;
  [[nodiscard]] std::string output_of(const Input& input, const char* ending) const;
  [[nodiscard]] std::vector<std::string> dependency_options(const Input& input) const;
  void name_originals(const std::vector<std::string>& command, std::string& text) const;

  Options options_;
  Installation installation_;
  TemporaryFolder folder_;
  std::map<std::string, std::string> copies_;  // gcc -E reads them instead of the user's files
  LeftOut left_out_{};
  bool color_ = false;
};

}  // namespace viaduct::splitcc
