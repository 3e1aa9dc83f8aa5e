/* split-c/machines.h: what programs took from the machines of the time besides Split-C.
 *
 * What has a meaning here works: numbers of processes, barriers, clocks, shmem_put and shmem_get,
 * the exchanges of MPL among all processes. What has none and does no harm (modes of standard
 * streams, cache control, the host of a CM-5) does nothing; where a program might have counted on
 * it, process 0 says so once. All else, sends and receives above all, ends the job with a sentence
 * when it is called. Programs find this by the names that the machines had: <cm/cmmd.h>,
 * <mpproto.h>, <nx.h>, <mpp/shmem.h>, <elan/elan.h>, <cm5/host.h>.
 */
#ifndef SPLIT_C_MACHINES_H
#define SPLIT_C_MACHINES_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _IO_FILE;

/* ---- CM-5: CMMD ---- */

enum { CMMD_independent, CMMD_local, CMMD_sync_bc, CMMD_sync_seq };

int CMMD_self_address(void);                              /* MYPROC */
int CMMD_partition_size(void);                            /* PROCS */
int CMMD_sync_with_nodes(void);                           /* barrier() */
int CMMD_host_node(void);                                 /* -1: no process is it */
int CMMD_fset_io_mode(struct _IO_FILE* stream, int mode); /* nothing: streams are independent */
int CMMD_enable_host(void);
int CMMD_sync_with_host(void);
int CMMD_node_timer_clear(int timer); /* 64 timers, in seconds */
int CMMD_node_timer_start(int timer);
int CMMD_node_timer_stop(int timer);
double CMMD_node_timer_elapsed(int timer);
double CMMD_node_timer_busy(int timer);

/* ---- SP-1, SP-2: MPL. The group is ALLGRP; the answer is 0. ---- */

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

/* ---- Paragon: NX ---- */

long mynode(void);
long numnodes(void);
void gsync(void);
double dclock(void); /* seconds */

/* ---- T3D: shared memory. Addresses are of static variables or of all_malloc; words have 8 bytes.
 */

int _my_pe(void);
int _num_pes(void);
int shmem_my_pe(void);
int shmem_n_pes(void);
void shmem_put(void* to, const void* from, unsigned long words, int process);
void shmem_get(void* to, const void* from, unsigned long words, int process);
void shmem_put32(void* to, const void* from, unsigned long words, int process);
void shmem_get32(void* to, const void* from, unsigned long words, int process);
void shmem_barrier_all(void);
void shmem_set_cache_inv(void);
void shmem_clear_cache_inv(void);
void shmem_udcflush(void);
long rtclock(void); /* nanoseconds */

#ifndef __cplusplus
/* ---- These end the job with a sentence ---- */

int CMMD_send(), CMMD_receive(), CMMD_send_block(), CMMD_receive_block(), CMMD_send_noblock(),
    CMMD_send_async(), CMMD_receive_async(), CMMD_swap(), CMMD_send_and_receive(),
    CMMD_bc_to_nodes(), CMMD_bc_from_host(), CMMD_reduce_int(), CMMD_reduce_double(),
    CMMD_scan_int(), CMMD_msg_pending();
int mpc_send(), mpc_recv(), mpc_bsend(), mpc_brecv(), mpc_bsendrecv(), mpc_wait(), mpc_status(),
    mpc_probe(), mpc_rcvncall(), mpc_combine(), mpc_reduce(), mpc_prefix(), mpc_shift(),
    mpc_scatter(), mpc_gather(), mpc_group(), mpc_partition(), mpc_task_query(), mpc_stopall(),
    mpc_lockrnc();
int csend(), crecv(), isend(), irecv(), msgwait(), msgdone(), hrecv(), iprobe(), cprobe(), gdsum(),
    gisum(), gdhigh(), gdlow(), gihigh(), gilow(), gcolx();
int shmem_swap(), shmem_wait(), shmem_broadcast(), shmem_iput(), shmem_iget();
#endif

#ifdef __cplusplus
}
#endif

#endif
