/*
 * bitonic: Batcher's bitonic merge sort of n keys per process. PROCS must be a
 * power of two. In each step two processes exchange all their keys, one keeps
 * the small half, the other the large half.
 *
 *      splitcc -O2 examples/split-c/bitonic.sc -o bitonic
 *      viaduct-run -n 4 ./bitonic 1000
 *
 * Arguments: [keys per process]
 */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

int compare(a, b)
int *a, *b;
{
    return *a < *b ? -1 : *a > *b;
}

/* The n smallest (or largest) of two sorted lists of n, in order, into `out'. */
keep_half(n, mine, theirs, out, smallest)
int n, *mine, *theirs, *out, smallest;
{
    int i, a, b;

    if (smallest)
        for (i = a = b = 0; i < n; i++)
            out[i] = mine[a] <= theirs[b] ? mine[a++] : theirs[b++];
    else
        for (a = b = i = n - 1; i >= 0; i--)
            out[i] = mine[a] > theirs[b] ? mine[a--] : theirs[b--];
}

/* Merges all processes' lists. keys and buffer have one block of n per process. */
void bitonic_sort(n, keys, buffer)
int n;
int *spread keys;
int *spread buffer;
{
    int *mine = tolocal(keys);
    int *theirs = tolocal(buffer);
    int *out = (int *) malloc(n * sizeof(int));
    int stage, step, i;

    for (stage = 1; stage <= PROCSLOG; stage++)
        for (step = stage - 1; step >= 0; step--) {
            int partner = MYPROC ^ (1 << step);
            int upwards = ((MYPROC >> stage) & 1) == 0;

            bulk_store(toglobal(partner, theirs), mine, n * sizeof(int));
            store_sync(n * sizeof(int));
            keep_half(n, mine, theirs, out, (MYPROC < partner) == upwards);
            for (i = 0; i < n; i++) mine[i] = out[i];
            barrier();          /* the partner's buffer is ours to overwrite again */
        }
    free(out);
}

splitc_main(int argc, char *argv[])
{
    int n = argc > 1 ? atoi(argv[1]) : 256;
    int *spread keys, *spread buffer;
    int *mine, i, wrong = 0;
    unsigned before = 0, after = 0;
    double t;

    if (PROCSLOG < 0) {
        on_one printf("bitonic: PROCS must be a power of two\n");
        return 0;
    }
    if (n < 1) {
        on_one fprintf(stderr, "bitonic: the keys of a process must be a positive number\n");
        return 2;
    }
    keys = all_spread_malloc(PROCS, n * sizeof(int));
    buffer = all_spread_malloc(PROCS, n * sizeof(int));
    mine = (int *) keys;
    srandom(MYPROC + 1);
    for (i = 0; i < n; i++) {
        mine[i] = random() % 100000;
        before += mine[i] * 2654435761u;
    }
    qsort(mine, n, sizeof(int), compare);
    barrier();
    t = get_seconds();
    bitonic_sort(n, keys, buffer);
    t = get_seconds() - t;

    for (i = 0; i < n; i++) {
        after += mine[i] * 2654435761u;
        if (i > 0 && mine[i - 1] > mine[i]) wrong++;
    }
    barrier();
    if (MYPROC < PROCS - 1 && mine[n - 1] > *toglobal(MYPROC + 1, mine)) wrong++;
    wrong = all_reduce_to_all_add(wrong);
    if (all_reduce_to_all_uadd(before) != all_reduce_to_all_uadd(after)) wrong++;
    on_one {
        fprintf(stderr, "bitonic: %.3f ms\n", t * 1e3);
        printf("bitonic: %d keys, %s\n", n * PROCS, wrong ? "WRONG" : "right");
    }
    all_spread_free(buffer);
    all_spread_free(keys);
    return wrong != 0;
}
