/* many things at once, on any number of processes */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/control.h>
#include "tent.h"

struct list { int v; struct list *global next; };
static struct list *global head;
static int hits;
static int bump(int *p, int by) { hits++; return *p += by; }
struct cell { int n; double x[3]; };
static struct cell cells[PROCS * 3]::[2];
int errors;
#define WANT(c) do { if (!(c)) { printf("%d: line %d: %s\n", MYPROC, __LINE__, #c); errors++; } } while (0)

int fact(int n)
{
    static int calls[PROCS]::;
    int scratch[PROCS]::[2];
    calls[MYPROC]++;
    scratch[MYPROC][1] = n;
    barrier();
    if (n <= 1) return scratch[(MYPROC + 1) % PROCS][1];
    return n * fact(n - 1) + 0 * calls[0];
}

void early(int n)
{
    int i;
    for (i = 0; ; i++) {
        double D[n + i]::;
        D[i % n] = i;
        if (i == 2) continue;
        if (i == 3) goto out;
    }
out:
    ;
}

long walk(struct list *global l)
{
    long s = 0;
    for (; l; l = l->next) s += l->v;
    return s;
}

double sum3(v, w, A) int v, w; double A[v][w]::[3];
{
    double s = 0; int i, j, k;
    for (i = 0; i < v; i++) for (j = 0; j < w; j++) for (k = 0; k < 3; k++) s += A[i][j][k];
    return s;
}

splitc_main(argc, argv) char **argv;
{
    int i, j, q, r, me = MYPROC, *lp;
    double (*spread X)[q][r];
    double G[4][PROCS]::[3];
    int next = (MYPROC + 1) % PROCS;
    struct list mine, *heap = (struct list *) malloc(sizeof *heap);
    struct list *global peer;
    struct cell c;
    int *spread base = &tent[0];

    WANT(fact(5) == 120);
    WANT(fact(4) == 24);
    early(PROCS);
    q = 2, r = 3;
    X = all_spread_malloc(PROCS * 2, q * r * sizeof(double));
    for (i = MYPROC; i < 2 * PROCS; i += PROCS) for (j = 0; j < 6; j++) X[i][j / 3][j % 3] = i * 10 + j;
    barrier();
    WANT(X[2 * PROCS - 1][1][2] == 10 * (2 * PROCS - 1) + 5);
    WANT((*(X + 1))[1][0] == 13);
    lp = 0;
    { double (*l)[r] = tolocal(X[MYPROC + PROCS]); WANT(l[1][1] == (MYPROC + PROCS) * 10 + 4); }
    for_my_1D(i, 4 * PROCS) for (j = 0; j < 3; j++) G[i / PROCS][i % PROCS][j] = i + j;
    barrier();
    WANT(sum3(4, PROCS, G) == 3.0 * (4 * PROCS) * (4 * PROCS - 1) / 2 + 3 * 4 * PROCS);
    barrier();
    /* pointers to heap and stack of another process */
    heap->v = me + 1, heap->next = 0;
    mine.v = 100 * me, mine.next = heap;
    head = &mine;
    barrier();
    peer = *toglobal(next, &head);
    WANT(walk(peer) == 100 * next + next + 1);
    WANT(toproc(peer) == next && peer->next->v == next + 1);
    barrier();
    peer->next->v *= 2;
    barrier();
    WANT(heap->v == 2 * (me + 1));
    /* structures */
    c.n = me, c.x[0] = 0.5, c.x[2] = 2.5;
    cells[next][1] = c;
    barrier();
    c.n = -1;
    c := cells[me][1];
    sync();
    WANT(c.n == (me + PROCS - 1) % PROCS && c.x[2] == 2.5);
    cells[next][0].x[1] :- me + 0.25;
    all_store_sync();
    WANT(cells[me][0].x[1] == (me + PROCS - 1) % PROCS + 0.25);
    cells[next + PROCS][0].n := 7 + me;
    sync(); barrier();
    WANT(cells[me + PROCS][0].n == 7 + (me + PROCS - 1) % PROCS);
    /* atomic */
    tent[PROCS] = 0;
    barrier();
    for (i = 0; i < 10; i++) WANT(atomic(bump, &tent[PROCS], 2) > 0);
    barrier();
    WANT(tent[PROCS] == 20 * PROCS);
    WANT(all_reduce_to_all_add(hits) == 10 * PROCS);
    /* spread pointers */
    for (i = 0; i < 2 * PROCS; i++) if (i % PROCS == me) tent[i] = i;
    barrier();
    base += 2 * PROCS;
    for (i = 2 * PROCS - 1; i >= 0; i--) WANT(*--base == i);
    WANT(base == tent && base - tent == 0 && (base + 3) - base == 3 && base < base + 1);
    base = base + PROCS + 1;
    WANT(base[-PROCS] == 1 && toproc(base - PROCS - 1) == 0);
    WANT(other_sum() == PROCS * (2 * PROCS - 1));
    barrier();
    all_spread_free(X);
    free(heap);
    on_one printf("done %d\n", errors);
    return errors != 0;
}
