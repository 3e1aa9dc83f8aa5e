/* Goes over memory of this process in several ways, each a function that callgrind counts: see instructions.sh. */
#include <split-c/split-c.h>

enum { COUNT = 20000 };
static int A[PROCS * COUNT]::;

#define WAY int __attribute__((__noinline__, __noclone__))

WAY by_local_pointer(int *p, int n) {
  int i, sum = 0;
  for (i = 0; i < n; i++) sum += *p++;
  return sum;
}

WAY by_global_pointer(int *global g, int n) {
  int i, sum = 0;
  for (i = 0; i < n; i++) sum += *g++;
  return sum;
}

WAY by_global_index(int *global g, int n) {
  int i, sum = 0;
  for (i = 0; i < n; i++) sum += g[i];
  return sum;
}

WAY backwards(int *global g, int n) {
  int sum = 0;
  for (g += n; n > 0; n--) sum += *--g;
  return sum;
}

WAY by_spread_index(int n) {
  int i, sum = 0;
  for (i = 0; i < n; i++) sum += A[i];
  return sum;
}

WAY write_spread(int n) {
  int i;
  for (i = 0; i < n; i++) A[i] = i;
  return 0;
}

WAY put_spread(int n) {
  int i;
  for (i = 0; i < n; i++) A[i] := i;
  sync();
  return 0;
}

WAY store_spread(int n) {
  int i;
  for (i = 0; i < n; i++) A[i] :- i;
  all_store_sync();
  return 0;
}

int splitc_main(int argc, char **argv) {
  int *global g = toglobal(MYPROC, tolocal(&A[MYPROC]));
  int i, wanted = 0;
  for (i = 0; i < COUNT; i++) {
    tolocal(g)[i] = i;
    wanted += i;
  }
  if (by_local_pointer(tolocal(g), COUNT) != wanted) return 1;
  if (by_global_pointer(g, COUNT) != wanted) return 2;
  if (by_global_index(g, COUNT) != wanted) return 3;
  if (backwards(g, COUNT) != wanted) return 4;
  if (by_spread_index(COUNT) != wanted) return 5;
  write_spread(COUNT);
  put_spread(COUNT);
  store_spread(COUNT);
  return by_local_pointer(tolocal(g), COUNT) != wanted;
}
