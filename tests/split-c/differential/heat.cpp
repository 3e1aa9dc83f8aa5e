// Heat in a rod of blocks, one block a process: borders by get, and their sums by store.
#include <viaduct/splitc.hpp>

#include <cstdio>

using namespace splitc;

constexpr int kCells = 17;
constexpr int kSteps = 25;
struct Block {
  double cell[kCells];
};
static double borders[2];

int splitc_main(int, char**) {
  const auto rod = all_spread_malloc<Block>(static_cast<std::size_t>(PROCS));
  double* mine = tolocal(rod)->cell;
  const auto cell_of = [&](int p, int i) { return toglobal(p, mine + i); };
  for (int i = 0; i < kCells; ++i) mine[i] = (MYPROC * kCells + i) % 7;
  barrier();
  for (int t = 0; t < kSteps; ++t) {
    double left = mine[0];
    double right = mine[kCells - 1];
    if (MYPROC > 0) get(&left, cell_of(MYPROC - 1, kCells - 1));
    if (MYPROC < PROCS - 1) get(&right, cell_of(MYPROC + 1, 0));
    splitc::sync();
    barrier();
    double next[kCells];
    for (int i = 0; i < kCells; ++i) {
      const double a = i > 0 ? mine[i - 1] : left;
      const double b = i < kCells - 1 ? mine[i + 1] : right;
      next[i] = mine[i] + 0.25 * (a - 2 * mine[i] + b);
    }
    for (int i = 0; i < kCells; ++i) mine[i] = next[i];
    borders[0] += left;
    borders[1] += right;
    barrier();
  }
  if (MYPROC > 0) store(toglobal(0, borders), borders[0] + MYPROC);
  all_store_sync();
  double total = 0;
  for (int i = 0; i < kCells; ++i) total += mine[i];
  total = all_reduce_to_one_add(total);
  if (MYPROC == 0) {
    for (int p = 0; p < PROCS; ++p)
      for (int i = 0; i < kCells; ++i) std::printf("%d %d %a\n", p, i, double(cell_of(p, i)[0]));
    std::printf("total %a right %a %s\n", total, borders[1], borders[0] == 0 ? "none" : "some");
  }
  barrier();
  all_spread_free(rod);
  return 0;
}
