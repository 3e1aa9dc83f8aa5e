/* split-c/mpl.h: what programs took from the SP-1 and SP-2: MPL; split-c/machines.h says how it
 * works here. */
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

#ifdef __cplusplus
}
#else
/* These end the job with a sentence. */
int mpc_send(), mpc_recv(), mpc_bsend(), mpc_brecv(), mpc_bsendrecv(), mpc_wait(), mpc_status(),
    mpc_probe(), mpc_rcvncall(), mpc_combine(), mpc_reduce(), mpc_prefix(), mpc_shift(),
    mpc_scatter(), mpc_gather(), mpc_group(), mpc_partition(), mpc_task_query(), mpc_stopall(),
    mpc_lockrnc();
#endif

#endif
