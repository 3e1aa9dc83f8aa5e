// Each process writes its number into its right neighbour's memory; then all add up what they got.
#include <cstdio>
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  const int me = upcxx::rank_me();
  const int processes = upcxx::rank_n();
  upcxx::dist_object<upcxx::global_ptr<int>> from_left(upcxx::new_<int>(0));
  const upcxx::global_ptr<int> right = from_left.fetch((me + 1) % processes).wait();
  upcxx::rput(me, right).wait();
  upcxx::barrier();
  const int mine = *from_left->local();
  const int sum = upcxx::reduce_all(mine, upcxx::op_fast_add).wait();
  std::printf("process %d has %d, the sum is %d\n", me, mine, sum);
  upcxx::barrier();
  upcxx::delete_(*from_left);
  upcxx::finalize();
  return sum == processes * (processes - 1) / 2 ? 0 : 1;
}
