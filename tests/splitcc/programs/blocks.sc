#include <stdio.h>
#include <split-c/split-c.h>
#include <split-c/control.h>
/* Blocks of matrices in spread arrays, and a graph whose edges are global pointers. */
#define B 3
void matrix_mult(int n, int m, int r, double c[n][m], double a[n][r], double b[r][m])
{ int i, j, k; for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < r; k++) c[i][j] += a[i][k] * b[k][j]; }
void all_mat_mult_blk(int n, int r, int m, int b, double C[n][m]::[b][b], double A[n][r]::[b][b], double Bm[r][m]::[b][b])
{
  int i, j, k, l;
  double la[b][b], lb[b][b];
  for_my_2D(i, j, l, n, m) {
    double (*lc)[b] = tolocal(C[i][j]);
    for (k = 0; k < r; k++) {
      bulk_read(la, A[i][k], b*b*sizeof(double));
      bulk_read(lb, Bm[k][j], b*b*sizeof(double));
      matrix_mult(b, b, b, lc, la, lb);
    }
  }
  barrier();
}
typedef struct node_t { double value; int edge_count; double *coeffs; double *global (*values); struct node_t *next; } graph_node;
typedef struct ghost { double value; double *global eval; struct ghost *next; } ghost_node;
ghost_node *ghosts; graph_node *e_nodes;
void all_compute_E()
{
  graph_node *n; ghost_node *g; int i;
  for (g = ghosts; g; g = g->next) g->value := *(g->eval);
  sync();
  for (n = e_nodes; n; n = n->next) {
    double v = n->value;
    for (i = 0; i < n->edge_count; i++) v = v - *(n->values[i]) * n->coeffs[i];
    n->value = v;
  }
  barrier();
}
static double P[4][4]::[B][B], Q[4][4]::[B][B], R[4][4]::[B][B];
splitc_main()
{
  int i, j, k, l, x, y; double want = 0;
  for_my_2D(i, j, l, 4, 4) for (x = 0; x < B; x++) for (y = 0; y < B; y++) { P[i][j][x][y] = i + j + x; Q[i][j][x][y] = i * y - j; }
  barrier();
  all_mat_mult_blk(4, 4, 4, B, R, P, Q);
  for (k = 0; k < 4; k++) for (x = 0; x < B; x++) want += P[1][k][2][x] * Q[k][3][x][1];
  on_one printf("%g %g\n", R[1][3][2][1], want);
  all_compute_E();
  return want != R[1][3][2][1];
}
