#pragma once
// The start and end of every program here: its command line, its output, the agreement of all
// processes that an input is bad, and the verdict of its check.
//
// All processes get the same command line, so all of them find the same mistake in it and return
// the same exit code; process 0 alone prints the sentence. A file is different: one process reads
// it, and the others must learn whether the reading succeeded before they go on. together() does
// that.

#include <cstdint>
#include <functional>
#include <string>

#include <fmt/core.h>

#include <viaduct/splitc.hpp>
#include "examples/splitc/common/bad_input.hpp"
#include "runtime/program/command_line.hpp"

namespace examples {

/// Prints in process 0 alone.
template <class... A>
void say(fmt::format_string<A...> format, A&&... arguments) {
  if (MYPROC == 0) fmt::print(format, std::forward<A>(arguments)...);
}

class Program {
 public:
  Program(const std::string& name, const std::string& what_it_does);

  /// To declare options and arguments with.
  [[nodiscard]] viaduct::program::CommandLine& options() noexcept { return command_line_; }

  /// Reads the command line, runs @p body, and answers the exit code of the job: the body's own, 0
  /// after --help, 2 when the input is bad.
  int run(int argc, char** argv, const std::function<int()>& body);

 private:
  viaduct::program::CommandLine command_line_;
};

/// Collective. Runs @p f in every process; f makes no collective calls. When it throws in one of
/// them the first such process prints why, and all processes end the program with exit code 2.
void together(const std::function<void()>& f);
/// The same with @p f running in process 0 alone.
void on_process_0(const std::function<void()>& f);

/// Collective: the end of every program. @p wrong is the mistake that this process found, or empty.
/// Prints "verified: @p checked" when no process found a mistake, and answers the exit code.
[[nodiscard]] int verdict(const std::string& wrong, const std::string& checked);

/// Collective. Measures from one barrier to another, so that all processes agree on the time.
class Stopwatch {
 public:
  Stopwatch();
  /// Prints time and rate: @p amount of @p unit in the time. Answers the time in seconds.
  double stop(double amount, const std::string& unit);

 private:
  double start_;
};

/// "heat: step 300 of 1000 (30 %), 5 s to go", on process 0's standard error, every two seconds.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total);
  /// Cost: reads the clock, in process 0.
  void at(std::uint64_t done);

 private:
  std::string what_;
  std::uint64_t total_;
  double start_;
  double next_;
};

}  // namespace examples
