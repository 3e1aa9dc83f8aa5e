#pragma once
/// @file
/// What the tests of calls check with: CHECK counts what is wrong in this thread, and says so.

#include <cstdio>

namespace viaduct::calls_test {

inline thread_local int wrong = 0;

inline void check(bool right, const char* what, int line) {
  if (right) return;
  ++wrong;
  std::fprintf(stderr, "line %d: %s\n", line, what);
}

}  // namespace viaduct::calls_test

#define CHECK(...) ::viaduct::calls_test::check((__VA_ARGS__), #__VA_ARGS__, __LINE__)
