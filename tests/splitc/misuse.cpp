/// @file
/// Breaks one rule of Split-C, as the argument says, and must not come to its end.

#include <sys/mman.h>
#include <cstdio>
#include <string_view>
#include <vector>

#include "splitc/splitc.hpp"

namespace {

using namespace viaduct::splitc;

std::string_view g_how;

bool is(std::string_view how) { return g_how == how; }

int g_here = 0;
lock_t g_lock;

global_ptr<int> other() { return toglobal((MYPROC + 1) % PROCS, &g_here); }
global_ptr<int> nobody() { return toglobal(PROCS + 5, &g_here); }
/// A process before the first one.
global_ptr<int> negative() { return toglobal(-1, &g_here); }
/// An address in the other process where nothing is.
global_ptr<int> nowhere() {
  return global_ptr<int>::from_word(viaduct::splitc::detail::make_word(
      static_cast<std::uint32_t>((MYPROC + 1) % PROCS), 0x10000));
}

// What no function that runs for another process may do.
void reads_elsewhere() { (void)read(other()); }
void writes_message() { write(nowhere(), 1); }
void syncs() { splitc::sync(); }
void meets() { barrier(); }
void stores() { store(other(), 1); }
void calls_another();
void polls() { poll(); }
void gets_block() {
  int block[100];
  (void)bulk_get(block, other(), 1);
}
void allocates() { (void)all_malloc<int>(1); }
void reduces() { (void)all_reduce_add(1); }
void calls_another() { atomic<syncs>((MYPROC + 1) % PROCS); }
void locks() { lock(toglobal((MYPROC + 1) % PROCS, &g_lock)); }

template <auto F>
bool runs_if(std::string_view how) {
  if (!is(how)) return false;
  atomic<F>((MYPROC + 1) % PROCS);
  return true;
}

/// Of null pointers, of processes that do not exist, of addresses where nothing is.
bool access(std::string_view prefix, global_ptr<int> p) {
  if (!g_how.starts_with(prefix)) return false;
  const std::string_view how = g_how.substr(prefix.size());
  std::vector<int> block(2000);
  int value = 0;
  if (how == "read") (void)read(p);
  if (how == "write") write(p, 1);
  if (how == "get") wait(get(&value, p));
  if (how == "put") {
    put(p, 1);
    splitc::sync();
  }
  if (how == "store") store(p, 1);
  if (how == "store_now") store_now(p, 1);
  if (how == "bulk_read") bulk_read(block.data(), p, block.size());
  if (how == "bulk_write") bulk_write(p, block.data(), block.size());
  if (how == "bulk_get") bulk_get(block.data(), p, block.size());
  if (how == "bulk_put") bulk_put(p, block.data(), block.size());
  if (how == "bulk_store") bulk_store(p, block.data(), block.size());
  if (how == "fetch_add") (void)fetch_add(p, 1);
  if (how == "assign") *p = 1;
  if (how == "swap") (void)swap(p, 1);
  if (how == "compare_swap") (void)compare_swap(p, 0, 1);
  if (how == "atomic") atomic<reads_elsewhere>(toproc(p));
  if (how == "lock") lock(global_ptr<lock_t>(p));
  if (how == "struct") (void)read(global_ptr<std::array<int, 25>>(p));
  return true;
}

void in_function() {
  if (runs_if<reads_elsewhere>("read_in_function") ||
      runs_if<writes_message>("write_in_function") || runs_if<syncs>("sync_in_function") ||
      runs_if<meets>("barrier_in_function") || runs_if<stores>("store_in_function") ||
      runs_if<calls_another>("atomic_in_function") || runs_if<polls>("poll_in_function") ||
      runs_if<gets_block>("bulk_get_in_function") || runs_if<allocates>("all_malloc_in_function") ||
      runs_if<reduces>("reduce_in_function") || runs_if<locks>("lock_in_function"))
    return;
}

void free_wrongly() {
  if (is("free_of_local")) all_free(new int);
  if (is("free_of_middle")) all_free(all_malloc<int>(100) + 1);
  if (is("free_twice")) {
    int* const p = all_malloc<int>(100);
    all_free(p);
    all_free(p);
  }
  if (is("spread_free_of_middle")) all_spread_free(all_spread_malloc<int>(100) + 1);
  if (is("spread_free_of_heap")) all_spread_free(spread_ptr<int>(toglobal(0, &g_here)));
  if (is("own_free_twice")) {
    const auto p = spread_malloc<int>(100);
    spread_free(p);
    spread_free(p);
  }
  if (is("free_as_own")) spread_free(spread_ptr<int>(toglobal(0, all_malloc<int>(100))));
}

constexpr std::size_t kHuge = std::size_t{1} << 44;

void exhaust() {
  if (is("exhaust_all_malloc")) (void)all_malloc<char>(kHuge);
  if (is("exhaust_all_spread_malloc")) (void)all_spread_malloc<char>(kHuge);
  if (is("exhaust_spread_malloc")) (void)spread_malloc<char>(kHuge);
  if (is("exhaust_bit_by_bit"))
    while (true) (void)all_malloc<char>(std::size_t{1} << 20);
  if (is("overflow_all_malloc"))
    (void)all_malloc<std::array<long, 512>>(~std::size_t{0} / 4096 + 2);
  if (is("overflow_all_spread_malloc"))
    (void)all_spread_malloc<std::array<long, 512>>(~std::size_t{0} / 16);
}

void unlock_wrongly() {
  const auto l = toglobal(0, &g_lock);
  if (is("unlock_of_free")) unlock(l);
  if (is("unlock_of_anothers")) {
    if (MYPROC == 0) lock(l);
    barrier();
    if (MYPROC == 1) unlock(l);
    barrier();
  }
}

}  // namespace

int splitc_main(int argc, char** argv) {
  g_how = argc > 1 ? argv[1] : "";
  // One process errs; the others wait for it, and must not wait for ever.
  if (MYPROC == 0 || g_how.starts_with("exhaust_all") || g_how.starts_with("overflow") ||
      g_how.starts_with("free") || g_how.starts_with("spread_free") || is("exhaust_bit_by_bit")) {
    free_wrongly();
    exhaust();
    if (!access("null_", global_ptr<int>()) && !access("nobody_", nobody()) &&
        !access("nowhere_", nowhere()) && !access("negative_", negative()))
      in_function();
  }
  unlock_wrongly();
  all_store_sync();
  std::puts("nothing stopped this process");
  return 3;
}
