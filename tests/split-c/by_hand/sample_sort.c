/*
 * examples/split-c/sample_sort.sc as a person writes it in C, on the interface that splitcc's
 * output calls: what the translation may cost is measured against this.
 */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_KEY 1000000

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;

  return x < y ? -1 : x > y;
}

static void choose_splitters(int n, const double* keys, int samples, double* splitters) {
  int count = PROCS * samples, i;
  vsc_word all = all_spread_malloc((unsigned long)count, sizeof(double));
  double* here;

  for (i = MYPROC; i < count; i += PROCS)
    vsc_write_d(vsc_spread_add(all, i, sizeof(double)), keys[(long)(i / PROCS) * n / samples]);
  barrier();
  here = (double*)malloc((size_t)count * sizeof(double));
  for (i = 0; i < count; i++) vsc_get8(here + i, vsc_spread_add(all, i, sizeof(double)));
  splitc_sync();
  qsort(here, (size_t)count, sizeof(double), by_value);
  for (i = 0; i < PROCS; i++) splitters[i] = here[i * samples];
  free(here);
  barrier();
  all_spread_free(all);
}

static int range_of(double key, const double* splitters) {
  int low = 0, high = PROCS;

  while (high - low > 1) {
    int middle = (low + high) / 2;

    if (key < splitters[middle])
      high = middle;
    else
      low = middle;
  }
  return low;
}

static int wrong_;

int splitc_main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 500;
  int samples = argc > 2 ? atoi(argv[2]) : 16;
  static int count;
  static double* bucket; /* at the same address in every process */
  double* splitters = (double*)malloc((size_t)PROCS * sizeof(double));
  int* to = (int*)calloc((size_t)PROCS, sizeof(int));
  int* place = (int*)malloc((size_t)PROCS * sizeof(int));
  double* keys = (double*)malloc((size_t)n * sizeof(double));
  double sum = 0, sum_after = 0, t;
  int i, p;

  srandom((unsigned)(5 * MYPROC + 3));
  for (i = 0; i < n; i++) {
    keys[i] = (double)(random() % MAX_KEY);
    sum += keys[i];
  }
  barrier();
  t = get_seconds();
  qsort(keys, (size_t)n, sizeof(double), by_value);
  choose_splitters(n, keys, samples, splitters);
  for (i = 0; i < n; i++) to[range_of(keys[i], splitters)]++;
  count = 0;
  barrier();
  for (p = 0; p < PROCS; p++) place[p] = fetch_and_add(vsc_toglobal(p, &count), to[p]);
  barrier();
  bucket = (double*)malloc((size_t)(count + 1) * sizeof(double));
  barrier();
  for (i = p = 0; p < PROCS; i += to[p], p++)
    if (to[p] > 0) {
      double* theirs = (double*)vsc_read8(vsc_toglobal(p, &bucket));

      bulk_store(vsc_toglobal(p, theirs + place[p]), keys + i, (size_t)to[p] * sizeof(double));
    }
  store_sync((size_t)count * sizeof(double));
  qsort(bucket, (size_t)count, sizeof(double), by_value);
  barrier();
  t = get_seconds() - t;

  for (i = 0; i < count; i++) {
    sum_after += bucket[i];
    if (range_of(bucket[i], splitters) != MYPROC || (i > 0 && bucket[i - 1] > bucket[i])) wrong_++;
  }
  if (all_reduce_to_all_dadd(sum) != all_reduce_to_all_dadd(sum_after)) wrong_++;
  if (all_reduce_to_all_add(count) != n * PROCS) wrong_++;
  wrong_ = all_reduce_to_all_add(wrong_);
  if (MYPROC == 0) {
    fprintf(stderr, "sample_sort: %.3f ms\n", t * 1e3);
    printf("sample_sort: %d keys, %s\n", n * PROCS, wrong_ ? "WRONG" : "right");
  }
  return wrong_ != 0;
}
