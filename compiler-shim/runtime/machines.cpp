/// What programs took from the machines of the time besides Split-C (split-c/machines.h).

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "compiler-shim/runtime/c_callable.hpp"
#include "runtime/error.hpp"
#include "runtime/job.hpp"
#include "splitc/splitc.hpp"

// Those of the C header take their place.
#undef MYPROC
#undef PROCS
#undef PROCSLOG
#include <split-c/machines.h>

namespace {

/// Ends the job: a program that goes on without this would answer nonsense.
[[noreturn]] void absent(const char* name, const char* machine, const char* instead) {
  throw viaduct::Error(std::errc::not_supported, std::string(name) + " is of the " + machine +
                                                     " and does not exist here; use " + instead);
}

/// Said once in each program, by process 0.
void without_effect(const char* name, const char* why) {
  static bool said = false;
  if (said || MYPROC != 0) return;
  said = true;
  viaduct::splitc::job().log().write(viaduct::LogLevel::warn,
                                     std::string(name) + " has no effect: " + why);
}

void all_tasks_only(const char* name, int group) {
  if (group != ALLGRP)
    absent((std::string(name) + " with another group than ALLGRP").c_str(), "SP-1 and SP-2",
           "ALLGRP, or bulk_store and all_store_sync");
}

/// Lets every process copy what it wants of the others' @p bytes at @p own: @p take(q, address).
/// Answers 0, or -1 when there is no room.
template <class Take>
int exchange_all(const void* own, std::size_t bytes, Take&& take) {
  char* const shared = static_cast<char*>(all_malloc(bytes));
  if (shared == nullptr) return -1;
  std::memcpy(shared, own, bytes);
  barrier();
  for (int q = 0; q < PROCS; ++q) take(q, shared);
  splitc_sync();
  all_free(shared);
  return 0;
}

vsc_word at_process(int process, const void* address) { return vsc_toglobal(process, address); }

struct Timer {
  double total = 0;
  double since = -1;  // negative: it does not run
};
std::array<Timer, 64> timers;

Timer& timer_of(int number) {
  if (number < 0 || static_cast<std::size_t>(number) >= timers.size())
    throw viaduct::Error(std::errc::invalid_argument,
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
VIADUCT_C_CALLABLE int mpc_sync(int group) {
  all_tasks_only("mpc_sync", group);
  barrier();
  return 0;
}
VIADUCT_C_CALLABLE int mpc_index(const void* out, void* in, unsigned long bytes, int group) {
  all_tasks_only("mpc_index", group);
  const auto own = static_cast<std::size_t>(MYPROC) * bytes;
  return exchange_all(out, static_cast<std::size_t>(PROCS) * bytes, [&](int q, const char* there) {
    bulk_get(static_cast<char*>(in) + static_cast<std::size_t>(q) * bytes,
             at_process(q, there + own), bytes);
  });
}
VIADUCT_C_CALLABLE int mpc_concat(const void* out, void* in, unsigned long bytes, int group) {
  all_tasks_only("mpc_concat", group);
  return exchange_all(out, bytes, [&](int q, const char* there) {
    bulk_get(static_cast<char*>(in) + static_cast<std::size_t>(q) * bytes, at_process(q, there),
             bytes);
  });
}
VIADUCT_C_CALLABLE int mpc_bcast(void* bytes, unsigned long count, int source, int group) {
  all_tasks_only("mpc_bcast", group);
  return exchange_all(bytes, count, [&](int q, const char* there) {
    if (q == source) bulk_get(bytes, at_process(q, there), count);
  });
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
VIADUCT_C_CALLABLE void shmem_barrier_all() { barrier(); }
VIADUCT_C_CALLABLE void shmem_set_cache_inv() {}
VIADUCT_C_CALLABLE void shmem_clear_cache_inv() {}
VIADUCT_C_CALLABLE void shmem_udcflush() {}
VIADUCT_C_CALLABLE long rtclock() { return static_cast<long>(get_ctr()); }

// ---- What ends the job ----

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
VIADUCT_COLLECTIVE("CM-5", CMMD_reduce_int)
VIADUCT_COLLECTIVE("CM-5", CMMD_reduce_double)
VIADUCT_COLLECTIVE("CM-5", CMMD_scan_int)

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
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_shift)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_scatter)
VIADUCT_MESSAGE("SP-1 and SP-2", mpc_gather)
VIADUCT_COLLECTIVE("SP-1 and SP-2", mpc_combine)
VIADUCT_COLLECTIVE("SP-1 and SP-2", mpc_reduce)
VIADUCT_COLLECTIVE("SP-1 and SP-2", mpc_prefix)
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
VIADUCT_COLLECTIVE("Paragon", gdsum)
VIADUCT_COLLECTIVE("Paragon", gisum)
VIADUCT_COLLECTIVE("Paragon", gdhigh)
VIADUCT_COLLECTIVE("Paragon", gdlow)
VIADUCT_COLLECTIVE("Paragon", gihigh)
VIADUCT_COLLECTIVE("Paragon", gilow)
VIADUCT_COLLECTIVE("Paragon", gcolx)

VIADUCT_ABSENT("T3D", "fetch_and_add, cmp_and_swap, or exchange of split-c/atomic.h", shmem_swap)
VIADUCT_ABSENT("T3D", "store_sync", shmem_wait)
VIADUCT_COLLECTIVE("T3D", shmem_broadcast)
VIADUCT_MESSAGE("T3D", shmem_iput)
VIADUCT_MESSAGE("T3D", shmem_iget)
