/* Checks of C programs: a failed one is said and counted, and ends the program with code 1. */
#ifndef TESTS_SPLIT_C_CHECK_H
#define TESTS_SPLIT_C_CHECK_H

#include <split-c/split-c.h>
#include <stdio.h>

static int failures_ __attribute__((unused));

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      ++failures_;                                                                        \
      fprintf(stderr, "%s:%d: process %d: %s\n", __FILE__, __LINE__, MYPROC, #condition); \
    }                                                                                     \
  } while (0)

#endif
