/// The libraries that programs used on the machines of the time besides Split-C
/// (split-c/machines.h).

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <system_error>

#include "compiler-shim/runtime/checked.hpp"
#include "compiler-shim/runtime/machines.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/splitc/atomic.hpp"

namespace {

using viaduct::shim::absent;
using viaduct::shim::at_process;

/// Process 0 prints the sentence, once.
void without_effect(const char* name, const char* why) {
  static bool said = false;
  if (said || MYPROC != 0) return;
  said = true;
  viaduct::splitc::job().log().write(viaduct::LogLevel::warn,
                                     std::string(name) + " has no effect: " + why);
}

struct Timer {
  double total = 0;
  double since = -1;  // negative: it does not run
};
std::array<Timer, 64> timers;

Timer& timer_of(int number) {
  if (number < 0 || static_cast<std::size_t>(number) >= timers.size())
    throw viaduct::Error(viaduct::errors::no_such_timer, std::errc::invalid_argument,
                         "CMMD_node_timer: timer " + std::to_string(number) + " of 64");
  return timers[static_cast<std::size_t>(number)];
}

}  // namespace

// ---- Memory of the SP-1 and SP-2, where handlers of messages interrupted malloc ----

VIADUCT_C_CALLABLE void* sc_malloc_wrapper(unsigned long bytes) { return std::malloc(bytes); }
VIADUCT_C_CALLABLE void* sc_calloc_wrapper(unsigned long count, unsigned long bytes) {
  return std::calloc(count, bytes);
}
VIADUCT_C_CALLABLE void* sc_realloc_wrapper(void* memory, unsigned long bytes) {
  return std::realloc(memory, bytes);
}
VIADUCT_C_CALLABLE void sc_free_wrapper(void* memory) { std::free(memory); }

// ---- CM-5 ----

VIADUCT_C_CALLABLE int CMMD_self_address() { return MYPROC; }
VIADUCT_C_CALLABLE int CMMD_partition_size() { return PROCS; }
VIADUCT_C_CALLABLE int CMMD_sync_with_nodes() {
  barrier();
  return 0;
}
VIADUCT_C_CALLABLE void CMAM_poll() { splitc_poll(); }
VIADUCT_C_CALLABLE int CMMD_set_io_mode(int /*descriptor*/, int /*mode*/) { return 0; }
VIADUCT_C_CALLABLE int CMMD_set_open_mode(int /*mode*/) { return 0; }
VIADUCT_C_CALLABLE int CMMD_host_node() { return -1; }
VIADUCT_C_CALLABLE int CMMD_fset_io_mode(_IO_FILE* /*stream*/, int /*mode*/) { return 0; }
VIADUCT_C_CALLABLE int CMMD_enable_host() {
  without_effect("CMMD_enable_host", "there is no host computer, all processes are nodes");
  return 0;
}
VIADUCT_C_CALLABLE int CMMD_sync_with_host() {
  without_effect("CMMD_sync_with_host", "there is no host computer, all processes are nodes");
  return 0;
}
VIADUCT_C_CALLABLE int CMMD_node_timer_clear(int timer) {
  timer_of(timer) = Timer();
  return 0;
}
VIADUCT_C_CALLABLE int CMMD_node_timer_start(int timer) {
  timer_of(timer).since = get_seconds();
  return 0;
}
VIADUCT_C_CALLABLE int CMMD_node_timer_stop(int timer) {
  Timer& t = timer_of(timer);
  if (t.since >= 0) t.total += get_seconds() - t.since;
  t.since = -1;
  return 0;
}
VIADUCT_C_CALLABLE double CMMD_node_timer_elapsed(int timer) {
  const Timer& t = timer_of(timer);
  return t.total + (t.since >= 0 ? get_seconds() - t.since : 0);
}
VIADUCT_C_CALLABLE double CMMD_node_timer_busy(int timer) { return CMMD_node_timer_elapsed(timer); }

// ---- SP-1, SP-2 ----

VIADUCT_C_CALLABLE int mpc_environ(int* tasks, int* task) {
  *tasks = PROCS;
  *task = MYPROC;
  return 0;
}
// ---- Paragon ----

VIADUCT_C_CALLABLE long mynode() { return MYPROC; }
VIADUCT_C_CALLABLE long numnodes() { return PROCS; }
VIADUCT_C_CALLABLE void gsync() { barrier(); }
VIADUCT_C_CALLABLE double dclock() { return get_seconds(); }

// ---- T3D ----

VIADUCT_C_CALLABLE int _my_pe() { return MYPROC; }
VIADUCT_C_CALLABLE int _num_pes() { return PROCS; }
VIADUCT_C_CALLABLE int shmem_my_pe() { return MYPROC; }
VIADUCT_C_CALLABLE int _n_pes() { return PROCS; }
VIADUCT_C_CALLABLE int shmem_n_pes() { return PROCS; }
VIADUCT_C_CALLABLE void shmem_put(void* to, const void* from, unsigned long words, int process) {
  bulk_write(at_process(process, to), from, words * 8);
}
VIADUCT_C_CALLABLE void shmem_get(void* to, const void* from, unsigned long words, int process) {
  bulk_read(to, at_process(process, from), words * 8);
}
VIADUCT_C_CALLABLE void shmem_put32(void* to, const void* from, unsigned long words, int process) {
  bulk_write(at_process(process, to), from, words * 4);
}
VIADUCT_C_CALLABLE void shmem_get32(void* to, const void* from, unsigned long words, int process) {
  bulk_read(to, at_process(process, from), words * 4);
}
// A stride of one word between elements is a block.
VIADUCT_C_CALLABLE void shmem_iput(void* to, const void* from, long to_stride, long from_stride,
                                   unsigned long words, int process) {
  for (long i = 0; i < static_cast<long>(words); ++i)
    bulk_put(at_process(process, static_cast<long*>(to) + i * to_stride),
             static_cast<const long*>(from) + i * from_stride, 8);
  splitc_sync();
}
VIADUCT_C_CALLABLE void shmem_iget(void* to, const void* from, long to_stride, long from_stride,
                                   unsigned long words, int process) {
  for (long i = 0; i < static_cast<long>(words); ++i)
    bulk_get(static_cast<long*>(to) + i * to_stride,
             at_process(process, static_cast<const long*>(from) + i * from_stride), 8);
  splitc_sync();
}
VIADUCT_C_CALLABLE long shmem_swap(long* at, long value, int process) {
  const viaduct::shim::checked::Ordering ordering;
  return viaduct::splitc::swap(
      viaduct::splitc::global_ptr<long>::from_word(at_process(process, at)), value);
}
VIADUCT_C_CALLABLE void shmem_wait(long* at, long value) {
  const viaduct::shim::checked::Ordering ordering;
  while (__atomic_load_n(at, __ATOMIC_ACQUIRE) == value) splitc_poll();
}
VIADUCT_C_CALLABLE void shmem_fence() {}
VIADUCT_C_CALLABLE void shmem_quiet() {}
VIADUCT_C_CALLABLE void shmem_barrier_all() { barrier(); }
VIADUCT_C_CALLABLE void shmem_set_cache_inv() {}
VIADUCT_C_CALLABLE void shmem_clear_cache_inv() {}
VIADUCT_C_CALLABLE void shmem_udcflush() {}
VIADUCT_C_CALLABLE long rtclock() { return static_cast<long>(get_ctr()); }

// ---- Meiko CS-2 ----

VIADUCT_C_CALLABLE void ew_baseInit() {}
VIADUCT_C_CALLABLE void ew_gsync(void* /*group*/) { barrier(); }
VIADUCT_C_CALLABLE void ew_fgsync(void* /*group*/) { barrier(); }

// ---- Functions that end the job ----

#define VIADUCT_ABSENT(machine, instead, name) \
  VIADUCT_C_CALLABLE int name() { absent(#name, machine, instead); }

#define VIADUCT_MESSAGE(machine, name) \
  VIADUCT_ABSENT(machine, "bulk_store and store_sync, or bulk_read and bulk_write", name)
#define VIADUCT_COLLECTIVE(machine, name) \
  VIADUCT_ABSENT(machine, "all_reduce_to_all_add and its like, all_scan_add, all_bcast", name)

VIADUCT_MESSAGE("CM-5", CMMD_send)
VIADUCT_MESSAGE("CM-5", CMMD_receive)
VIADUCT_MESSAGE("CM-5", CMMD_send_block)
VIADUCT_MESSAGE("CM-5", CMMD_receive_block)
VIADUCT_MESSAGE("CM-5", CMMD_send_noblock)
VIADUCT_MESSAGE("CM-5", CMMD_send_async)
VIADUCT_MESSAGE("CM-5", CMMD_receive_async)
VIADUCT_MESSAGE("CM-5", CMMD_swap)
VIADUCT_MESSAGE("CM-5", CMMD_send_and_receive)
VIADUCT_MESSAGE("CM-5", CMMD_msg_pending)
VIADUCT_COLLECTIVE("CM-5", CMMD_bc_to_nodes)
VIADUCT_COLLECTIVE("CM-5", CMMD_bc_from_host)
VIADUCT_COLLECTIVE("CM-5", CMMD_receive_bc_from_node)
VIADUCT_COLLECTIVE("CM-5", CMMD_reduce_v)
VIADUCT_COLLECTIVE("CM-5", CMMD_scan_int)
VIADUCT_COLLECTIVE("CM-5", CMMD_scan_uint)
VIADUCT_COLLECTIVE("CM-5", CMMD_scan_float)
VIADUCT_COLLECTIVE("CM-5", CMMD_scan_double)
VIADUCT_COLLECTIVE("CM-5", CMMD_scan_v)

VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_4)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_reply_4)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_request_4)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_indirect_4)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_xfer)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_xfer_N)
VIADUCT_ABSENT("CM-5", "atomic(f, pointer, ...), bulk_store, or the library of Active Messages",
               CMAM_wait)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_send)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_recv)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_bsend)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_brecv)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_bsendrecv)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_wait)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_status)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_probe)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_rcvncall)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_lockrnc)
VIADUCT_ABSENT("SP-1 and SP-2", "MYPROC and PROCS", mpc_group)
VIADUCT_ABSENT("SP-1 and SP-2", "MYPROC and PROCS", mpc_partition)
VIADUCT_ABSENT("SP-1 and SP-2", "MYPROC and PROCS", mpc_task_query)
VIADUCT_ABSENT("SP-1 and SP-2", "exit", mpc_stopall)

VIADUCT_MESSAGE("Paragon", csend)
VIADUCT_MESSAGE("Paragon", crecv)
VIADUCT_MESSAGE("Paragon", isend)
VIADUCT_MESSAGE("Paragon", irecv)
VIADUCT_MESSAGE("Paragon", hrecv)
VIADUCT_MESSAGE("Paragon", msgwait)
VIADUCT_MESSAGE("Paragon", msgdone)
VIADUCT_MESSAGE("Paragon", iprobe)
VIADUCT_MESSAGE("Paragon", cprobe)
// Their `long' had 32 bits: programs pass arrays of int.
VIADUCT_COLLECTIVE("Paragon", gisum)
VIADUCT_COLLECTIVE("Paragon", gihigh)
VIADUCT_COLLECTIVE("Paragon", gilow)
VIADUCT_COLLECTIVE("Paragon", gcolx)

VIADUCT_COLLECTIVE("T3D", shmem_broadcast)

VIADUCT_MESSAGE("Meiko CS-2", ew_tportInit)
VIADUCT_MESSAGE("Meiko CS-2", ew_tportTxStart)
VIADUCT_MESSAGE("Meiko CS-2", ew_tportRxStart)
VIADUCT_MESSAGE("Meiko CS-2", elan_dma)
VIADUCT_MESSAGE("Meiko CS-2", csn_init)
VIADUCT_MESSAGE("Meiko CS-2", csn_open)
VIADUCT_MESSAGE("Meiko CS-2", csn_registername)
VIADUCT_MESSAGE("Meiko CS-2", csn_lookupname)
VIADUCT_MESSAGE("Meiko CS-2", csn_tx)
VIADUCT_MESSAGE("Meiko CS-2", csn_rx)
