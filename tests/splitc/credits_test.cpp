/// Processes that read long blocks from each other by messages, and are held up between a poll and
/// their next requests: then a count has come whose replies are still in the ring (docs/splitc.md,
/// Credits).

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "viaduct/splitc.hpp"

using splitc::global_ptr;

namespace {

constexpr std::size_t kLongs = 16 * 512;  // 16 blocks of a message
constexpr int kRounds = 200;

/// Runs in a poll, behind the look at other processes' messages.
int nap(int us) {
  usleep(static_cast<useconds_t>(us));
  return us;
}

long value(int process, std::size_t at) { return process * 100'000 + static_cast<long>(at); }

}  // namespace

int splitc_main(int, char**) {
  long* const mine = splitc::all_malloc<long>(kLongs);
  for (std::size_t i = 0; i < kLongs; ++i) mine[i] = value(MYPROC, i);
  std::vector<long> theirs(kLongs * static_cast<std::size_t>(PROCS));
  splitc::barrier();
  for (int round = 0; round < kRounds; ++round) {
    std::fill(theirs.begin(), theirs.end(), -1);
    for (int q = 1; q < PROCS; ++q) {
      const int p = (MYPROC + q) % PROCS;
      const global_ptr<long> from = splitc::toglobal(p, mine);
      long* const to = theirs.data() + kLongs * static_cast<std::size_t>(p);
      splitc::atomic_put<nap>(p, 100);
      splitc::bulk_get(to, from, kLongs);
      if (round % 2 == 0) splitc::get(to, from);  // and a message that is no block
    }
    splitc::sync();
    for (int p = 0; p < PROCS; ++p) {
      if (p == MYPROC) continue;
      for (std::size_t i = 0; i < kLongs; ++i) {
        if (theirs[kLongs * static_cast<std::size_t>(p) + i] == value(p, i)) continue;
        std::fprintf(stderr, "process %d: round %d: element %zu of process %d is wrong\n", MYPROC,
                     round, i, p);
        return 1;
      }
    }
  }
  splitc::barrier();
  return 0;
}
