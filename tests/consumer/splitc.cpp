// A user's Split-C program, outside this repository: it sees what is installed and nothing else.
// Every process asks its neighbour for a number: one that is static, one that malloc has given.

#include <cstdio>
#include <memory>
#include <viaduct/runtime/version.hpp>
#include <viaduct/splitc.hpp>

static int g_number = 0;

int splitc_main(int, char**) {
  const auto on_heap = std::make_unique<int>(2000 + MYPROC);
  g_number = 1000 + MYPROC;
  const auto places = splitc::all_gather(splitc::toglobal(on_heap.get()));
  splitc::barrier();
  const int next = (MYPROC + 1) % PROCS;
  const int of_static = splitc::read(splitc::toglobal(next, &g_number));
  const int of_heap = *places[static_cast<std::size_t>(next)];
  const int sum = splitc::all_reduce_add(of_static + of_heap);
  if (of_static != 1000 + next || of_heap != 2000 + next) return 1;
  if (sum != 3000 * PROCS + PROCS * (PROCS - 1)) return 1;
  std::printf("viaduct %s: rank %d of %d has its neighbour's number\n", viaduct::kVersion, MYPROC,
              PROCS);
  splitc::barrier();
  return 0;
}
