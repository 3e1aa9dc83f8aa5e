#include <split-c/split-c.h>
#include <split-c/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define NULLP ((void *) 0)
typedef enum { RED, GREEN, BLUE } color;
typedef struct inner { int a[3]; double y; } inner;
typedef struct rec { inner in; int *spread sp; int *lp; struct rec *global next; struct rec *spread snext; int *global *table; color c; char name[8]; unsigned char b; short s; float f; } rec;
rec R[6]::;
int A[12]::, B[12]::; float F[5]::; unsigned char UB[5]::; short SH[5]::; long L[5]::; unsigned U[4]::;
int wrong;
int *spread SA, *spread SB, *global GC, plainx, *plainy;
volatile int flag;
double Z[3][4]::[2][5];
#define WANT(c) do { if (!(c)) { wrong++; fprintf(stderr, "%s:%d: p%d: %s\n", __FILE__, __LINE__, MYPROC, #c); } } while (0)
int f1(x) { return x * 2; }
int takes(inner v) { return v.a[1] + (int) v.y; }
int ret(i) { return A[i]; }
inner ret_inner(int i) { return R[i].in; }
int *global ret_g(int i) { return &A[i]; }
int *spread ret_s(int i) { return A + i; }
rec *global ret_r(i) { return &R[i]; }
static int calls; int once() { calls++; return 1; }
int sumv(int n, ...) { return n; }
int (*fptr)(int) = f1;
static double norm(double v[5]) { double s = 0; int i; for (i = 0; i < 5; i++) s += v[i]; return s; }
local_static(int k) { static int S[4]::[2]; static int count = 0; extern int later_def[3]::; int i; if (k == 0) { for_my_1D(i, 4) S[i][1] = i * 3; for_my_1D(i, 3) later_def[i] = i; barrier(); } count++; return S[3][1] + later_def[2] + count; }
int later_def[3]::;
splitc_main(argc, argv) int argc; char **argv;
{
  int i, j, k, x; rec r; rec *global g; int *spread p, *spread q; int *global h;
  for_my_1D(i, 12) { A[i] = i; B[i] = 100 + i; }
  barrier();
  { int a = A[3], *global g2 = &A[2], *l = tolocal(g2); double d[2] = { A[0], A[1] }; WANT(a == 3 && *g2 == 2 && d[1] == 1.0); WANT(l == tolocal(&A[2])); }
  WANT(f1(A[4]) == 8 && ret(5) == 5 && (*fptr)(A[1]) == 2 && fptr(A[2]) == 4);
  WANT(*ret_g(7) == 7 && *ret_s(8) == 8 && ret_s(2)[3] == 5 && ret_g(2)[0] == 2);
  WANT(sumv(A[3], A[1], 2.5, *ret_g(1)) == 3);
  barrier();
  on_one {
    R[1].in.a[2] = 7; R[1].in.y = 3.9; R[1].in.a[1] = 5;
    R[2].in = R[1].in;
    R[1].c = BLUE; R[1].b = 255; R[1].b++; R[1].s = 32767; R[1].f = 1.5; R[1].f += 0.25; R[1].f *= 2;
    WANT(R[1].b == 0 && R[1].c == BLUE && R[1].f == 3.5f);
    strcpy(r.name, "hello"); r.in.y = 1; r.sp = A + 3; r.next = &R[4]; r.snext = R + 2; r.lp = &plainx;
    R[3] = r;
    R[3].sp++; WANT(R[3].sp == A + 4 && *R[3].sp == 4); R[3].sp += 2; WANT(R[3].sp[0] == 6 && R[3].sp[-1] == 5); --R[3].sp; WANT(*(R[3].sp) == 5);
    R[3].lp++; WANT(R[3].lp == &plainx + 1); R[3].lp--; WANT(R[3].lp == &plainx);
    R[4].next = &R[5]; R[5].next = NULL; R[5].in.a[0] = 55;
    WANT(R[3].next->next->in.a[0] == 55);
    R[3].next->in.a[1] = 66; WANT(R[4].in.a[1] == 66);
    R[3].snext->in.a[0] = 77; WANT(R[2].in.a[0] == 77); (R[3].snext + 1)->s = 9; WANT(R[3].s == 9);
    R[3].snext[1].s++; WANT(R[3].s == 10);
  }
  barrier();
  WANT(takes(R[2].in) == 8); WANT(takes(ret_inner(1)) == 8); WANT(ret_inner(1).a[2] == 7); WANT(ret_r(1)->in.a[2] == 7);
  { char nm[8]; bulk_read(nm, R[3].name, 8); WANT(!strcmp(nm, "hello")); WANT(R[3].name[1] == 'e'); }
  g = &R[3]; WANT(g->name[4] == 'o' && *(g->name + 1) == 'e' && (*g).in.y == 1.0); h = g->in.a; h = &g->in.a[1]; 
  { inner *global ig = &g->in; WANT(ig->y == 1); WANT(&ig->y == &R[3].in.y); }
  for (i = 0, g = &R[3]; (g = g->next); i++) ; WANT(i == 2);
  switch (R[1].c) { case RED: WANT(0); break; case BLUE: break; default: WANT(0); }
  p = i == 2 ? A + 1 : NULL; WANT(p && *p == 1); q = i == 3 ? A : 0; WANT(!q); h = i ? &A[2] : (int *global) 0; WANT(*h == 2); p = i ? A : B; WANT(*p == 0);
  h = i > 100 ? p : q; WANT(h == NULL); p = (i, B); WANT(*p == 100);
  x = i ? A[3] :A[4]; WANT(x == 3); x = i ? A[3] : -1; WANT(x == 3);
  barrier();
  on_one { A[5] = B[6] = 9; WANT(A[5] == 9 && B[6] == 9); A[5] = 5; B[6] = 106; A[once()] += 10; WANT(A[1] == 11 && calls == 1); A[once()]--; WANT(calls == 2); A[1] = 1; A[once() + 1] = A[once() + 2] + A[once()]; WANT(calls == 5 && A[2] == 4); A[2] = 2;
    F[3] = 2.5; F[3] += 1; F[3] /= 2; WANT(F[3] == 1.75f); UB[2] = 250; UB[2] += 10; WANT(UB[2] == 4); SH[1] = -5; SH[1] -= 3; WANT(SH[1] == -8); SH[1]++; L[4] = 1L << 40; L[4] |= 1; WANT(L[4] == (1L << 40) + 1); U[3] = 0; U[3]--; WANT(U[3] == 4294967295u); WANT(U[3] / 2 == 2147483647); UB[1] = 300; WANT(UB[1] == 44); x = (UB[1] = 511); WANT(x == 255); F[1] = 0.1; WANT(F[1] == 0.1f && F[1] != 0.1); x = A[3] = 3.9; WANT(x == 3); WANT((SH[2] = 70000) == 4464); }
  barrier();
  A[MYPROC % 12] := A[MYPROC % 12]; sync(); barrier();
  x := B[3]; sync(); WANT(x == 103);
  { double row[5]; double (*global blk)[5]; for_my_2D(i, j, 3, 4) { double (*t)[5] = tolocal(Z[i][j]); for (k = 0; k < 5; k++) t[1][k] = i * 4 + j; } barrier(); WANT(Z[2][3][1][4] == 11); blk = Z[1][2]; WANT(blk[1][3] == 6); bulk_read(row, blk[1], sizeof row); WANT(norm(row) == 30); bulk_read(row, &Z[2][0][1][0], sizeof(row)); WANT(norm(row) == 40); barrier(); }
  WANT(sizeof(A[0]) == 4 && sizeof(Z[0][0]) == 80 && sizeof(Z[0][0][1]) == 40 && sizeof(R[0].name) == 8);
  WANT(local_static(0) == 9 + 2 + 1); WANT(local_static(1) == 9 + 2 + 2);
  SA = SB = A; GC = SA + 3; plainy = &plainx; WANT(*SB == 0 && *GC == 3);
  { int *global *gp; int *global arr[3]; int *global *global gg; arr[0] = &A[1]; arr[1] = &A[2]; gp = arr; WANT(**gp == 1 && *gp[1] == 2 && *(*(gp + 1)) == 2); gg = arr; WANT(**gg == 1); gg++; WANT(**gg == 2); WANT(*gg[-1] == 1); }
  { typeof(A[0]) t = A[7]; WANT(t == 7); WANT(({ int z = A[8]; z + 1; }) == 9); }
  { const int *global cg = &A[9]; volatile int *global vg = &A[10]; WANT(*cg == 9 && *vg == 10); }
  { long off = &A[6] - (int *global) &A[6]; unsigned long w = (unsigned long) &A[6]; WANT(off == 0); WANT(w != 0); }
  { void *global vp = &A[4]; void *spread vs = A; int *spread back; WANT(*(int *global) vp == 4); back = vs; WANT(back[5] == 5); back = (int *spread) vs + 1; WANT(*back == 1); vp = vs; WANT(vp == (void *global) A); }
  if (MYPROC == 0) { flag = 0; barrier(); *toglobal(PROCS - 1, &flag) = 1; if (PROCS == 1) flag = 1; } else { flag = 0; barrier(); }
  if (MYPROC == PROCS - 1) while (*(volatile int *global) &flag == 0) ;
  { int v = A[1] && A[2] || A[0]; WANT(v == 1); WANT(!A[0]); WANT(-A[2] == -2 && +A[2] == 2 && ~A[0] == -1); WANT((A[3], A[4]) == 4); WANT((double) A[3] / 2 == 1.5); WANT((char) L[4] == 1); WANT(A[A[A[3]]] == 3); WANT((&A[2])[1] == A[2] || PROCS > 0); }
  { register int i, *ip = &x; auto int z = 3; static int st; ip[0] = z; WANT(x == 3); goto end; WANT(0); end: ; }
  WANT(floor(Z[2][3][1][4] / 2) == 5.0);
  WANT(fabs((float) -F[3]) == 1.75);
  wrong = all_reduce_to_all_add(wrong);
  on_one printf("expressions %s\n", wrong ? "WRONG" : "right");
  return wrong;
}
