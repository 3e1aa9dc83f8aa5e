/* The library in plain C: collectives of every letter, allocation, spread arrays, atomics. */

#include <pthread.h>
#include <split-c/atomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/split-c/check.h"

/* ---- Collectives ---- */

#define CHECK_ARITHMETIC(type, add, mul, min, max)                            \
  do {                                                                        \
    type mine = (type)(MYPROC + 2), sum = 0, product = 1, through = 0;        \
    int q;                                                                    \
    for (q = 0; q < PROCS; ++q) {                                             \
      sum = (type)(sum + (type)(q + 2));                                      \
      product = (type)(product * (type)(q + 2));                              \
      if (q <= MYPROC) through = (type)(through + (type)(q + 2));             \
    }                                                                         \
    CHECK(all_reduce_to_all_##add(mine) == sum);                              \
    CHECK(all_reduce_to_all_##mul(mine) == product);                          \
    CHECK(all_reduce_to_all_##min(mine) == (type)2);                          \
    CHECK(all_reduce_to_all_##max(mine) == (type)(PROCS + 1));                \
    CHECK(all_reduce_to_one_##add(mine) == sum || MYPROC != 0);               \
    CHECK(all_reduce_to_one_##mul(mine) == product || MYPROC != 0);           \
    CHECK(all_reduce_to_one_##min(mine) == (type)2 || MYPROC != 0);           \
    CHECK(all_reduce_to_one_##max(mine) == (type)(PROCS + 1) || MYPROC != 0); \
    CHECK(all_scan_##add(mine) == through);                                   \
    CHECK(all_scan_##min(mine) == (type)2);                                   \
    CHECK(all_scan_##max(mine) == mine);                                      \
    CHECK(all_scan_##mul((type)1) == (type)1);                                \
  } while (0)

#define CHECK_LOGICAL(type, band, bor, bxor)                             \
  do {                                                                   \
    type mine = (type)1 << (MYPROC % 16), all = 0, odd = 0, through = 0; \
    int q;                                                               \
    for (q = 0; q < PROCS; ++q) {                                        \
      all |= (type)1 << (q % 16);                                        \
      odd ^= (type)1 << (q % 16);                                        \
      if (q <= MYPROC) through |= (type)1 << (q % 16);                   \
    }                                                                    \
    CHECK(all_reduce_to_all_##bor(mine) == all);                         \
    CHECK(all_reduce_to_all_##bxor(mine) == odd);                        \
    CHECK(all_reduce_to_all_##band(~mine) == ~all);                      \
    CHECK(all_reduce_to_one_##bor(mine) == all || MYPROC != 0);          \
    CHECK(all_reduce_to_one_##bxor(mine) == odd || MYPROC != 0);         \
    CHECK(all_reduce_to_one_##band(~mine) == ~all || MYPROC != 0);       \
    CHECK(all_scan_##bor(mine) == through);                              \
    CHECK(all_scan_##band(~mine) == ~through);                           \
    CHECK(all_scan_##bxor((type)0) == (type)0);                          \
  } while (0)

#define CHECK_MOVES(type, bcast, gather, concat)                  \
  do {                                                            \
    type* v = (type*)malloc((size_t)PROCS * sizeof(type));        \
    int q;                                                        \
    CHECK(all_##bcast((type)(MYPROC + 9)) == (type)9);            \
    v[0] = (type)(3 * MYPROC + 1);                                \
    all_##gather(v);                                              \
    for (q = 0; q < PROCS; ++q) CHECK(v[q] == (type)(3 * q + 1)); \
    v[0] = (type)(5 * MYPROC + 2);                                \
    all_##concat(v);                                              \
    for (q = 0; q < PROCS; ++q) CHECK(v[q] == (type)(5 * q + 2)); \
    free(v);                                                      \
  } while (0)

static void collectives(void) {
  CHECK_ARITHMETIC(int, add, mul, min, max);
  CHECK_ARITHMETIC(int, iadd, imul, imin, imax);
  CHECK_ARITHMETIC(unsigned, uadd, umul, umin, umax);
  CHECK_ARITHMETIC(long, ladd, lmul, lmin, lmax);
  CHECK_ARITHMETIC(unsigned long, uladd, ulmul, ulmin, ulmax);
  CHECK_ARITHMETIC(float, fadd, fmul, fmin, fmax);
  CHECK_ARITHMETIC(double, dadd, dmul, dmin, dmax);
  CHECK_LOGICAL(int, and, or, xor);
  CHECK_LOGICAL(int, iand, ior, ixor);
  CHECK_LOGICAL(unsigned, uand, uor, uxor);
  CHECK_LOGICAL(long, land, lor, lxor);
  CHECK_LOGICAL(unsigned long, uland, ulor, ulxor);
  CHECK_MOVES(int, bcast, gather, concat);
  CHECK_MOVES(int, bcast_i, gather_i, concat_i);
  CHECK_MOVES(unsigned, bcast_u, gather_u, concat_u);
  CHECK_MOVES(long, bcast_l, gather_l, concat_l);
  CHECK_MOVES(unsigned long, bcast_ul, gather_ul, concat_ul);
  CHECK_MOVES(float, bcast_f, gather_f, concat_f);
  CHECK_MOVES(double, bcast_d, gather_d, concat_d);
  CHECK(all_atoi(MYPROC == 0 ? "42" : "7") == 42);
  CHECK(all_atol(MYPROC == 0 ? "-5000000000" : "7") == -5000000000L);
  CHECK(all_atof(MYPROC == 0 ? "2.5" : "7") == 2.5);
  CHECK(all_reduce_to_all_dadd(0.5) == 0.5 * PROCS);
}

/* ---- Memory ---- */

static void spread_memory(void) {
  unsigned long counts[3], i, k;

  counts[0] = 1;
  counts[1] = (unsigned long)PROCS;
  counts[2] = (unsigned long)(3 * PROCS + 1);
  for (k = 0; k < 3; ++k) {
    vsc_word a = all_spread_malloc(counts[k], 24), b = all_spread_malloc(counts[k], 24);

    CHECK(vsc_process(a) == 0 && vsc_is(a) && !vsc_equal(a, b));
    CHECK(all_reduce_to_all_ulmin(a) == all_reduce_to_all_ulmax(a));
    for (i = (unsigned long)MYPROC; i < counts[k]; i += (unsigned long)PROCS) {
      vsc_word e = vsc_spread_add(a, (long)i, 24);

      CHECK(vsc_process(e) == MYPROC);
      CHECK(vsc_read8(e) == 0);
      memset(vsc_local(e), (int)i + 1, 24);
      memset(vsc_local(vsc_spread_add(b, (long)i, 24)), 99, 24);
    }
    barrier();
    for (i = 0; i < counts[k]; ++i) {
      CHECK(vsc_read1(vsc_spread_add(a, (long)i, 24)) == i + 1);
      CHECK(vsc_read1(vsc_add(vsc_spread_add(b, (long)i, 24), 23)) == 99);
    }
    barrier();
    all_spread_free(a);
    all_spread_free(b);
  }
  all_spread_free(0);
}

static void one_processes_memory(void) {
  static vsc_word array;
  int* same = (int*)all_malloc(40);
  vsc_word seen;

  CHECK(same != 0 && same[9] == 0);
  same[9] = MYPROC;
  barrier();
  CHECK(vsc_read4(vsc_toglobal((MYPROC + 1) % PROCS, same + 9)) ==
        (unsigned)((MYPROC + 1) % PROCS));
  barrier();
  all_free(same);

  if (MYPROC == PROCS - 1) array = spread_malloc((unsigned long)PROCS, 8);
  barrier();
  seen = vsc_read8(vsc_toglobal(PROCS - 1, &array));
  vsc_write8(vsc_spread_add(seen, MYPROC, 8), 10UL + (unsigned long)MYPROC);
  barrier();
  CHECK(vsc_read8(vsc_spread_add(seen, (MYPROC + 1) % PROCS, 8)) ==
        10UL + (unsigned long)((MYPROC + 1) % PROCS));
  barrier();
  if (MYPROC == 0) spread_free(seen);
  spread_free(0);
  barrier();
}

static void no_room(void) {
  CHECK(all_spread_malloc((unsigned long)PROCS, 1UL << 46) == 0);
  CHECK(all_malloc(1UL << 46) == 0);
  CHECK(spread_malloc((unsigned long)PROCS, 1UL << 46) == 0);
  barrier();
}

/* ---- Words of objects that all processes have ---- */

static vsc_word word_;
static long* object_;

static void* in_a_thread(void* nothing) {
  (void)nothing;
  return vsc_local(word_) == object_ && vsc_toglobal(vsc_process(word_), object_) == word_ ? &word_
                                                                                           : 0;
}

/* Before the first object, of processes that are none, in another thread, in a forked child. */
static void words_of_objects(void) {
  pthread_t thread;
  void* right = 0;
  int status = -1;
  pid_t child;

  object_ = (long*)all_malloc(4 * sizeof(long));
  word_ = vsc_toglobal(PROCS - 1, object_);
  CHECK(vsc_local(word_ - sizeof(long)) == object_ - 1);
  CHECK(vsc_toglobal(PROCS - 1, object_ - 1) + sizeof(long) == word_);
  CHECK(vsc_local(word_ + (1UL << 40)) == (char*)object_ + (1UL << 40));
  CHECK(vsc_process(vsc_toglobal(4000, object_)) == 4000);
  CHECK(vsc_process(vsc_toglobal(-1, object_)) == 65535);
  CHECK(vsc_local(vsc_toglobal(4000, object_)) == object_);
  CHECK(pthread_create(&thread, 0, in_a_thread, 0) == 0);
  CHECK(pthread_join(thread, &right) == 0 && right != 0);
  child = fork();
  if (child == 0) _exit(vsc_local(word_) == object_ ? 0 : 1);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  barrier();
  all_free(object_);
}

/* ---- Spread arrays as splitcc makes them ---- */

vsc_word
    table_; /* int table_[PROCS + 1]::; in this file and, as far as the runtime knows, in another */
static vsc_word grid_;

static void allocate_here(void) {
  vsc_static_spread(&table_, (unsigned long)(PROCS + 1), sizeof(int), "table_", __FILE__, __LINE__);
  vsc_static_spread(&grid_, 6, 4 * sizeof(double), "grid_", __FILE__, __LINE__);
}
static void allocate_there(void) {
  vsc_static_spread(&table_, (unsigned long)(PROCS + 1), sizeof(int), "table_", "other.sc", 1);
}
static struct vsc_unit here_ = {0, allocate_here}, there_ = {0, allocate_there};
__attribute__((constructor)) static void register_here(void) { vsc_register_unit(&here_); }
__attribute__((constructor)) static void register_there(void) { vsc_register_unit(&there_); }

static int with_automatic(unsigned long n, int leave_early) {
  vsc_word a __attribute__((cleanup(vsc_auto_free))) =
      vsc_auto_spread(n, sizeof(int), "a", __FILE__, __LINE__);
  int i, sum = 0;

  for (i = MYPROC; i < (int)n; i += PROCS)
    vsc_write4(vsc_spread_add(a, i, sizeof(int)), (unsigned)i);
  barrier();
  if (leave_early) return (int)vsc_read4(vsc_spread_add(a, (long)n - 1, sizeof(int)));
  for (i = 0; i < (int)n; ++i) {
    vsc_word b __attribute__((cleanup(vsc_auto_free))) =
        vsc_auto_spread(n, sizeof(int), "b", __FILE__, __LINE__);
    if (i == 2) break;
    vsc_write4(vsc_spread_add(b, i, sizeof(int)), 1);
  }
  for (i = 0; i < (int)n; ++i) sum += (int)vsc_read4(vsc_spread_add(a, i, sizeof(int)));
  return sum;
}

static void spread_arrays(void) {
  vsc_word before, after;
  int i;

  CHECK(vsc_is(table_) && vsc_is(grid_));
  for (i = MYPROC; i < PROCS + 1; i += PROCS)
    vsc_write4(vsc_spread_add(table_, i, sizeof(int)), (unsigned)(7 * i));
  barrier();
  for (i = 0; i < PROCS + 1; ++i)
    CHECK(vsc_read4(vsc_spread_add(table_, i, sizeof(int))) == (unsigned)(7 * i));
  for (i = 0; i < 6; ++i) CHECK(vsc_read_d(vsc_add(vsc_spread_add(grid_, i, 32), 24)) == 0.0);

  before = all_spread_malloc(1, 64);
  all_spread_free(before);
  for (i = 0; i < 50; ++i) {
    CHECK(with_automatic(11, 0) == 55);
    barrier();
    CHECK(with_automatic(11, 1) == 10);
  }
  after = all_spread_malloc(1, 64);
  all_spread_free(after);
  CHECK(before == after); /* nothing stayed behind */
}

/* ---- Atomics ---- */

static int total_;
struct add_arguments {
  int* total;
  int by;
};
static void add_thunk(const void* arguments, void* result) {
  const struct add_arguments* a = (const struct add_arguments*)arguments;
  int* r = (int*)result;
  *r = *a->total;
  *a->total += a->by;
}
static void nothing_thunk(const void* arguments, void* result) {
  (void)arguments;
  (void)result;
  ++total_;
}

static void atomics(void) {
  static int counter, cell;
  static splitc_lock_t lock;
  static int guarded;
  struct add_arguments a;
  int i, was = -1;

  a.total = &total_;
  a.by = 3;
  for (i = 0; i < 40; ++i) {
    vsc_atomic(vsc_toglobal(0, &total_), add_thunk, &a, sizeof(a), &was, sizeof(was));
    CHECK(was >= 0);
    vsc_atomic(vsc_toglobal(PROCS - 1, &total_), nothing_thunk, &a, sizeof(a), 0, 0);
  }
  barrier();
  if (PROCS > 1) {
    CHECK(MYPROC != 0 || total_ == 120 * PROCS);
    CHECK(MYPROC != PROCS - 1 || total_ == 40 * PROCS);
  } else {
    CHECK(total_ == 160);
  }

  for (i = 0; i < 50; ++i) fetch_and_add(vsc_toglobal(0, &counter), 2);
  barrier();
  CHECK(vsc_read4(vsc_toglobal(0, &counter)) == (unsigned)(100 * PROCS));
  barrier();
  CHECK(all_reduce_to_all_add(test_and_set(vsc_toglobal(0, &cell)) == 0) == 1);
  CHECK(fetch_add(vsc_toglobal(0, &cell), 0) == 1);
  barrier();
  if (MYPROC == 0) {
    CHECK(exchange(vsc_global(&cell), 5) == 1);
    CHECK(cmp_and_swap(vsc_global(&cell), 4, 6) == 5 && cell == 5);
    CHECK(cmp_and_swap(vsc_global(&cell), 5, 6) == 5 && cell == 6);
  }
  for (i = 0; i < 20; ++i) {
    vsc_word there = vsc_toglobal(PROCS - 1, &guarded);

    splitc_lock(vsc_toglobal(0, &lock));
    vsc_write4(there, vsc_read4(there) + 1);
    splitc_unlock(vsc_toglobal(0, &lock));
  }
  barrier();
  CHECK(vsc_read4(vsc_toglobal(PROCS - 1, &guarded)) == (unsigned)(20 * PROCS));
  if (MYPROC == 0) {
    CHECK(splitc_try_lock(vsc_global(&lock)));
    CHECK(!splitc_try_lock(vsc_global(&lock)));
    splitc_unlock(vsc_global(&lock));
  }
  barrier();
}

int splitc_main(int argc, char** argv) {
  (void)argc;
  (void)argv;
  collectives();
  spread_memory();
  one_processes_memory();
  no_room();
  words_of_objects();
  spread_arrays();
  atomics();
  return all_reduce_to_all_add(failures_) != 0;
}
