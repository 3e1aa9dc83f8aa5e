#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

typedef int *spread spread_ints;
typedef struct item { struct item *global next; int *spread data; int n; double w[3]; unsigned flag : 3; } item_t, *global item_g;
typedef double row_t[4];

static int wrong;
#define WANT(c) do { if (!(c)) { wrong++; fprintf(stderr, "%s:%d: p%d: %s\n", __FILE__, __LINE__, MYPROC, #c); } } while (0)

spread_ints shared_ints;
item_t items[3];
static row_t table[7]::;
double vec[PROCS]::[5];
int *global gp_table[4];
int counter = 3;

item_g find(g, n) item_g g; int n;
{
  while (g && g->n != n) g = g->next;
  return g;
}

int *spread middle(int *spread p, int n) { return p + n / 2; }

double sum_row(row_t r) { int i; double s = 0; for (i = 0; i < 4; i++) s += r[i]; return s; }

void *spread any(int k) { return all_spread_malloc(k, sizeof(double)); }

int apply(int (*f)(int *global, int), int *global g, int x) { return f(g, x); }
static int bump(int *global g, int by) { *g += by; return *g; }

void outer(int n, int m, double (*spread X)[n][m], double *spread *where)
{
  *where = (double *spread) X;
}

test_typedefs()
{
  spread_ints p = all_spread_malloc(10 * PROCS, sizeof(int)), q;
  spread_ints *pp = &p;
  int i;
  item_g g;

  for_my_1D(i, 10 * PROCS) p[i] = i;
  barrier();
  q = middle(p, 10 * PROCS);
  WANT(*q == 5 * PROCS);
  WANT((*pp)[3] == 3);
  WANT(*(*pp + 4) == 4);
  shared_ints = p;
  barrier();
  { spread_ints r = *toglobal((MYPROC + 1) % PROCS, &shared_ints); WANT(r == p && r[2] == 2); }
  items[0].n = 10 * MYPROC; items[1].n = 10 * MYPROC + 1; items[2].n = 10 * MYPROC + 2;
  items[0].next = &items[1]; items[1].next = &items[2];
  items[2].next = MYPROC + 1 < PROCS ? toglobal(MYPROC + 1, &items[0]) : NULL;
  items[0].data = p + MYPROC;
  items[1].flag = 5;
  barrier();
  g = find(toglobal(0, &items[0]), 10 * (PROCS - 1) + 2);
  WANT(g && toproc(g) == PROCS - 1 && tolocal(g) == &items[2]);
  g = toglobal(0, &items[0]);
  WANT(g->next->next->n == 2);
  WANT(*g->data == 0 && g->data[1] == 1);
  WANT(toglobal(PROCS - 1, items)->data[0] == PROCS - 1);
  WANT((*g).next->flag == 5);
  WANT(find(g, 99999) == NULL);
  barrier();
  on_one { g->w[1] = 2.5; g->next->w[2] = g->w[1] * 2; items[1].flag = 6; }
  barrier();
  WANT(g->w[1] == 2.5 && (g->next)->w[2] == 5.0);
  WANT(g->next->flag == 6);
  barrier();
  all_spread_free(p);
}

test_arrays()
{
  int i, j;
  double s, *mine;
  double (*spread rp)[4] = table;
  double *spread flat;
  double *global gv;

  for_my_1D(i, 7) for (j = 0; j < 4; j++) table[i][j] = i + j;
  for (j = 0; j < 5; j++) vec[MYPROC][j] = MYPROC * 100 + j;
  barrier();
  gv = vec[PROCS - 1];
  WANT(gv[3] == (PROCS - 1) * 100 + 3);
  WANT(*(gv + 1) == vec[PROCS - 1][1]);
  WANT(rp[6][3] == 9 && (*rp)[2] == 2 && (*(rp + 5))[1] == 6);
  rp++;
  WANT((*rp)[0] == 1);
  rp += 2;
  WANT((*rp)[0] == 3);
  WANT(rp - (double (*spread)[4]) table == 3);
  mine = tolocal(vec[MYPROC]);
  WANT(mine[4] == MYPROC * 100 + 4);
  s = 0;
  for (i = 0; i < 7; i++) { row_t r; bulk_read(r, table[i], sizeof r); s += sum_row(r); }
  WANT(s == 4 * 21 + 7 * 6);
  outer(7, 2, (double (*spread)[7][2]) table, &flat);
  WANT(flat == (double *spread) table);
  WANT(sizeof(table[0]) == 4 * sizeof(double));
  WANT(sizeof vec[0] == 5 * sizeof(double));
  WANT(sizeof(*gv) == 8 && sizeof gv == 8);
  for (i = 0; i < 4; i++) gp_table[i] = toglobal(i % PROCS, &counter);
  barrier();
  WANT(*gp_table[1] == 3);
  WANT(*gp_table[0] + *gp_table[1] * 2 == 9);
  barrier();
}

test_expressions()
{
  int *global g = toglobal(0, &counter);
  int x, y = 2, k = 0;
  int *lp;
  int (*fp)(int *global, int) = bump;

  barrier();
  x = *g > 2 ? *g : -1;
  WANT(x == 3);
  x = (y++, *g);
  WANT(x == 3 && y == 3);
  WANT(!*g == 0 && ~*g == -4 && -*g == -3);
  WANT((*g == 3 && *g != 4) || *g > 100);
  switch (*g) { case 3: k = 1; break; default: k = 2; }
  WANT(k == 1);
  for (k = 0; k < *g; k++) ;
  WANT(k == 3);
  while (k > *g - 2) k--;
  WANT(k == 1);
  lp = (int *) g;
  WANT(lp == &counter);
  barrier();
  on_one {
    WANT(apply(bump, g, 4) == 7);
    WANT(fp(g, 1) == 8);
    WANT((*fp)(g, -5) == 3);
    *g = y = *g + 1;
    WANT(y == 4 && *g == 4);
    y = (*g)++ + ++*g;
    WANT(*g == 6);
    *g -= 3;
    x = (*g *= 2);
    WANT(x == 6);
    *g >>= 1; *g |= 8; *g &= ~1; *g ^= 2; *g %= 7; *g <<= 2;
    WANT(*g == ((((((3 | 8) & ~1) ^ 2)) % 7) << 2));
    *g = 3;
  }
  barrier();
  { float *global f; float v = 1.5; f = &v; *f *= 2; WANT(v == 3.0f); { char *global c; char ch = 'a'; c = &ch; ++*c; WANT(ch == 'b' && *c == 98); } }
  { long long big = 1; long long *global b = &big; *b <<= 40; WANT(big == 1LL << 40); }
  { static char text[20]; char *global t; strcpy(text, "hello"); barrier(); t = toglobal((MYPROC + 1) % PROCS, text); x = 0; while (*t++) x++; WANT(x == 5); barrier(); }
  { int a[3], *global p = a, *global e = a + 3; int n = 0; for (; p < e; p++) *p = n++; WANT(a[2] == 2 && p == e && p - 3 == (int *global) a); WANT(p[-1] == 2); }
  { int *spread sp = NULL; int *global gg = 0; WANT(!sp && !gg && sp == NULL && gg == 0); if (sp) WANT(0); WANT(sp ? 0 : 1); }
}

test_phases()
{
  static int src[8], dst[8];
  static double d;
  static item_t it, jt;
  int *global s = toglobal((MYPROC + 1) % PROCS, src);
  int *global to = toglobal((MYPROC + 1) % PROCS, dst);
  int i, v[8];

  for (i = 0; i < 8; i++) src[i] = 10 * MYPROC + i;
  it.n = MYPROC; it.w[2] = MYPROC / 2.0;
  barrier();
  for (i = 0; i < 8; i++) v[i] := s[i];
  sync();
  for (i = 0; i < 8; i++) WANT(v[i] == 10 * ((MYPROC + 1) % PROCS) + i);
  for (i = 0; i < 4; i++) to[i] := v[i] + 1;
  i = 4;
  to[i++] := 44; to[i++] := s[0];
  sync(); barrier();
  WANT(dst[0] == 10 * MYPROC + 1 && dst[4] == 44 && i == 6);
  barrier();
  i = 0;
  to[i++] :- 5; to[i++] :- i * 100; *(to + 2) :- src[0], to[3] :- 1 ? 2 : 3;
  store_sync(16);
  WANT(dst[0] == 5 && dst[3] == 2);
  WANT(dst[2] == 10 * ((MYPROC + PROCS - 1) % PROCS));
  barrier();
  *toglobal((MYPROC + 1) % PROCS, &d) :- 2.75 + MYPROC;
  *toglobal((MYPROC + 1) % PROCS, &jt) :- it;
  all_store_sync();
  WANT(d == 2.75 + (MYPROC + PROCS - 1) % PROCS);
  WANT(jt.n == (MYPROC + PROCS - 1) % PROCS && jt.w[2] == jt.n / 2.0);
  barrier();
  toglobal((MYPROC + 1) % PROCS, &jt)->n :- 77;
  toglobal((MYPROC + 1) % PROCS, &jt)->w[0] :- 7;
  all_store_sync();
  WANT(jt.n == 77 && jt.w[0] == 7.0);
}

splitc_main(argc, argv) char **argv;
{
  test_typedefs(); test_arrays(); test_expressions(); test_phases();
  wrong = all_reduce_to_all_add(wrong);
  on_one printf("constructs %s\n", wrong ? "WRONG" : "right");
  return wrong;
}
