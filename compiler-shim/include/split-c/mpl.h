/* split-c/mpl.h: MPL, the library that programs used on the SP-1 and SP-2; split-c/machines.h says how
 * it works here. */
#ifndef SPLIT_C_MPL_H
#define SPLIT_C_MPL_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The group is ALLGRP; the answer is 0. */
#define ALLGRP 0
#define DONTCARE (-1)

int mpc_environ(int* tasks, int* task);
int mpc_sync(int group);
/* Collective: block q of `out' goes to process q, where it is block MYPROC of `in'. */
int mpc_index(const void* out, void* in, unsigned long bytes, int group);
/* Collective: every process' block becomes block q of all `in'. */
int mpc_concat(const void* out, void* in, unsigned long bytes, int group);
/* Collective: the process `source' has the bytes before, all after. */
int mpc_bcast(void* bytes, unsigned long count, int source, int group);
/* Collective: `to' has block q of process q; block q of `from' goes to process q; the block of process
 * MYPROC - step, round the ring when `wraps' is not 0. */
int mpc_gather(const void* out, void* in, unsigned long bytes, int to, int group);
int mpc_scatter(const void* out, void* in, unsigned long bytes, int from, int group);
int mpc_shift(const void* out, void* in, unsigned long bytes, int step, int wraps, int group);
/* Collective: function(a, b, result, &bytes) combines two blocks; the result of all processes in all,
 * in process `to', of the processes up to this one. */
#ifdef __cplusplus
#define __SPLITC_COMBINER void (*function)(void*, void*, void*, unsigned long*)
#else
#define __SPLITC_COMBINER void (*function)() /* programs say int* or size_t* */
#endif
int mpc_combine(const void* out, void* in, unsigned long bytes, __SPLITC_COMBINER, int group);
int mpc_reduce(const void* out, void* in, unsigned long bytes, int to, __SPLITC_COMBINER,
               int group);
int mpc_prefix(const void* out, void* in, unsigned long bytes, __SPLITC_COMBINER, int group);
/* MPL's own functions for them: int, float, double. */
void i_vadd(void*, void*, void*, unsigned long*), i_vmul(void*, void*, void*, unsigned long*),
    i_vmax(void*, void*, void*, unsigned long*), i_vmin(void*, void*, void*, unsigned long*);
void s_vadd(void*, void*, void*, unsigned long*), s_vmul(void*, void*, void*, unsigned long*),
    s_vmax(void*, void*, void*, unsigned long*), s_vmin(void*, void*, void*, unsigned long*);
void d_vadd(void*, void*, void*, unsigned long*), d_vmul(void*, void*, void*, unsigned long*),
    d_vmax(void*, void*, void*, unsigned long*), d_vmin(void*, void*, void*, unsigned long*);

#ifdef __cplusplus
}
#else
/* These end the job with a sentence. */
int mpc_send(), mpc_recv(), mpc_bsend(), mpc_brecv(), mpc_bsendrecv(), mpc_wait(), mpc_status(),
    mpc_probe(), mpc_rcvncall(), mpc_group(), mpc_partition(), mpc_task_query(), mpc_stopall(),
    mpc_lockrnc();
#endif

#endif
