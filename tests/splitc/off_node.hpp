#pragma once
/// @file
/// Which processes share no memory with this one, as tests must know it: from how the job was
/// started, not from the library that they test.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "viaduct/job.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {

/// Whether no two processes share memory.
[[nodiscard]] inline bool all_off_node() {
  const auto value = [](const char* variable) {
    const char* const text = std::getenv(variable);
    return std::string_view(text == nullptr ? "" : text);
  };
  return value("VIADUCT_SPLITC_OFF_NODE") == "yes" ||
         value("VIADUCT_PROVIDER").starts_with("verbs");
}
[[nodiscard]] inline bool is_remote(int process) {
  if (process == MYPROC) return false;
  return all_off_node() || !splitc::job().same_host(Rank{static_cast<std::uint32_t>(process)});
}
/// The same answer in all processes.
[[nodiscard]] inline bool any_off_node() {
  return PROCS > 1 && (all_off_node() || splitc::job().hosts() > 1);
}

}  // namespace viaduct::splitc_test
