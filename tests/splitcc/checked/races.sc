/* Races that splitcc --checked reports: the lines of pair N have the comment `race N'; a comment
 * that stands once is a line that races with itself. Runs with 2 processes and more. */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#include "plain.h"

typedef struct node {
    int key;
    double weight[3];
    struct node *global next;
} node;

int counter, polled, pair[2];
double block[64], landing[64];
float single;
char text[16];
struct { unsigned a : 3; unsigned b : 20; } bits;
int A[10]::;
double M[4]::[8];
node *heap_node;

/* A value that the compiler cannot leave out. */
volatile double seen;

void words()
{
    int *global c = toglobal(0, &counter);
    float *global f = toglobal(PROCS - 1, &single);

    if (MYPROC < 2) *c = MYPROC;                        /* race 1 */
    barrier();
    if (MYPROC == 1) *c += 1;                           /* race 2 */
    if (MYPROC == 0) seen = counter;                    /* race 2 */
    barrier();
    if (MYPROC == 0) *f = 1.5;                          /* race 3 */
    if (MYPROC == PROCS - 1) seen = *f;                 /* race 3 */
    barrier();
    if (MYPROC == 0) pair[1] = 5;                       /* race 4 */
    if (MYPROC == 1) { pair[0] := *toglobal(0, &pair[1]); sync(); } /* race 4 */
    barrier();
}

void arrays()
{
    int i;
    double *own;

    for (i = MYPROC; i < 10; i++) A[i] = i;             /* race 5 */
    barrier();
    if (MYPROC == 0) { M[1][3] := 2.5; sync(); }        /* race 6 */
    if (MYPROC == 1) {
        own = tolocal(M[1]);
        for (i = 0; i < 8; i++) seen = own[i];          /* race 6 */
    }
    barrier();
    if (MYPROC < 2) A[9] :- MYPROC;                     /* race 7 */
    all_store_sync();
}

/* The store may arrive at the poll before the read. */
void stores()
{
    if (MYPROC == 1) *toglobal(0, &polled) :- 3;        /* race 8 */
    if (MYPROC == 0) {
        splitc_poll();
        seen = polled;                                  /* race 8 */
    }
    all_store_sync();
}

void blocks()
{
    double own[64];
    int i;

    for (i = 0; i < 64; i++) own[i] = i;
    if (MYPROC == 1) bulk_write(toglobal(0, block), own, sizeof own); /* race 9 */
    if (MYPROC == 0) for (i = 0; i < 64; i++) seen += block[i];       /* race 9 */
    barrier();
    if (MYPROC == 1) bulk_read(own, toglobal(0, block + 8), 80);      /* race 10 */
    if (MYPROC == 0) block[17] = 1;                                   /* race 10 */
    barrier();
    if (MYPROC == 0) { bulk_get(landing, toglobal(1, block), 64); sync(); } /* race 11 */
    if (MYPROC == 1) bulk_put(toglobal(0, &landing[7]), own, 8), sync();    /* race 11 */
    barrier();
    if (MYPROC == 0) bulk_store(toglobal(1, block), own, 16);         /* race 12 */
    if (MYPROC == 1) bulk_store(toglobal(1, &block[1]), own, 16);     /* race 12 */
    all_store_sync();
}

void objects()
{
    node *global first;
    node copy;

    heap_node = (node *) malloc(sizeof(node));
    barrier();
    first = *toglobal(0, &heap_node) ? toglobal(0, *toglobal(0, &heap_node)) : NULL;
    barrier();
    if (MYPROC == 1) copy = *first, seen = copy.key;    /* race 13 */
    if (MYPROC == 0) heap_node->weight[1] = 4;          /* race 13 */
    barrier();
    if (MYPROC == 1) toglobal(0, text)[5] = 'x';        /* race 14 */
    if (MYPROC == 0) text[5] = 'y';                     /* race 14 */
    barrier();
    if (MYPROC < 2) (*(typeof(bits) *global) toglobal(0, &bits)).b = 7; /* race 15 */
    barrier();
}

/* Of a file in C. */
void other_file()
{
    if (MYPROC == 1) *toglobal(0, &of_plain) = 1;       /* race 16 */
    if (MYPROC == 0) change_plain();
    barrier();
}

/* Loops that step through memory, which the translator treats in a way of their own. */
void loops()
{
    double *global g = toglobal(0, block);
    int i;

    if (MYPROC == 1) for (i = 0; i < 64; i++) *g++ = i; /* race 18 */
    if (MYPROC == 0) for (i = 0; i < 64; i++) seen += *g++; /* race 18 */
    barrier();
    if (MYPROC == 1) for (i = 0; i < 10; i++) A[i] :- i;    /* race 19 */
    if (MYPROC == 0) for (i = 0; i < 10; i++) seen += A[i]; /* race 19 */
    all_store_sync();
}

/* Behind an order between some processes only, and the last epoch. */
void last()
{
    if (MYPROC == 1) *toglobal(0, &counter) = 8;        /* race 17 */
    if (MYPROC == 0) counter = 9;                       /* race 17 */
}

splitc_main()
{
    words();
    arrays();
    stores();
    blocks();
    objects();
    other_file();
    loops();
    last();
    return 0;
}
