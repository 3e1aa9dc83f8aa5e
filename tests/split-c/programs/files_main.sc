#include <split-c/split-c.h>
#include <split-c/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#include "files.h"
static wrong;
#define WANT(c) ((c) ? 0 : (wrong++, fprintf(stderr, "%s:%d: p%d: %s\n", __FILE__, __LINE__, MYPROC, #c)))

int elsewhere[PROCS]::[2];
char *text = "two
lines";

void assert_spread(void *spread p) { if (p == NULL) { printf("no
memory"); exit(1); } }

early_bounds()
{
  int q, r, i;
  int (*spread X)[q][r];
  int *global g;
  q = 2; r = 3;
  X = all_spread_malloc(PROCS * 2, q * r * sizeof(int));
  assert_spread(X);
  for_my_1D(i, 2 * PROCS) X[i][1][2] = i;
  barrier();
  for (i = 0; i < 2 * PROCS; i++) WANT(X[i][1][2] == i);
  g = X[1][1];
  WANT(g[2] == 1);
  g = &X[1][1][0];
  WANT(*(g + 2) == 1);
  barrier();
  fill(2, PROCS, 2, 3, X);
  WANT(total(0, 2, PROCS, 2, 3, X) == 2 * PROCS * 6);
  WANT(total(0, 2, PROCS, 2, 3, (int *spread) X) == 2 * PROCS * 6);
  { int *spread flat = (int *spread) X; WANT(total(0, 1, 1, 2, 3, flat) == 6); }
  barrier();
  all_spread_free(X);
}

mixed(n) int n;
{
  int a = 1, A[n]::, b = 2, B[n + 1]::[n][2], *c = &a, D[1]::[7];
  register int i;
  for_my_1D(i, n) A[i] = b;
  for_my_1D(i, n + 1) B[i][n - 1][1] = *c;
  on_one D[0][6] = 9;
  barrier();
  for (i = 0; i < n; i++) if (A[i] != 2) break;
  WANT(i == n);
  for (i = 0; i <= n; i++) { if (i == n - 1) continue; WANT(B[i][n - 1][1] == 1); }
  WANT(D[0][6] == 9);
  barrier();
  while (1) {
    int E[n]::;
    E[MYPROC % n] = 3;
    barrier();
    if (E[0] == 3) break;
    return 1;
  }
  {
    double F[n]::;
    if (n > 2) goto out;
    F[0] = 1;
  }
out:
  return n > 100 ? 1 : 0;
}

unprototyped()
{
  int i;
  for_my_1D(i, PROCS) { elsewhere[i][0] = 7 * i; elsewhere[i][1] = -i; }
  barrier();
  WANT(read_it(elsewhere, PROCS - 1) == 7 * (PROCS - 1));
  WANT(read_it(elsewhere + 1, PROCS - 2 >= 0 ? PROCS - 2 : 0) >= 0);
  WANT(count_in(elsewhere[PROCS - 1], 2) == -(PROCS - 1) + 7 * (PROCS - 1));
  WANT(count_in(&elsewhere[0][1], 1) == 0);
  WANT(count_in(elsewhere, 1) == 0);
  barrier();
  set_points(all_spread_malloc(PROCS, sizeof(point)));
  points[MYPROC].x = MYPROC;
  (points + MYPROC)->y = -MYPROC;
  barrier();
  WANT(points[PROCS - 1].x == PROCS - 1 && points[PROCS - 1].y == 1 - PROCS);
  { point p; p = points[0]; WANT(p.x == 0.0); WANT((*points).y == 0); WANT(points->x == 0); }
  barrier();
}

int splitc_main(argc, argv) int argc; char *argv[];
{
  int i;
  assert(argc >= 1);
  WANT(text[3] == '\n' && text[4] == 'l');
  early_bounds();
  WANT(mixed(5) == 0);
  WANT(mixed(1) == 0);
  unprototyped();
  shared_count = 4;
  WANT(other_count() == 4 && twice(4) == 8);
  for_my_1D(i, 20) header_array[i] = i;
  barrier();
  WANT(header_sum() == 190.0);
  per_file[0] = 1;
  barrier();
  set_file(2);
  barrier();
  WANT(per_file[0] == 1 && file_value() == 2);
  wrong = all_reduce_to_all_add(wrong);
  on_one printf("files %s\n", wrong ? "WRONG" : "right");
  return wrong;
}
