/* Idioms of image programs: blocks of a spread array, borders of neighbours, a transpose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/time.h>
#include <unistd.h>
#include <split-c/split-c.h>
#include <split-c/control.h>
#define DEBUG 0
#define mapRow(v,w,p) ((p) / (w))
#define mapCol(v,w,p) ((p) % (w))
#define CHARS 256
typedef struct image { int v, w, q, r; int (*spread X); char *name; } image_t, *image_p;
FILE *outfile;
int global_count, spread_count; /* words that are keywords only behind a star */
struct { int global; int spread; } words;
static char buffer[CHARS];
double time_it();
void all_fill(int v, int w, int q, int r, int X[v][w]::[q][r], int (*fn)());
int pattern(i, j) { return (i * 7 + j * 13) % 101; }
#ifdef __STDC__
static int proto(int global, char *p) { int spread = 0; return global + (p != 0) + spread; }
#endif
int select_k(int k, int n, int a[n])
{
  int i, j, t;
  for (i = 0; i < n; i++) for (j = i + 1; j < n; j++) if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t; }
  return a[k];
}
void all_fill(int v, int w, int q, int r, int X[v][w]::[q][r], int (*fn)())
{
  register int i, j, ii = mapRow(v,w,MYPROC), jj = mapCol(v,w,MYPROC);
  int (*loc)[r];
  if (ii >= v) { barrier(); return; }
  loc = tolocal(X[ii][jj]);
  for (i = 0; i < q; i++)
    for (j = 0; j < r; j++)
      loc[i][j] = (*fn)(ii * q + i, jj * r + j);
  barrier();
}
void ghosts(int v, int w, int q, int r, int X[v][w]::[q][r], int N[r], int S[r], int W[q], int E[q])
{
  int ii = mapRow(v,w,MYPROC), jj = mapCol(v,w,MYPROC), k;
  if (ii < v) {
  if (ii > 0) bulk_get(N, &(X[ii-1][jj][q-1][0]), r * sizeof(int)); else for (k = 0; k < r; k++) N[k] = -1;
  if (ii < v - 1) bulk_get(S, X[ii+1][jj][0], r * sizeof(int)); else memset(S, 0xff, r * sizeof(int));
  if (jj > 0) for (k = 0; k < q; k++) W[k] := X[ii][jj-1][k][r-1]; else for (k = 0; k < q; k++) W[k] = -1;
  for (k = 0; k < q; k++) if (jj < w - 1) E[k] := X[ii][jj+1][k][0]; else E[k] = -1;
  }
  sync();
  barrier();
}
int check(int v, int w, int q, int r, int X[v][w]::[q][r])
{
  int N[r], S[r], W[q], E[q], bad = 0, k, ii, jj;
  ii = mapRow(v,w,MYPROC); jj = mapCol(v,w,MYPROC);
  ghosts(v, w, q, r, X, N, S, W, E);
  if (ii >= v) return 0;
  for (k = 0; k < r; k++) { bad += N[k] != (ii ? pattern(ii * q - 1, jj * r + k) : -1); bad += S[k] != (ii < v - 1 ? pattern(ii * q + q, jj * r + k) : -1); }
  for (k = 0; k < q; k++) { bad += W[k] != (jj ? pattern(ii * q + k, jj * r - 1) : -1); bad += E[k] != (jj < w - 1 ? pattern(ii * q + k, jj * r + r) : -1); }
  return bad;
}
void print_usage(char *prog) { on_one fprintf(stderr,"usage: %s [n]\n", prog); exit(1); }
splitc_main(int argc, char *argv[])
{
  int v, w, q, r, n = 24, i, bad, *hist, total, c;
  int *spread image; int *spread H;
  double secs;
  extern char *optarg;
  outfile = stdout;
  while ((c = getopt(argc, argv, "n:h")) != EOF)
    switch (c) { case 'n': n = atoi(optarg); break; case 'h': default: print_usage(argv[0]); }
  for (v = 1; v * v <= PROCS; v++) ; v--; while (PROCS % v) v--; w = PROCS / v;
  q = n; r = n / 2;
  image = all_spread_malloc(v * w, q * r * sizeof(int));
  if (image == NULL) { fprintf(outfile, "no memory\n"); exit(-1); }
  barrier(); secs = get_seconds();
  all_fill(v, w, q, r, image, pattern);
  bad = check(v, w, q, r, image);
  { int (*spread X)[q][r]; X = (int (*spread)[q][r]) image; if (X[PROCS - 1][q - 1][r - 1] != pattern((v - 1) * q + q - 1, (w - 1) * r + r - 1)) bad++; }
  secs = get_seconds() - secs;
  /* histogram of the image, a column of each process, then a transpose by bulk_store */
  H = all_spread_malloc(PROCS, 101 * PROCS * sizeof(int));
  hist = (int *) calloc(101, sizeof(int));
  { int *mine = (int *) (image + MYPROC); for (i = 0; i < q * r; i++) hist[mine[i]]++; }
  for (i = 0; i < PROCS; i++) bulk_store((int *global) (H + i) + 101 * MYPROC, hist, 101 * sizeof(int));
  all_store_sync();
  { int *mine = tolocal(H + MYPROC), p; for (i = total = 0; i < 101; i++) for (p = 0; p < PROCS; p++) total += mine[p * 101 + i]; if (total != PROCS * q * r) bad++; }
  sprintf(buffer, "%d x %d", v * q, w * r);
  words.global = words.spread = proto(3, buffer);
  global_count = spread_count = words.global;
  if (spread_count != 4) bad++;
  bad = all_reduce_to_all_add(bad);
  on_one { fprintf(outfile,"image %s: %s
", buffer, bad ? "WRONG" : "right"); fflush(outfile); }
  all_spread_free(image); all_spread_free(H);
  exit(bad != 0);
}
