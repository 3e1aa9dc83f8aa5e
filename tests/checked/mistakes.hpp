#pragma once
/// @file
/// Mistakes that checked mode finds, and the sentence that must come of each.

#include <string>

#include "tests/splitc/misuse.hpp"

namespace viaduct::splitc_test {

void add_access_mistakes(Misuses& all);
void add_memory_mistakes(Misuses& all);
void add_call_mistakes(Misuses& all);

/// "read at .../accesses.cpp:12: ", for a regular expression.
[[nodiscard]] inline std::string operation_at(const std::string& operation, const std::string& file,
                                              int line) {
  return operation + " at [^ ]*" + file + ":" + std::to_string(line) + ": ";
}
/// Without a file: the address of the code, and how it becomes a line.
[[nodiscard]] inline std::string operation_in_code(const std::string& operation) {
  return operation + " in the code before 0x[0-9a-f]+ .addr2line -Cife PROGRAM 0x[0-9a-f]+.: ";
}
/// "the 4 bytes at 0x... of process 1".
[[nodiscard]] inline std::string bytes_of(std::size_t bytes, int process) {
  return "the " + std::to_string(bytes) + " bytes at 0x[0-9a-f]+ of process " +
         std::to_string(process);
}
[[nodiscard]] inline std::string block_of(std::size_t bytes) {
  return "the block of " + std::to_string(bytes) + " bytes at 0x[0-9a-f]+";
}

}  // namespace viaduct::splitc_test
