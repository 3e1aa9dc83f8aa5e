/* split-c/cmmd.h: CMMD, the library that programs used on the CM-5; split-c/machines.h says how it
 * works here. */
#ifndef SPLIT_C_CMMD_H
#define SPLIT_C_CMMD_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _IO_FILE;

enum { CMMD_independent, CMMD_local, CMMD_sync_bc, CMMD_sync_seq };

typedef int CMMD_combiner_t;
enum {
  CMMD_combiner_add,
  CMMD_combiner_uadd = CMMD_combiner_add,
  CMMD_combiner_fadd = CMMD_combiner_add,
  CMMD_combiner_dadd = CMMD_combiner_add,
  CMMD_combiner_max,
  CMMD_combiner_umax = CMMD_combiner_max,
  CMMD_combiner_fmax = CMMD_combiner_max,
  CMMD_combiner_dmax = CMMD_combiner_max,
  CMMD_combiner_min,
  CMMD_combiner_umin = CMMD_combiner_min,
  CMMD_combiner_fmin = CMMD_combiner_min,
  CMMD_combiner_dmin = CMMD_combiner_min,
  CMMD_combiner_ior,
  CMMD_combiner_and,
  CMMD_combiner_xor
};

int CMMD_self_address(void);                              /* MYPROC */
int CMMD_partition_size(void);                            /* PROCS */
int CMMD_sync_with_nodes(void);                           /* barrier() */
/* Collective: the result in all. */
int CMMD_reduce_int(int value, int combiner);
unsigned CMMD_reduce_uint(unsigned value, int combiner);
float CMMD_reduce_float(float value, int combiner);
double CMMD_reduce_double(double value, int combiner);
int CMMD_concat_with_nodes(void* own, void* all, int bytes);
void CMAM_poll(void);                                     /* splitc_poll() */
int CMMD_set_io_mode(int descriptor, int mode);           /* nothing, as CMMD_fset_io_mode() */
int CMMD_set_open_mode(int mode);
int CMMD_host_node(void);                                 /* -1: there is none */
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
    CMMD_bc_to_nodes(), CMMD_bc_from_host(), CMMD_receive_bc_from_node(), CMMD_reduce_v(),
    CMMD_scan_int(), CMMD_scan_uint(), CMMD_scan_float(), CMMD_scan_double(), CMMD_scan_v(),
    CMMD_msg_pending(), CMAM(), CMAM_4(), CMAM_reply_4(), CMAM_request_4(), CMAM_indirect_4(),
    CMAM_xfer(), CMAM_xfer_N(), CMAM_wait();
#endif

#endif
