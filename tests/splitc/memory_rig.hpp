#pragma once
/// @file
/// What the tests of detail::Memory share: a job, a Memory and nothing of Split-C above it.

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "splitc/detail/heap.hpp"
#include "splitc/detail/memory.hpp"
#include "splitc/main/heap.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::splitc_test {

/// Thrown when the test cannot go on; its line has been printed.
struct Failed {};

/// Ends the rank's test when @p passed is false.
inline void require(bool passed, const std::string& what, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (passed) return;
  fmt::print(stderr, "{}:{}: {}\n", file, line, what);
  throw Failed{};
}

/// The sentence of the Error that @p call ends with; empty when it ends well.
template <class Call>
[[nodiscard]] std::string error_of(Call&& call) {
  try {
    call();
  } catch (const viaduct::Error& problem) {
    return problem.what();
  }
  return {};
}

/// Every rank's @p mine. Nobody polls; a fence before and after.
template <class T>
[[nodiscard]] std::vector<T> to_everybody(Job& job, const T& mine) {
  job.bootstrap().put("test", std::as_bytes(std::span<const T>(&mine, 1)));
  job.bootstrap().fence();
  std::vector<T> all(job.size());
  for (std::uint32_t r = 0; r < job.size(); ++r) {
    const auto bytes = job.bootstrap().get(Rank{r}, "test");
    require(bytes.size() == sizeof(T), "a rank put something else");
    std::memcpy(&all[r], bytes.data(), sizeof(T));
  }
  job.bootstrap().fence();
  return all;
}

/// main() of these tests: no splitc_main, hence no main() of viaduct::splitc.
inline int run_ranks(int (*body)(Job&, int, char**), int argc, char** argv) {
  splitc::detail::set_heap_hook(splitc::detail::heap_of_program());
  return viaduct::run(body, argc, argv);
}

}  // namespace viaduct::splitc_test
