#pragma once
/// @file
/// What breaks a rule of Split-C, and the sentence that must come of it.

#include <functional>
#include <string>
#include <vector>

#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {

/// Exit codes of a job that a sentence has stopped, and of one that an Error has ended.
inline constexpr int kStopped = 134;
inline constexpr int kThrew = 1;

struct Misuse {
  std::string name;
  int code;
  std::string words;  // an extended regular expression that the sentence must match
  std::function<void()> act;
  bool is_usual = false;   // among those that are tried on every path and number of processes
  bool everybody = false;  // else process 0 alone errs
};
using Misuses = std::vector<Misuse>;

void add_pointer_misuses(Misuses& all);
void add_function_misuses(Misuses& all);
void add_memory_misuses(Misuses& all);
void add_lock_misuses(Misuses& all);

[[nodiscard]] inline int next_process() { return (MYPROC + 1) % PROCS; }
/// "[rank 1] read: ", for a regular expression. @p process counts from process 0.
[[nodiscard]] inline std::string rank_says(int process, const std::string& operation) {
  return "rank " + std::to_string(process % PROCS) + ". " + operation + ": ";
}
[[nodiscard]] inline std::string processes() {
  return "but the job has the processes 0 to " + std::to_string(PROCS - 1);
}

}  // namespace viaduct::splitc_test
