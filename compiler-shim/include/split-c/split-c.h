/* split-c/split-c.h: the library of Split-C. Split-C source: splitcc reads it.
 *
 * Collective functions are called by all processes, in the same order, with the same sizes. "In
 * process 0" and "in all" is where the result is; elsewhere the own value comes back. Where a
 * function has a type letter it is one of
 *     none or i  int         u  unsigned        l  long       ul  unsigned long
 *     f          float       d  double
 * and stands before a reduction's operation (all_reduce_to_all_dadd) and behind the names of the
 * other functions, after a line (all_bcast_d).
 */
#ifndef SPLIT_C_SPLIT_C_H
#define SPLIT_C_SPLIT_C_H

/* This process, their number, and its logarithm (negative when PROCS is no power of two). */
#define MYPROC __splitc_myproc
#define PROCS __splitc_procs
#define PROCSLOG __splitc_procslog

/* ---- Synchronisation. Each of these is a poll point: stores to this process are delivered. ---- */

void barrier(void);                     /* completes no stores */
void sync(void);                        /* waits for this process' gets and puts */
int is_sync(void);                      /* whether sync() would return at once */
void store_sync(unsigned long bytes);   /* waits for stores of so many bytes to this process */
int is_store_sync(unsigned long bytes); /* whether store_sync() would return at once */
void reset_store_sync(void);            /* forgets the bytes that have come */
void all_store_sync(void);              /* collective: waits for all stores; forgets the bytes */
void splitc_poll(void);                 /* nothing but a poll point */

/* ---- Blocks of memory, in bytes ---- */

void bulk_read(void *to, void *global from, unsigned long bytes);
void bulk_write(void *global to, void *from, unsigned long bytes);
void bulk_get(void *to, void *global from, unsigned long bytes);   /* complete after sync() */
void bulk_put(void *global to, void *from, unsigned long bytes);   /* complete after sync() */
void bulk_store(void *global to, void *from, unsigned long bytes); /* delivered where it polls */

/* ---- Memory, zeroed. Null when there is no room. ---- */

/* Collective: `count' blocks of `bytes', dealt to the processes from process 0 on. */
void *spread all_spread_malloc(unsigned long count, unsigned long bytes);
void all_spread_free(void *spread array);
/* The same by one process, for all. */
void *spread spread_malloc(unsigned long count, unsigned long bytes);
void spread_free(void *spread array);
/* Collective: `bytes' in every process, at the same address. */
void *all_malloc(unsigned long bytes);
void all_free(void *memory);

/* ---- Reductions and scans (a process' result: of the processes up to it), collective ---- */

#define __SPLITC_REDUCTION(type, name) \
  type all_reduce_to_one_##name(type); \
  type all_reduce_to_all_##name(type); \
  type all_scan_##name(type);
#define __SPLITC_ARITHMETIC(type, letter)  \
  __SPLITC_REDUCTION(type, letter##add)    \
  __SPLITC_REDUCTION(type, letter##mul)    \
  __SPLITC_REDUCTION(type, letter##min)    \
  __SPLITC_REDUCTION(type, letter##max)
#define __SPLITC_LOGICAL(type, letter)   \
  __SPLITC_REDUCTION(type, letter##and)  \
  __SPLITC_REDUCTION(type, letter##or)   \
  __SPLITC_REDUCTION(type, letter##xor)
__SPLITC_ARITHMETIC(int, )
__SPLITC_ARITHMETIC(int, i)
__SPLITC_ARITHMETIC(unsigned, u)
__SPLITC_ARITHMETIC(long, l)
__SPLITC_ARITHMETIC(unsigned long, ul)
__SPLITC_ARITHMETIC(float, f)
__SPLITC_ARITHMETIC(double, d)
__SPLITC_LOGICAL(int, )
__SPLITC_LOGICAL(int, i)
__SPLITC_LOGICAL(unsigned, u)
__SPLITC_LOGICAL(long, l)
__SPLITC_LOGICAL(unsigned long, ul)
#undef __SPLITC_REDUCTION
#undef __SPLITC_ARITHMETIC
#undef __SPLITC_LOGICAL

/* ---- Broadcast of process 0's value; gather: the own value in v[0] before, process q's in v[q]
 * after, in all: v has PROCS elements. Collective ---- */

#define __SPLITC_MOVES(type, suffix)  \
  type all_bcast##suffix(type value); \
  void all_gather##suffix(type *v);   \
  void all_concat##suffix(type *v);
__SPLITC_MOVES(int, )
__SPLITC_MOVES(int, _i)
__SPLITC_MOVES(unsigned, _u)
__SPLITC_MOVES(long, _l)
__SPLITC_MOVES(unsigned long, _ul)
__SPLITC_MOVES(float, _f)
__SPLITC_MOVES(double, _d)
#undef __SPLITC_MOVES

/* Process 0's text as a number, in all. Collective. */
int all_atoi(const char *text);
long all_atol(const char *text);
double all_atof(const char *text);

/* ---- Atomic operations: each answers what was there before ---- */

int fetch_and_add(int *global at, int value);
int fetch_add(int *global at, int value);
int exchange(int *global at, int value);
int test_and_set(int *global at); /* writes 1 */
int cmp_and_swap(int *global at, int expected, int desired);

typedef struct {
  unsigned long holder;
} splitc_lock_t; /* all zero: free */
void splitc_lock(splitc_lock_t *global lock);
int splitc_try_lock(splitc_lock_t *global lock);
void splitc_unlock(splitc_lock_t *global lock);

/* ---- Time, and the end ---- */

double get_seconds(void);
unsigned long get_ctr(void); /* nanoseconds */
void splitc_exit(int code);  /* what exit() does: see docs/splitc-language.md */

#endif
