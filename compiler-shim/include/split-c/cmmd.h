/* split-c/cmmd.h: what programs took from the CM-5: CMMD; split-c/machines.h says how it works
 * here. */
#ifndef SPLIT_C_CMMD_H
#define SPLIT_C_CMMD_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _IO_FILE;

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

#ifdef __cplusplus
}
#else
/* These end the job with a sentence. */
int CMMD_send(), CMMD_receive(), CMMD_send_block(), CMMD_receive_block(), CMMD_send_noblock(),
    CMMD_send_async(), CMMD_receive_async(), CMMD_swap(), CMMD_send_and_receive(),
    CMMD_bc_to_nodes(), CMMD_bc_from_host(), CMMD_reduce_int(), CMMD_reduce_double(),
    CMMD_scan_int(), CMMD_msg_pending();
#endif

#endif
