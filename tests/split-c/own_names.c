/* A program that has functions of its own by the library's names. */

#include "tests/split-c/check.h"

static int calls_;

int all_bcast(int value) {
  ++calls_;
  return value + 1000;
}
double all_reduce_to_all_dmax(double value) { return -value; }
unsigned long get_ctr(void) { return 17; }

int splitc_main(int argc, char** argv) {
  (void)argv;
  CHECK(all_bcast(argc) == argc + 1000 && calls_ == 1);
  CHECK(all_reduce_to_all_dmax(2.5) == -2.5 && get_ctr() == 17);
  CHECK(all_bcast_i(MYPROC) == 0);
  CHECK(all_reduce_to_all_max(MYPROC) == PROCS - 1);
  return all_reduce_to_all_add(failures_) != 0;
}
