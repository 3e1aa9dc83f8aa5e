// What a peer costs a process of Split-C by message, measured: the memory of process 0 before and
// after it has exchanged words and blocks with each of the others.
//
//     VIADUCT_SPLITC_PATH=message viaduct-run -n N memory_splitc [BUDGET]
//
// BUDGET is in bytes, 65536 where none is given. Process 0 and its peers take turns, and all memory
// that a channel has is touched. The first peer is not measured: it pays for code and tables that
// all share.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/stress/memory_use.hpp"
#include "viaduct/splitc.hpp"

using namespace splitc;

namespace {

constexpr std::size_t kBytes = 256 * 1024;  // twice all staging blocks
constexpr int kWords = 200;                 // several laps of a ring

std::int64_t turn;  // a store into it says that the other process is to go on
std::int64_t words[kWords];
char block[kBytes];

void talk(int to, std::vector<char>& own) {
  for (int i = 0; i < kWords; ++i) put(toglobal(to, &words[i]), std::int64_t{i});
  splitc::sync();
  for (int i = 0; i < kWords; ++i)
    if (read(toglobal(to, &words[i])) != i) std::exit(3);
  bulk_write(toglobal(to, block), own.data(), own.size());
  bulk_read(own.data(), toglobal(to, block), own.size());
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::size_t budget = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64 * 1024;
  std::vector<char> own(kBytes, 'x');
  if (PROCS < 3) return 2;
  if (MYPROC != 0) {
    store_sync(sizeof turn);
    talk(0, own);
    store(toglobal(0, &turn), std::int64_t{1});
    barrier();
    return 0;
  }
  (void)stress::use_now();
  std::vector<std::ptrdiff_t> growth;
  for (int peer = 1; peer < PROCS; ++peer) {
    const std::size_t before = stress::use_now().resident;
    talk(peer, own);
    store(toglobal(peer, &turn), std::int64_t{1});
    store_sync(sizeof turn);
    const std::size_t after = stress::use_now().resident;
    if (peer > 1) growth.push_back(static_cast<std::ptrdiff_t>(after - before));
  }
  const std::size_t each = stress::mean_growth(growth);
  std::printf("memory: %d active peers: %zu bytes resident each, measured (budget %zu)\n",
              PROCS - 2, each, budget);
  if (each > budget)
    for (const std::ptrdiff_t bytes : growth) std::printf("memory: a peer: %td bytes\n", bytes);
  barrier();
  return each <= budget ? 0 : 1;
}
