// Step 6: Split-C. A spread array lies in all processes; a global pointer is used as a pointer.
//
//     viaduct-run -n 4 build/release/examples/step6_pointers

#include <cstdio>

#include <viaduct/splitc.hpp>

using namespace splitc;

int splitc_main(int, char**) {
  constexpr long kCount = 100;
  const auto squares = all_spread_malloc<long>(kCount);  // element i lies in process i mod PROCS
  for (long i = MYPROC; i < kCount; i += PROCS) squares[i] = i * i;  // this process' elements
  barrier();                                                         // all elements are there
  long sum = 0;
  for (long i = 0; i < kCount; ++i) sum += squares[i];  // in any process
  long all[kCount];
  for (long i = 0; i < kCount; ++i) get(&all[i], squares + i);  // 100 reads under way at once
  splitc::sync();                                               // all have come
  std::printf("process %d of %d: the sum is %ld, the last is %ld\n", MYPROC, PROCS, sum,
              all[kCount - 1]);
  all_spread_free(squares);
  return sum == 328350 && all[99] == 9801 ? 0 : 1;
}
