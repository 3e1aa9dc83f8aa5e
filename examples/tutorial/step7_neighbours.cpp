// Step 7: stores. Each process tells its two neighbours its value and waits for theirs: one counter
// for each neighbour, and two places for the values, since a neighbour may be one step ahead.
//
//     viaduct-run -n 4 build/release/examples/step7_neighbours

#include <cstdio>

#include <viaduct/splitc.hpp>

using namespace splitc;

constexpr store_counter from_left{0};
constexpr store_counter from_right{1};

struct Edges {
  double left[2];
  double right[2];
};
Edges edges;  // a static object has one address in all processes

int splitc_main(int, char**) {
  const int left = (MYPROC + PROCS - 1) % PROCS;
  const int right = (MYPROC + 1) % PROCS;
  double mine = MYPROC;
  for (int step = 0; step < 100; ++step) {
    const int turn = step % 2;
    store(toglobal(left, &edges.right[turn]), mine, from_right);  // I am its right neighbour
    store(toglobal(right, &edges.left[turn]), mine, from_left);
    from_left.wait(sizeof(double));
    from_right.wait(sizeof(double));
    mine = (edges.left[turn] + mine + edges.right[turn]) / 3;
  }
  const double sum = all_reduce_add(mine);
  std::printf("process %d: %.3f\n", MYPROC, mine);
  const double wanted = PROCS * (PROCS - 1) / 2.0;  // averaging keeps the sum
  return sum > wanted - 1e-6 && sum < wanted + 1e-6 ? 0 : 1;
}
