/* Checks of programs in C that go on after a failure, say where it was, and count. */
#ifndef VIADUCT_TESTS_C_CHECKS_H
#define VIADUCT_TESTS_C_CHECKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not every program uses every helper. */
#define HELPER __attribute__((unused)) static

HELPER int failures;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

/* What a call must answer. */
#define WANT(result, call)                                                                      \
  do {                                                                                          \
    const int got_ = (int)(call);                                                               \
    if (got_ != (int)(result)) {                                                                \
      printf("%s:%d: %s answers %d instead of %s\n", __FILE__, __LINE__, #call, got_, #result); \
      ++failures;                                                                               \
    }                                                                                           \
  } while (0)

#endif
