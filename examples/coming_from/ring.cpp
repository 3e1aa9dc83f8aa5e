// Each process writes its number into its right neighbour's memory; then all add up what they got.
//
//     viaduct-run -n 4 build/release/examples/ring

#include <cstdio>

#include <viaduct/splitc.hpp>

using namespace splitc;

int from_left;  // a static object has one address in all processes

int splitc_main(int, char**) {
  const int right = (MYPROC + 1) % PROCS;
  write(toglobal(right, &from_left), MYPROC);
  barrier();
  const int sum = all_reduce_add(from_left);
  std::printf("process %d has %d, the sum is %d\n", MYPROC, from_left, sum);
  return sum == PROCS * (PROCS - 1) / 2 ? 0 : 1;
}
