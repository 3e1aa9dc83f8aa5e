#include <split-c/split-c.h>
#include <split-c/control.h>
#include "files.h"
void fill(int v, int w, int q, int r, int X[v][w]::[q][r])
{
  int i, j, k, l;
  for_my_2D(i, j, v, w) for (k = 0; k < q; k++) for (l = 0; l < r; l++) X[i][j][k][l] = 1;
  barrier();
}
int total(int unused, int v, int w, int q, int r, int X[v][w]::[q][r])
{
  int i, j, k, l, sum = 0, buf[q][r];
  for (i = 0; i < v; i++) for (j = 0; j < w; j++) {
    bulk_get(buf, X[i][j], q * r * sizeof(int)); sync();
    for (k = 0; k < q; k++) for (l = 0; l < r; l++) sum += buf[k][l];
  }
  return sum;
}
long count_in(void *global g, int n) { int *global p = (int *global) g; long s = 0; while (n--) s += *p++; return s; }
read_it(a, i) int (*spread a)[2]; { return a[i][0]; }
set_points(p) point *spread p; { points = p; }
other_count() { return twice(shared_count) / 2; }
double header_sum() { double s = 0; int i; for (i = 0; i < 20; i++) s += header_array[i]; return s; }
int set_file(x) { per_file[0] = x; }
int file_value() { return per_file[0]; }
