/// @file
/// Breaks a rule of atomic_put(), as the argument says, and must not come to its end.

#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

int g_word = 0;

void nothing(int*) {}
void nowhere() {}
void writes() { write(toglobal(0, &g_word), 1); }
void stores() { store(toglobal(0, &g_word), 1); }
void syncs() { viaduct::splitc::sync(); }
void meets() { barrier(); }
void polls() { poll(); }
void calls() { atomic_put<nowhere>(0); }
void throws() { throw std::runtime_error("the cupboard is bare"); }

void err(std::string_view how) {
  const int other = PROCS - 1;
  if (how == "null") atomic_put<nothing>(global_ptr<int>());
  if (how == "nobody") atomic_put<nowhere>(PROCS + 5);
  if (how == "negative") atomic_put<nowhere>(-1);
  if (how == "write") atomic_put<writes>(other);
  if (how == "store") atomic_put<stores>(other);
  if (how == "sync") atomic_put<syncs>(other);
  if (how == "barrier") atomic_put<meets>(other);
  if (how == "poll") atomic_put<polls>(other);
  if (how == "atomic_put") atomic_put<calls>(other);
  if (how == "throw") atomic_put<throws>(other);
}

}  // namespace

int splitc_main(int, char** argv) {
  if (MYPROC == 0) {
    // The first call to a process goes another way than those that follow.
    if (std::string_view(argv[2]) == "later")
      for (int i = 0; i < 5; ++i) atomic_put<nowhere>(PROCS - 1);
    err(argv[1]);
    viaduct::splitc::sync();
  }
  barrier();
  std::puts("nothing stopped this process");
  return 3;
}
