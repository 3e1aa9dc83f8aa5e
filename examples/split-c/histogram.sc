/*
 * histogram: how often each value occurs among all processes' data, four ways.
 *
 *      splitcc -O2 examples/split-c/histogram.sc -o histogram
 *      viaduct-run -n 4 ./histogram 1000
 *
 * Arguments: [values per process]
 *
 *   atomic   every value adds one at its bucket's owner
 *   put      a table of partial sums in each process, put to the owners
 *   store    the partial sums stored, one message each
 *   bulk     whole runs of partial sums
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

#define BUCKETS 128

int expected[BUCKETS];                  /* of all processes' data */

/* bucket b's own element, and one column for every process' partial sum */
static int totals[BUCKETS]::;
static int columns[BUCKETS]::[64];

add_one(where)
int *where;
{
    ++*where;
}

clear()
{
    int b;

    for_my_1D(b, BUCKETS) {
        totals[b] = 0;
        memset(tolocal(&columns[b][0]), 0, sizeof(int) * 64);
    }
    barrier();
}

add_columns()
{
    int b, p;

    for_my_1D(b, BUCKETS) {
        int *column = tolocal(&columns[b][0]);

        for (p = 0; p < PROCS; p++)
            totals[b] += column[p];
    }
    barrier();
}

int check(how)
char *how;
{
    int b, wrong = 0;

    for (b = 0; b < BUCKETS; b++)
        if (totals[b] != expected[b]) wrong++;
    wrong = all_reduce_to_all_add(wrong);
    on_one printf("histogram by %s: %s\n", how, wrong ? "WRONG" : "right");
    return wrong;
}

splitc_main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    int *data;
    int mine[BUCKETS], *run, i, b, p, wrong = 0;
    int per_process = (BUCKETS + PROCS - 1) / PROCS;

    if (PROCS > 64) {
        on_one printf("histogram: at most 64 processes\n");
        return 0;
    }
    if (n < 1) {
        on_one fprintf(stderr, "histogram: the numbers of a process must be positive\n");
        return 2;
    }
    data = (int *) malloc(n * sizeof(int));
    srandom(MYPROC * 7 + 1);
    for (b = 0; b < BUCKETS; b++) mine[b] = 0;
    for (i = 0; i < n; i++) {
        data[i] = (random() >> 5) % BUCKETS;
        mine[data[i]]++;
    }
    for (b = 0; b < BUCKETS; b++) expected[b] = all_reduce_to_all_add(mine[b]);

    clear();
    for (i = 0; i < n; i++) atomic(add_one, &totals[data[i]]);
    barrier();
    wrong += check("atomic");

    clear();
    for (b = 0; b < BUCKETS; b++) columns[b][MYPROC] := mine[b];
    sync();
    barrier();
    add_columns();
    wrong += check("put");

    clear();
    for (b = 0; b < BUCKETS; b++) columns[b][MYPROC] :- mine[b];
    all_store_sync();
    add_columns();
    wrong += check("store");

    clear();
    run = (int *) all_malloc(PROCS * per_process * sizeof(int));
    for (p = 0; p < PROCS; p++) {
        int values[BUCKETS];

        for (i = 0; i < per_process; i++) {
            b = i * PROCS + p;
            values[i] = b < BUCKETS ? mine[b] : 0;
        }
        bulk_store(toglobal(p, run + MYPROC * per_process), values, per_process * sizeof(int));
    }
    store_sync(PROCS * per_process * sizeof(int));
    for_my_1D(b, BUCKETS)
        for (p = 0; p < PROCS; p++) totals[b] += run[p * per_process + b / PROCS];
    barrier();
    wrong += check("bulk");
    return wrong != 0;
}
