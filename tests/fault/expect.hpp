#pragma once
/// @file
/// Expectations of a rank, which may be a thread: one that fails is printed and counted, and the
/// rank goes on.

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace viaduct::test {

inline constinit thread_local int failures = 0;

inline void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  fmt::print(stderr, "{}\n", what);
}

template <class A, class B>
void expect_equal(const A& got, const B& wanted, const std::string& what) {
  expect(got == wanted, fmt::format("{}: {} instead of {}", what, got, wanted));
}

}  // namespace viaduct::test
