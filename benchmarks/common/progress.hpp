#pragma once
/// @file
/// How far a benchmark of many runs is, on standard error.

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace viaduct::bench {

/// On a terminal one line that changes, and is gone at the end; elsewhere a line for each round.
class Progress {
 public:
  Progress(const char* program, std::uint32_t rounds)
      : program_(program), rounds_(rounds), on_terminal_(isatty(2) != 0) {}
  ~Progress() {
    if (on_terminal_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void begin(std::uint32_t round) const {
    if (!on_terminal_) fmt::print(stderr, "{}: round {} of {}\n", program_, round + 1, rounds_);
  }
  void at(std::uint32_t round, const std::string& what) const {
    if (on_terminal_) fmt::print(stderr, "\r\033[Kround {} of {}: {}", round + 1, rounds_, what);
  }

 private:
  const char* program_;
  std::uint32_t rounds_;
  bool on_terminal_;
};

}  // namespace viaduct::bench
