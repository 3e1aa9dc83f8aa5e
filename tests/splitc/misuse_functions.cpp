/// What functions that atomic() runs may not do.

#include <array>
#include <stdexcept>

#include "tests/splitc/misuse.hpp"

namespace viaduct::splitc_test {
namespace {

using namespace splitc;

int g_static = 0;
lock_t g_lock;

/// Of the process after the one that runs the function: with two processes the caller's.
global_ptr<int> other() { return toglobal(next_process(), &g_static); }
/// Memory that everybody reaches directly, where anything is reached directly.
global_ptr<int> g_spread;
void make_spread() {
  static spread_ptr<int> array;
  if (!array) array = all_spread_malloc<int>(static_cast<std::size_t>(PROCS));
  g_spread = array;
}

void reads() { (void)read(other()); }
void reads_spread() { (void)read(g_spread); }
void writes() { write(other(), 1); }
void writes_spread() { *g_spread = 1; }
void writes_fenced() { write_fenced(g_spread, 1); }
void gets() {
  int value = 0;
  get(&value, g_spread);
}
void puts_value() { put(g_spread, 1); }
void stores() { store(other(), 1); }
void stores_now() { store_now(g_spread, 1); }
void reads_large() { (void)read(global_ptr<std::array<int, 25>>(other())); }
void reads_block() {
  int block[100];
  bulk_read(block, other(), 100);
}
void gets_block() {
  int block[100];
  (void)bulk_get(block, other(), 100);
}
void stores_block() {
  int block[100] = {};
  bulk_store(other(), block, 100);
}
void adds() { (void)fetch_add(g_spread, 1); }
void locks() { lock(toglobal(next_process(), &g_lock)); }
void tries_lock() { (void)try_lock(toglobal(next_process(), &g_lock)); }
void unlocks() { unlock(toglobal(next_process(), &g_lock)); }
void syncs() { splitc::sync(); }
void asks_sync() { (void)is_sync(); }
void store_syncs() { store_sync(0); }
void asks_stored() { (void)is_stored(0); }
void resets() { reset_store_sync(); }
void all_store_syncs() { all_store_sync(); }
void meets() { barrier(); }
void notifies() { barrier_notify(); }
void polls() { poll(); }
void allocates() { (void)all_malloc<int>(1); }
void allocates_own() { (void)spread_malloc<int>(1); }
void frees() { spread_free(spread_ptr<int>(g_spread)); }
void reduces() { (void)all_reduce_add(1); }
void broadcasts() { (void)all_bcast(1); }
void nothing() {}
void calls_another() { atomic<nothing>(next_process()); }
void throws_error() { throw std::runtime_error("the cupboard is bare"); }
void throws_number() { throw 7; }

template <auto F>
void add(Misuses& all, const std::string& name, const std::string& operation,
         const std::string& what, bool is_usual = false) {
  all.push_back({name, kStopped, rank_says(1, operation) + what,
                 [] {
                   make_spread();
                   if (MYPROC == 0) atomic<F>(next_process());
                 },
                 is_usual, true});
}

template <auto F>
void add_use(Misuses& all, const std::string& name, const std::string& operation,
             bool is_usual = false) {
  add<F>(all, name + "_in_function", operation,
         "called by a function that atomic.. runs: it may use local memory only; communicate where",
         is_usual);
}

}  // namespace

void add_function_misuses(Misuses& all) {
  add_use<reads>(all, "read", "read");
  add_use<reads_spread>(all, "read_spread", "read", true);
  add_use<reads_large>(all, "read_large", "read");
  add_use<writes>(all, "write", "write");
  add_use<writes_spread>(all, "write_spread", "write");
  add_use<writes_fenced>(all, "write_fenced", "write_fenced");
  add_use<gets>(all, "get", "get");
  add_use<puts_value>(all, "put", "put");
  add_use<stores>(all, "store", "store", true);
  add_use<stores_now>(all, "store_now", "store_now");
  add_use<reads_block>(all, "bulk_read", "bulk_read");
  add_use<gets_block>(all, "bulk_get", "bulk_get");
  add_use<stores_block>(all, "bulk_store", "bulk_store");
  add_use<adds>(all, "fetch_add", "fetch_add");
  add_use<locks>(all, "lock", "lock");
  add_use<tries_lock>(all, "try_lock", "try_lock");
  add_use<unlocks>(all, "unlock", "unlock");
  add_use<syncs>(all, "sync", "sync", true);
  add_use<asks_sync>(all, "is_sync", "is_sync");
  add_use<store_syncs>(all, "store_sync", "store_sync");
  add_use<asks_stored>(all, "is_stored", "is_stored");
  add_use<resets>(all, "reset_store_sync", "reset_store_sync");
  add_use<all_store_syncs>(all, "all_store_sync", "all_store_sync");
  add_use<meets>(all, "barrier", "barrier", true);
  add_use<notifies>(all, "barrier_notify", "barrier_notify");
  add_use<polls>(all, "poll", "poll");
  add_use<allocates>(all, "all_malloc", "all_malloc");
  add_use<allocates_own>(all, "spread_malloc", "spread_malloc");
  add_use<frees>(all, "spread_free", "spread_free");
  add_use<reduces>(all, "all_reduce", "all_reduce");
  add_use<broadcasts>(all, "all_bcast", "all_bcast");
  add_use<calls_another>(all, "atomic", "atomic");
  const std::string runs =
      "the function that process 0 runs in process " + std::to_string(1 % PROCS) + " threw: ";
  add<throws_error>(all, "function_throws", "atomic", runs + "the cupboard is bare; catch it",
                    true);
  add<throws_number>(all, "function_throws_a_number", "atomic", runs + "what is no std::exception");
}

}  // namespace viaduct::splitc_test
