/* split-c/split-c.h: the library of Split-C, as Split-C source for splitcc; for a C compiler global
 * and spread pointers are words (split-c/runtime.h).
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

#ifdef __SPLITC__
#define __SPLITC_GLOBAL(type) type *global
#define __SPLITC_SPREAD(type) type *spread

/* This process, their number, and its logarithm (negative when PROCS is no power of two). */
#define MYPROC __splitc_myproc
#define PROCS __splitc_procs
#define PROCSLOG __splitc_procslog

void sync(void); /* waits for this process' gets and puts; splitc_sync() where sync() is POSIX' */

/* Functions of the C library that answer a pointer: programs of a time when an int held a pointer call
 * these without a declaration. (The compiler knows malloc and its like by itself.) */
struct _IO_FILE *fopen(), *fdopen(), *freopen(), *popen(), *tmpfile();
char *getenv(), *getcwd(), *strtok(), *ctime(), *asctime();
struct tm *localtime(), *gmtime();
void *bsearch();
#else
#include <split-c/runtime.h>
#define __SPLITC_GLOBAL(type) vsc_word
#define __SPLITC_SPREAD(type) vsc_word
#define MYPROC vsc_myproc()
#define PROCS vsc_procs()
#define PROCSLOG vsc_procslog()
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Synchronisation. Each of these is a poll point: stores to this process are delivered. ---- */

void barrier(void);                     /* completes no stores */
int is_sync(void);                      /* whether sync() would return at once */
/* Waits for stores of so many bytes to this process, from any processes. The trap: a process that waits
   for 8 bytes of each of two neighbours by store_sync(16) may be given two values of the faster neighbour, of this
   step and of the next, and none of the slower one. Where more than one process stores here use all_store_sync(). */
void store_sync(unsigned long bytes);
int is_store_sync(unsigned long bytes); /* whether store_sync() would return at once */
void reset_store_sync(void);            /* forgets the bytes that have come */
void all_store_sync(void);              /* collective: waits for all stores; forgets the bytes */
void splitc_poll(void);                 /* nothing but a poll point */

/* ---- Blocks of memory, in bytes ---- */

void bulk_read(void *to, __SPLITC_GLOBAL(const void) from, unsigned long bytes);
void bulk_write(__SPLITC_GLOBAL(void) to, const void *from, unsigned long bytes);
/* Complete after sync(). */
void bulk_get(void *to, __SPLITC_GLOBAL(const void) from, unsigned long bytes);
void bulk_put(__SPLITC_GLOBAL(void) to, const void *from, unsigned long bytes);
/* Delivered where its owner polls. */
void bulk_store(__SPLITC_GLOBAL(void) to, const void *from, unsigned long bytes);

/* ---- Memory, zeroed. Null when there is no room. ---- */

/* Collective: `count' blocks of `bytes', dealt to the processes from process 0 on. */
__SPLITC_SPREAD(void) all_spread_malloc(unsigned long count, unsigned long bytes);
void all_spread_free(__SPLITC_SPREAD(void) array);
/* The same by one process, for all. */
__SPLITC_SPREAD(void) spread_malloc(unsigned long count, unsigned long bytes);
void spread_free(__SPLITC_SPREAD(void) array);
/* Collective: `bytes' in every process, at the same address. */
void *all_malloc(unsigned long bytes);
void all_free(void *memory);

/* malloc and its like under the names that programs gave them on the SP-1 and SP-2. */
void *sc_malloc_wrapper(unsigned long bytes), *sc_realloc_wrapper(void *memory, unsigned long bytes);
void *sc_calloc_wrapper(unsigned long count, unsigned long bytes);
void sc_free_wrapper(void *memory);

/* ---- Reductions and scans (a process' result: of the processes up to it), collective ---- */

int all_reduce_to_one_add(int), all_reduce_to_one_mul(int), all_reduce_to_one_min(int),
    all_reduce_to_one_max(int), all_reduce_to_one_and(int), all_reduce_to_one_or(int),
    all_reduce_to_one_xor(int);
int all_reduce_to_all_add(int), all_reduce_to_all_mul(int), all_reduce_to_all_min(int),
    all_reduce_to_all_max(int), all_reduce_to_all_and(int), all_reduce_to_all_or(int),
    all_reduce_to_all_xor(int);
int all_scan_add(int), all_scan_mul(int), all_scan_min(int), all_scan_max(int), all_scan_and(int),
    all_scan_or(int), all_scan_xor(int);
int all_reduce_to_one_iadd(int), all_reduce_to_one_imul(int), all_reduce_to_one_imin(int),
    all_reduce_to_one_imax(int), all_reduce_to_one_iand(int), all_reduce_to_one_ior(int),
    all_reduce_to_one_ixor(int);
int all_reduce_to_all_iadd(int), all_reduce_to_all_imul(int), all_reduce_to_all_imin(int),
    all_reduce_to_all_imax(int), all_reduce_to_all_iand(int), all_reduce_to_all_ior(int),
    all_reduce_to_all_ixor(int);
int all_scan_iadd(int), all_scan_imul(int), all_scan_imin(int), all_scan_imax(int),
    all_scan_iand(int), all_scan_ior(int), all_scan_ixor(int);
unsigned all_reduce_to_one_uadd(unsigned), all_reduce_to_one_umul(unsigned),
    all_reduce_to_one_umin(unsigned), all_reduce_to_one_umax(unsigned),
    all_reduce_to_one_uand(unsigned), all_reduce_to_one_uor(unsigned),
    all_reduce_to_one_uxor(unsigned);
unsigned all_reduce_to_all_uadd(unsigned), all_reduce_to_all_umul(unsigned),
    all_reduce_to_all_umin(unsigned), all_reduce_to_all_umax(unsigned),
    all_reduce_to_all_uand(unsigned), all_reduce_to_all_uor(unsigned),
    all_reduce_to_all_uxor(unsigned);
unsigned all_scan_uadd(unsigned), all_scan_umul(unsigned), all_scan_umin(unsigned),
    all_scan_umax(unsigned), all_scan_uand(unsigned), all_scan_uor(unsigned),
    all_scan_uxor(unsigned);
long all_reduce_to_one_ladd(long), all_reduce_to_one_lmul(long), all_reduce_to_one_lmin(long),
    all_reduce_to_one_lmax(long), all_reduce_to_one_land(long), all_reduce_to_one_lor(long),
    all_reduce_to_one_lxor(long);
long all_reduce_to_all_ladd(long), all_reduce_to_all_lmul(long), all_reduce_to_all_lmin(long),
    all_reduce_to_all_lmax(long), all_reduce_to_all_land(long), all_reduce_to_all_lor(long),
    all_reduce_to_all_lxor(long);
long all_scan_ladd(long), all_scan_lmul(long), all_scan_lmin(long), all_scan_lmax(long),
    all_scan_land(long), all_scan_lor(long), all_scan_lxor(long);
unsigned long all_reduce_to_one_uladd(unsigned long), all_reduce_to_one_ulmul(unsigned long),
    all_reduce_to_one_ulmin(unsigned long), all_reduce_to_one_ulmax(unsigned long),
    all_reduce_to_one_uland(unsigned long), all_reduce_to_one_ulor(unsigned long),
    all_reduce_to_one_ulxor(unsigned long);
unsigned long all_reduce_to_all_uladd(unsigned long), all_reduce_to_all_ulmul(unsigned long),
    all_reduce_to_all_ulmin(unsigned long), all_reduce_to_all_ulmax(unsigned long),
    all_reduce_to_all_uland(unsigned long), all_reduce_to_all_ulor(unsigned long),
    all_reduce_to_all_ulxor(unsigned long);
unsigned long all_scan_uladd(unsigned long), all_scan_ulmul(unsigned long),
    all_scan_ulmin(unsigned long), all_scan_ulmax(unsigned long), all_scan_uland(unsigned long),
    all_scan_ulor(unsigned long), all_scan_ulxor(unsigned long);
float all_reduce_to_one_fadd(float), all_reduce_to_one_fmul(float), all_reduce_to_one_fmin(float),
    all_reduce_to_one_fmax(float);
float all_reduce_to_all_fadd(float), all_reduce_to_all_fmul(float), all_reduce_to_all_fmin(float),
    all_reduce_to_all_fmax(float);
float all_scan_fadd(float), all_scan_fmul(float), all_scan_fmin(float), all_scan_fmax(float);
double all_reduce_to_one_dadd(double), all_reduce_to_one_dmul(double),
    all_reduce_to_one_dmin(double), all_reduce_to_one_dmax(double);
double all_reduce_to_all_dadd(double), all_reduce_to_all_dmul(double),
    all_reduce_to_all_dmin(double), all_reduce_to_all_dmax(double);
double all_scan_dadd(double), all_scan_dmul(double), all_scan_dmin(double), all_scan_dmax(double);

/* ---- Broadcast of process 0's value; gather: the own value in v[0] before, process q's in v[q]
 * after, in all: v has PROCS elements. Collective ---- */

int all_bcast(int value);
void all_gather(int *v), all_concat(int *v);
int all_bcast_i(int value);
void all_gather_i(int *v), all_concat_i(int *v);
unsigned all_bcast_u(unsigned value);
void all_gather_u(unsigned *v), all_concat_u(unsigned *v);
long all_bcast_l(long value);
void all_gather_l(long *v), all_concat_l(long *v);
unsigned long all_bcast_ul(unsigned long value);
void all_gather_ul(unsigned long *v), all_concat_ul(unsigned long *v);
float all_bcast_f(float value);
void all_gather_f(float *v), all_concat_f(float *v);
double all_bcast_d(double value);
void all_gather_d(double *v), all_concat_d(double *v);

/* Process 0's text as a number, in all. Collective. */
int all_atoi(const char *text);
long all_atol(const char *text);
double all_atof(const char *text);

/* ---- Atomic operations: each answers the value before; exchange() is in split-c/atomic.h ---- */

int fetch_and_add(__SPLITC_GLOBAL(volatile int) at, int value);
int fetch_add(__SPLITC_GLOBAL(volatile int) at, int value);
int test_and_set(__SPLITC_GLOBAL(volatile int) at); /* writes 1 */
int cmp_and_swap(__SPLITC_GLOBAL(volatile int) at, int expected, int desired);

typedef struct {
  unsigned long holder;
} splitc_lock_t; /* all zero: free */
void splitc_lock(__SPLITC_GLOBAL(splitc_lock_t) lock);
int splitc_try_lock(__SPLITC_GLOBAL(splitc_lock_t) lock);
void splitc_unlock(__SPLITC_GLOBAL(splitc_lock_t) lock);

/* ---- Time, and the end ---- */

double get_seconds(void);
unsigned long get_ctr(void); /* nanoseconds */
void splitc_exit(int code);  /* does the same as exit(): see docs/splitc-language.md */

#ifdef __cplusplus
}
#else
/* Programs of the time count on this header. */
#include <split-c/control.h>
/* They count on the machine's own library, too. */
#ifdef CM5
#include <split-c/cmmd.h>
#endif
#if defined(SP1) || defined(SP2)
#include <split-c/mpl.h>
#endif
#ifdef PARAGON
#include <split-c/nx.h>
#endif
#ifdef T3D
#include <split-c/shmem.h>
#endif
#if defined(MEIKO) || defined(CS2)
#include <split-c/elan.h>
#endif
#endif

#endif
