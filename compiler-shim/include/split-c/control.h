/* split-c/control.h: which process executes a statement, and which turn of a loop. */
#ifndef SPLIT_C_CONTROL_H
#define SPLIT_C_CONTROL_H

#include <split-c/split-c.h>

#define on_proc(process) if (MYPROC == (process))
#define on_one on_proc(0)

/* i: the elements 0 to n - 1 of a spread array of n elements that lie in this process. */
#define for_my_1D(i, n) for ((i) = MYPROC; (i) < (n); (i) += PROCS)
/* C90 has no macros of so many arguments as are given; its compilers here do, and warn when asked to be pedantic. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvariadic-macros"
#endif
/* i, j: those of a spread array of n rows and m columns. With five arguments the third is a variable
 * too: the element's number, i * m + j. */
#define for_my_2D(...) \
  __SPLITC_FIFTH(__VA_ARGS__, __SPLITC_MY_2D, __SPLITC_MY_2D_OF_4, unused)(__VA_ARGS__)
#define __SPLITC_FIFTH(a, b, c, d, e, name, ...) name
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#define __SPLITC_MY_2D(i, j, l, n, m)                                                   \
  for ((l) = MYPROC; (l) < (n) * (m) ? ((i) = (l) / (m), (j) = (l) % (m), 1) : 0; (l) += PROCS)
#define __SPLITC_MY_2D_OF_4(i, j, n, m)                   \
  for ((i) = MYPROC / (m), (j) = MYPROC % (m); (i) < (n); \
       (j) += PROCS, (i) += (j) / (m), (j) %= (m))
#define for_my_1d(i, n) for_my_1D(i, n)
#define for_my_2d for_my_2D

#endif
