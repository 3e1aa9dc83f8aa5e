/// Collective calls that differ, with the places of both; data that change while they are sent.

#include <cstdlib>
#include <vector>

#include "tests/checked/mistakes.hpp"

namespace viaduct::splitc_test {
namespace {

using namespace splitc;

volatile int sink = 0;

constexpr int kBarrierLine = __LINE__ + 1;
void call_barrier() { barrier(); }
constexpr int kReduceLine = __LINE__ + 1;
void call_reduce() { sink = all_reduce_add(1); }
constexpr int kFirstLine = __LINE__ + 1;
void bcast_of_first() { sink = all_bcast(1, 0); }
constexpr int kSecondLine = __LINE__ + 1;
void bcast_of_second() { sink = all_bcast(1, 1); }
constexpr int kTenLine = __LINE__ + 1;
void allocate_ten() { sink = *all_malloc<int>(10); }
constexpr int kElevenLine = __LINE__ + 1;
void allocate_eleven() { sink = *all_malloc<int>(11); }
constexpr int kStoreSyncLine = __LINE__ + 1;
void call_store_sync() { all_store_sync(); }
constexpr int kStoreLine = __LINE__ + 1;
void store_it(global_ptr<int> to, const int* from) { bulk_store(to, from, 5000); }

std::string call_at(const std::string& call, int line) {
  return call + " at [^ ]*calls.cpp:" + std::to_string(line);
}

/// Process 0 calls the first, the others the second; which of them comes to tell is open.
template <void (*One)(), void (*Other)()>
void add_different(Misuses& all, const char* name, const std::string& one, const std::string& other,
                   bool is_usual = false) {
  const std::string but = ", but process [0-9]+ calls ";
  all.push_back({name, kStopped,
                 "this process calls (" + one + but + other + "|" + other + but + one +
                     "): every process must .*VIA-4007",
                 [] { MYPROC == 0 ? One() : Other(); }, is_usual, true});
}

void add_collectives(Misuses& all) {
  const std::string number = " of a 4-byte signed integer";
  const std::string bcast = "all_bcast of 1 times a 4-byte signed integer from process ";
  add_different<call_barrier, call_reduce>(
      all, "collective_kind", call_at("barrier", kBarrierLine),
      call_at("all_reduce" + number + " with Add", kReduceLine), true);
  add_different<bcast_of_first, bcast_of_second>(
      all, "collective_root", call_at(bcast + "0", kFirstLine), call_at(bcast + "1", kSecondLine));
  add_different<allocate_ten, allocate_eleven>(
      all, "collective_bytes", call_at("all_malloc of 40 bytes in each process", kTenLine),
      call_at("all_malloc of 44 bytes in each process", kElevenLine));
  add_different<call_store_sync, call_barrier>(all, "collective_stores",
                                               call_at("all_store_sync", kStoreSyncLine),
                                               call_at("barrier", kBarrierLine));
}

std::vector<int> g_source(5000);
void spoil() { g_source[4000] += 1; }

void nothing() {}

/// Two flags in each process, which are reached without a poll.
long* the_flags() {
  static long* const flags = all_malloc<long>(2);
  return flags;
}
void raise(long* flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
void await(const long* flag) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
}

/// The function arrives when process 0 polls no longer, and runs in the first poll of the store.
void store_what_changes() {
  static int* const target = all_malloc<int>(5000);
  if (MYPROC == 1) atomic<nothing>(0);  // connects
  barrier();
  if (MYPROC == 1) {
    long* const flags = mapped(toglobal(0, the_flags()), 2);
    await(flags);
    atomic_put<spoil>(0);
    raise(flags + 1);
  }
  if (MYPROC != 0) return;
  raise(the_flags());
  await(the_flags() + 1);
  store_it(toglobal(1, target), g_source.data());
}

void add_sources(Misuses& all) {
  if (mapped(toglobal(next_process(), the_flags())) == nullptr) return;
  all.push_back({"source_changed", kStopped,
                 "rank 0. " + operation_at("bulk_store", "calls.cpp", kStoreLine) +
                     "the 20000 bytes at 0x[0-9a-f]+ have changed while they were sent to process "
                     "1: let no other .*VIA-4023",
                 store_what_changes, false, true});
}

}  // namespace

void add_call_mistakes(Misuses& all) {
  if (PROCS < 2) return;
  add_collectives(all);
  add_sources(all);
}

}  // namespace viaduct::splitc_test
