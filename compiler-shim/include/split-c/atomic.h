/* split-c/atomic.h: atomic operations on global memory whose names are common in programs too. */
#ifndef SPLIT_C_ATOMIC_H
#define SPLIT_C_ATOMIC_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the value and answers the value before. */
int exchange(__SPLITC_GLOBAL(volatile int) at, int value);

#ifdef __cplusplus
}
#endif

#endif
