/*
 * sample_sort: every process sends its keys to the process whose range they
 * fall into; the ranges' bounds come from a sample of all keys.
 *
 *      splitcc -O2 examples/split-c/sample_sort.sc -o sample_sort
 *      viaduct-run -n 4 ./sample_sort 1000 32
 *
 * Arguments: [keys per process] [samples per process]
 *
 * Keys are placed in the target's bucket by fetching and adding to the number
 * that it holds already, so that no two senders' keys meet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

#define MAX_KEY 1000000

typedef double key_t_;

static int by_value(const void *a, const void *b)
{
    key_t_ x = *(const key_t_ *) a, y = *(const key_t_ *) b;

    return x < y ? -1 : x > y;
}

/* The first key of every process' range; splitters[0] is not used. */
static void choose_splitters(int n, key_t_ *keys, int samples, key_t_ splitters[])
{
    key_t_ *spread all = all_spread_malloc(PROCS * samples, sizeof(key_t_));
    key_t_ *here;
    int i;

    for_my_1D(i, PROCS * samples)
        all[i] = keys[(long) (i / PROCS) * n / samples];
    barrier();
    here = (key_t_ *) malloc(PROCS * samples * sizeof(key_t_));
    for (i = 0; i < PROCS * samples; i++)
        here[i] := all[i];
    sync();
    qsort(here, PROCS * samples, sizeof(key_t_), by_value);
    for (i = 0; i < PROCS; i++)
        splitters[i] = here[i * samples];
    free(here);
    barrier();
    all_spread_free(all);
}

static int range_of(key_t_ key, key_t_ splitters[])
{
    int low = 0, high = PROCS;

    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (key < splitters[middle]) high = middle; else low = middle;
    }
    return low;
}

static int wrong_;
#define WANT(condition) do { if (!(condition)) { wrong_++; \
    fprintf(stderr, "sample_sort: process %d: %s\n", MYPROC, #condition); } } while (0)

int splitc_main(int argc, char *argv[])
{
    int n = argc > 1 ? atoi(argv[1]) : 500;
    int samples = argc > 2 ? atoi(argv[2]) : 16;
    int count[PROCS]::;
    key_t_ *keys, *bucket, sum = 0, sum_after = 0;
    key_t_ *global *buckets;
    key_t_ splitters[PROCS];
    int to[PROCS], place[PROCS], i, p;
    double t;

    if (n < 1 || samples < 1) {
        on_one fprintf(stderr, "sample_sort: keys and samples of a process must be positive numbers\n");
        return 2;
    }
    keys = (key_t_ *) malloc(n * sizeof(key_t_));
    srandom(5 * MYPROC + 3);
    for (i = 0; i < n; i++) {
        keys[i] = random() % MAX_KEY;
        sum += keys[i];
    }
    barrier();
    t = get_seconds();
    qsort(keys, n, sizeof(key_t_), by_value);
    choose_splitters(n, keys, samples, splitters);

    for (p = 0; p < PROCS; p++) to[p] = 0;
    for (i = 0; i < n; i++) to[range_of(keys[i], splitters)]++;

    /* count[p] is where process p's bucket is as long as has been asked for */
    count[MYPROC] = 0;
    barrier();
    for (p = 0; p < PROCS; p++)
        place[p] = fetch_and_add(&count[p], to[p]);
    barrier();
    bucket = (key_t_ *) malloc((count[MYPROC] + 1) * sizeof(key_t_));

    buckets = (key_t_ *global *) all_malloc(sizeof(*buckets));
    *buckets = toglobal(MYPROC, bucket);
    barrier();
    for (i = p = 0; p < PROCS; i += to[p], p++)
        if (to[p] > 0) {
            key_t_ *global b = *toglobal(p, buckets);

            bulk_store(b + place[p], keys + i, to[p] * sizeof(key_t_));
        }
    store_sync(count[MYPROC] * sizeof(key_t_));
    qsort(bucket, count[MYPROC], sizeof(key_t_), by_value);
    barrier();
    t = get_seconds() - t;

    for (i = 0; i < count[MYPROC]; i++) {
        sum_after += bucket[i];
        WANT(range_of(bucket[i], splitters) == MYPROC);
        if (i > 0) WANT(bucket[i - 1] <= bucket[i]);
    }
    WANT(all_reduce_to_all_dadd(sum) == all_reduce_to_all_dadd(sum_after));
    WANT(all_reduce_to_all_add(count[MYPROC]) == n * PROCS);
    wrong_ = all_reduce_to_all_add(wrong_);
    on_one {
        fprintf(stderr, "sample_sort: %.3f ms\n", t * 1e3);
        printf("sample_sort: %d keys, %s\n", n * PROCS, wrong_ ? "WRONG" : "right");
    }
    return wrong_ != 0;
}
