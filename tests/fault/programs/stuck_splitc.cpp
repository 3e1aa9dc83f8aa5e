// A Split-C program that hangs in a known way. Process 0 waits for 100 stored bytes, of which
// process 1 sends 8; process 2 waits for nothing that comes, so that it never gets to what the
// others call:
//
//     stuck_splitc barrier | split | reduce | end
//     stuck_splitc lost        process 1 kills itself when its bytes have come

#include <csignal>
#include <cstdio>
#include <string_view>

#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;

namespace {

double g_place = 0;

void meet(std::string_view how) {
  if (how == "barrier") barrier();
  if (how == "reduce") (void)all_reduce_add(1);
  if (how == "split") {
    barrier_notify();
    if (MYPROC != 3) barrier_wait();
    while (MYPROC == 3) poll();
  }
}

}  // namespace

int splitc_main(int, char** argv) {
  const std::string_view how = argv[1];
  barrier();
  std::puts("goes");
  std::fflush(stdout);
  if (MYPROC == 1) store(toglobal(0, &g_place), 1.0);
  if (MYPROC == 0 && how == "lost") {
    while (!is_stored(8)) {
    }
    write(toglobal(1, &g_place), 1.0);
  }
  if (MYPROC == 0) store_sync(100);
  while (MYPROC == 2) poll();
  if (MYPROC == 1 && how == "lost") {
    while (read(toglobal(1, &g_place)) != 1.0) poll();
    ::raise(SIGKILL);
  }
  meet(how);
  return 0;
}
