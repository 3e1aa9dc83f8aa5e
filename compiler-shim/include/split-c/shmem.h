/* split-c/shmem.h: the shared-memory library that programs used on the T3D; split-c/machines.h says how it
 * works here. */
#ifndef SPLIT_C_SHMEM_H
#define SPLIT_C_SHMEM_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses are of static variables or of all_malloc; words have 8 bytes. */
int _my_pe(void);
int _num_pes(void);
int _n_pes(void);
int shmem_my_pe(void);
int shmem_n_pes(void);
void shmem_put(void* to, const void* from, unsigned long words, int process);
void shmem_get(void* to, const void* from, unsigned long words, int process);
void shmem_put32(void* to, const void* from, unsigned long words, int process);
void shmem_get32(void* to, const void* from, unsigned long words, int process);
/* One word in each `stride' words. */
void shmem_iput(void* to, const void* from, long to_stride, long from_stride, unsigned long words,
                int process);
void shmem_iget(void* to, const void* from, long to_stride, long from_stride, unsigned long words,
                int process);
long shmem_swap(long* at, long value, int process); /* answers the value before */
void shmem_wait(long* at, long value);              /* until another value is there */
void shmem_fence(void), shmem_quiet(void);          /* nothing: shmem_put itself waits for the write */
void shmem_barrier_all(void);
void shmem_set_cache_inv(void);
void shmem_clear_cache_inv(void);
void shmem_udcflush(void);
long rtclock(void); /* nanoseconds */

#ifdef __cplusplus
}
#else
/* These end the job with a sentence. */
int shmem_broadcast();
#endif

#endif
