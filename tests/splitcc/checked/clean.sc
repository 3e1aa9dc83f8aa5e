/* Programs without a race in all ways that Split-C has: splitc --checked must report nothing. */
#include <split-c/split-c.h>
#include <split-c/atomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) \
    do { if (!(what)) { printf("%d: line %d: %s\n", MYPROC, __LINE__, #what); exit(1); } } while (0)

typedef struct list { int key; struct list *global next; } list;

int box, ready, count, in_turn;
char letters[8];
struct { char c; short s; int i; } parts;
double ring[32], copy[32];
int A[16]::;
splitc_lock_t lock;
list *global head;
volatile double seen;

/* Neighbours in one word, written by different processes. */
void neighbours()
{
    if (MYPROC < 2) toglobal(0, letters)[MYPROC] = 'a' + MYPROC;
    if (MYPROC == 0) letters[2] = 'c';
    if (MYPROC == 0) parts.s = 5;
    if (MYPROC == 1) *toglobal(0, &parts.i) = 6;
    barrier();
    CHECK(MYPROC != 0 || (letters[0] == 'a' && letters[2] == 'c' && parts.s == 5));
    barrier();
}

void phases()
{
    int i;

    for_my_1D(i, 16) A[i] = i;
    barrier();
    for (i = 0; i < 16; i++) CHECK(A[i] == i);
    all_reduce_to_all_add(1);
    if (MYPROC == 0) for (i = 0; i < 16; i++) A[i] :- i + 1;
    all_store_sync();
    for (i = 0; i < 16; i++) CHECK(A[i] == i + 1);
    barrier();
}

/* A value goes round by stores: store_sync tells of its arrival, no barrier. */
void ping_pong()
{
    int other = 1 - MYPROC, turn;

    if (PROCS < 2 || MYPROC > 1) return;
    for (turn = 0; turn < 6; turn++) {
        if (turn % 2 == MYPROC) {
            ring[3] = turn;
            *toglobal(other, &ring[5]) :- ring[3];
        } else {
            store_sync(sizeof(double));
            CHECK(ring[5] == turn);
            ring[5] = -1;
        }
    }
}

/* A block that is stored is delivered at the owner's poll points: what it reads before it polls is
 * what was there. */
void delivered_at_polls()
{
    int i;

    for (i = 0; i < 32; i++) ring[i] = i, copy[i] = 2 * i;
    barrier();
    if (MYPROC == 0) for (i = 0; i < 32; i++) CHECK(ring[i] == i);
    if (MYPROC == PROCS - 1) bulk_store(toglobal(0, ring), copy, sizeof copy);
    all_store_sync();
    CHECK(MYPROC != 0 || ring[9] == 18);
}

void locked()
{
    int i;

    for (i = 0; i < 5; i++) {
        splitc_lock(toglobal(0, &lock));
        *toglobal(0, &box) += 1;
        splitc_unlock(toglobal(0, &lock));
        fetch_and_add(toglobal(0, &count), 2);
    }
    barrier();
    CHECK(*toglobal(0, &box) == 5 * PROCS && *toglobal(0, &count) == 10 * PROCS);
    barrier();
}

int push(at, what)
list *global *at;
list *global what;
{
    ((list *) tolocal(what))->next = *at;
    *at = what;
    return 1;
}
int append(at, what)
int *at;
int what;
{
    *at = *at * 2 + what;
    return *at;
}

/* Nodes of all processes, which atomic functions link. */
/* A byte of the process' own before another process' store, and its neighbour after it. */
void bytes()
{
    static char line[8];
    static double token;
    static int sum;

    if (PROCS > 1 && MYPROC == 1) {
        sum += line[0];
        store_sync(sizeof(double));
        sum += line[1];
        CHECK(sum == 'a');
    }
    if (PROCS > 1 && MYPROC == 0) {
        *toglobal(1, &line[1]) = 'a';
        *toglobal(1, &token) :- 1.0;
    }
    barrier();
}

void published()
{
    list *global at;
    list *own = (list *) malloc(sizeof(list));

    own->key = MYPROC + 1;
    own->next = NULL;
    atomic(append, toglobal(0, &in_turn), 0);
    if (MYPROC == 0) atomic(push, toglobal(0, &head), toglobal(0, own));
    while (*toglobal(0, &head) == NULL) ;
    at = *toglobal(0, &head);
    CHECK(at->key == 1);
    barrier();
}

/* The first process' values, by a broadcast: it ends before all have begun. */
void told()
{
    int told;

    if (MYPROC == 0) box = 11;
    told = all_bcast(1);
    CHECK(*toglobal(0, &box) == 11 && told == 1);
    barrier();
    *toglobal(MYPROC, &ready) = 3;
    seen = all_reduce_to_one_add(ready);
    if (MYPROC == 0) *toglobal(PROCS - 1, &ready) = 4;
    barrier();
}

splitc_main()
{
    int i;

    for (i = 0; i < 3; i++) {
        int S[PROCS]::;

        S[MYPROC] = i;
        barrier();
        CHECK(S[PROCS - 1] == i);
        barrier();
        neighbours();
        phases();
        delivered_at_polls();
        box = count = 0;
        barrier();
        locked();
        told();
    }
    ping_pong();
    barrier();
    bytes();
    published();
    return 0;
}
