#pragma once
/// @file
/// Command lines of this project's own programs: the launcher, tools, benchmarks, examples and
/// tests. One source file implements them with CLI11, so that no program compiles that header. The
/// library does not contain this, and it is not installed.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::program {

/// Writes what stdio holds of standard output and then @p text: the end of a program that prints
/// its results.  Throws Error when they cannot be written.
void write_out(std::string_view text = {});

/// Declares options and arguments, each with the variable that receives its value, then reads the
/// command line. --help is always there, and so is --list-options, which --help does not show: it
/// prints the option table for the programs that make man pages and completion. Numbers are
/// decimal, with or without zeros in front. Not for several threads at once.
///
/// Errors   a declaration that contradicts itself (two options of one name) throws std::exception.
class CommandLine {
  struct Impl;
  struct Entry;

 public:
  /// One declared option, to say more about it. Each function answers the same option.
  class Option {
   public:
    /// Whole numbers from @p least to @p most, both included.
    Option within(std::int64_t least, std::int64_t most) const;
    /// Numbers from @p least to @p most, both included; never "nan".
    Option within_reals(double least, double most) const;
    Option one_of(const std::vector<std::string>& words) const;
    /// @p complaint answers why it refuses a text, or nothing. --help shows @p type_name.
    Option check(std::string (*complaint)(const std::string& text), const char* type_name) const;
    Option required() const;
    Option needs(Option other) const;
    Option excludes(Option other) const;
    /// Several values stand in one word, with @p separator between.
    Option separated_by(char separator) const;
    /// One value each time that the option is given.
    Option one_at_a_time() const;
    /// Numbers may end in k, m, g (powers of 1024), with or without b.
    Option with_size_units() const;
    /// --help shows the variable's present value.
    Option shows_default() const;
    /// --help shows @p text in place of the variable's present value.
    Option shows_default(const char* text) const;
    /// The variable becomes @p value, and --help shows it.
    Option default_value(const char* value) const;
    /// --help does not list it.
    Option hidden() const;

   private:
    friend class CommandLine;
    explicit Option(Entry& entry) : entry_(&entry) {}
    Entry* entry_;
  };

  enum class Parsed {
    go_on,
    answered,  ///< --help or another question: text() is for standard output, the exit code is 0
    refused    ///< text() says what is wrong, without the program's name; the exit code is 2
  };
  static constexpr int kBadCommandLine = 2;  ///< the exit code

  /// @p name: of the program, for --help; without one it is argv[0].
  explicit CommandLine(const std::string& description, const std::string& name = {});
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Declares an option ("--count", "-n,--count") or an argument ("FILE"). @p variable, which must
  /// outlive parse(), keeps its value when the option is not given.
  Option option(const char* names, int& variable, const char* help);
  Option option(const char* names, std::uint32_t& variable, const char* help);
  Option option(const char* names, std::uint64_t& variable, const char* help);
  Option option(const char* names, double& variable, const char* help);
  Option option(const char* names, std::string& variable, const char* help);
  Option option(const char* names, std::vector<std::uint32_t>& variable, const char* help);
  Option option(const char* names, std::vector<std::string>& variable, const char* help);
  /// An option without a value: @p variable becomes true.
  Option flag(const char* names, bool& variable, const char* help);
  /// An option that prints the text that @p answer returns; the program then ends with exit code 0.
  void question(const char* names, const char* help, std::string (*answer)());

  /// Declares a command ("doctor"), which has options of its own. At most one can be given.
  CommandLine& command(const char* name, const char* description);

  /// --help shows the variables' values as defaults of all options that are declared from here on.
  void show_defaults();
  /// --help begins with this line in place of the one made from the options.
  void set_usage(const char* line);
  /// --help ends with this.
  void set_footer(const char* text);
  /// Options end at the first word that is none; remaining() has it and all behind it.
  void stop_at_first_argument();

  /// Reads the command line into the variables.
  [[nodiscard]] Parsed parse(int argc, char** argv);
  /// The text that parse() has made.
  [[nodiscard]] const std::string& text() const noexcept;

  /// Prints text() to standard output.  False: that cannot be written, as a message has said.
  [[nodiscard]] bool print_answer() const;

  /// As parse(), and prints text(). True: go on. False: the program is to end with @p exit_code,
  /// which is 1 where the text cannot be written.
  /// Where several ranks read the same command line, only one @p speaks.
  [[nodiscard]] bool read(int argc, char** argv, int& exit_code, bool speaks = true);

  /// After parse(): whether option @p name was given; whether this command was.
  [[nodiscard]] bool given(const char* name) const;
  [[nodiscard]] bool chosen() const;
  [[nodiscard]] std::vector<std::string> remaining() const;
  [[nodiscard]] const std::string& name() const;

 private:
  explicit CommandLine(std::unique_ptr<Impl> impl);
  template <class T>
  Option declare(const char* names, T& variable, const char* help);

  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::program
