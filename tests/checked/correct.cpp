/// @file
/// A program without mistakes, which checked mode must not disturb.
///
///     viaduct-run -n N checked_correct

#include "tests/checked/correct.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "viaduct/splitc.hpp"

namespace {

using namespace splitc;
using viaduct::splitc_test::address_of_its_read;
using viaduct::splitc_test::read_behind_unchecked;
using viaduct::splitc_test::sum_unchecked;

std::atomic<int> g_failures{0};  // ranks may be threads

void require(bool passed, const char* what, int line = __builtin_LINE()) {
  if (passed) return;
  std::fprintf(stderr, "correct.cpp:%d: process %d: %s\n", line, MYPROC, what);
  ++g_failures;
}

std::size_t each(std::size_t count) { return static_cast<std::size_t>(PROCS) * count; }

/// Allocated and freed more often than freed blocks are kept.
void arrays() {
  long expected = 0;
  for (long i = 0; i < PROCS * 100L; ++i) expected += i;
  for (int round = 0; round < 40; ++round) {
    const auto a = all_spread_malloc<long>(each(100));
    for (long i = MYPROC; i < PROCS * 100L; i += PROCS) {
      require(a[i] == 0, "an array is not zeroed");
      a[i] = i;
    }
    barrier();
    require(sum_unchecked(a, PROCS * 100L) == expected, "a wrong sum");
    auto next = a + (MYPROC + 1) % PROCS;
    require(*next == (MYPROC + 1) % PROCS, "a wrong element");
    all_spread_free(a);
    char* const large = all_malloc<char>(std::size_t{3} << 20);
    write(toglobal((MYPROC + 1) % PROCS, large + (3 << 20) - 1), 'x');
    barrier();
    require(large[(3 << 20) - 1] == 'x', "the last byte");
    all_free(large);
    const auto own = spread_malloc<int>(each(3));
    for (int i = 0; i < PROCS * 3; ++i) own[i] = i;
    barrier();
    spread_free(own);
  }
  all_spread_free(all_spread_malloc<int>(0));
}

/// Every operation, at the first and the last byte that it may touch.
void operations() {
  long* const mine = all_malloc<long>(1000);
  const auto theirs = toglobal((MYPROC + 1) % PROCS, mine);
  std::vector<long> block(1000, 7);
  bulk_write(theirs, block.data(), 1000);
  barrier();
  long value = 0;
  (void)get(&value, theirs + 999);
  put(theirs + 1, 8);
  splitc::sync();
  require(value == 7 && read(theirs + 1) == 8, "get and put");
  barrier();
  store(theirs, 5);
  bulk_store(theirs + 2, block.data(), 998);
  all_store_sync();
  require(mine[0] == 5 && mine[999] == 7, "stores");
  barrier();
  bulk_store(splitc::toglobal(MYPROC, mine + 1), mine, 10);  // to itself: a move
  all_store_sync();
  require(mine[1] == 5, "a store to the process itself");
  barrier();
  bulk_put(theirs, block.data(), 1000);
  splitc::sync();
  barrier();
  (void)fetch_add(global_ptr<long>(toglobal(0, mine)), 1);
  barrier();
  if (MYPROC == 0) require(mine[0] == 7 + PROCS, "fetch_add");
  lock_t* const turn = all_malloc<lock_t>(1);
  lock(toglobal(0, turn));
  *toglobal(0, mine + 1) += 1;
  unlock(toglobal(0, turn));
  barrier();
  if (MYPROC == 0) require(mine[1] == 7 + PROCS, "lock");
  all_free(turn);
  all_free(mine);
}

/// The same call at other places of the source is the same call.
void collectives() {
  void (*const pointer)() = barrier;
  pointer();
  if (MYPROC == 0)
    barrier();
  else
    barrier();
  const int sum = MYPROC == 0 ? all_reduce_add(1) : all_reduce_add(1);
  require(sum == PROCS, "a sum");
  barrier_notify();
  barrier_wait();
  require(all_bcast(MYPROC, PROCS - 1) == PROCS - 1, "a broadcast");
  require(static_cast<int>(all_gather(MYPROC).size()) == PROCS, "a gather");
}

/// Blocks of operator new, of several threads; each element is reached by the others.
void heap() {
  std::vector<std::unique_ptr<int[]>> blocks;
  for (std::size_t bytes = 1; bytes < 300; ++bytes)
    blocks.push_back(std::make_unique<int[]>(bytes));
  const auto all = all_gather(global_ptr<int>(blocks.back().get()));
  const auto theirs = all[static_cast<std::size_t>((MYPROC + 1) % PROCS)];
  for (int i = 0; i < 299; ++i) theirs[i] = i;
  barrier();
  for (int i = 0; i < 299; ++i)
    require(blocks.back()[static_cast<std::size_t>(i)] == i, "the heap");
  const auto churn = [] {
    for (int i = 0; i < 20000; ++i) {
      const std::vector<char> one(static_cast<std::size_t>(i % 5000), 'a');
      if (!one.empty() && one.back() != 'a') std::abort();
    }
  };
  std::thread other(churn);
  churn();
  other.join();
  static int in_program[3] = {1, 2, 3};
  int on_stack = 4;
  require(read(global_ptr<int>(in_program) + 2) == 3 && *global_ptr<int>(&on_stack) == 4,
          "what is known to nobody");
  barrier();
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPoisoned = true;  // the sanitizer itself stops an access behind a block
#elif defined(__has_feature)
constexpr bool kPoisoned = __has_feature(address_sanitizer);
#else
constexpr bool kPoisoned = false;
#endif

/// The part that is not checked has its own templates, and is not stopped.
void mixed() {
  long (*const function)(global_ptr<long>, splitc::detail::Here) = &splitc::read<long>;
  require(reinterpret_cast<const void*>(function) != address_of_its_read(), "one template of two");
  long* const ten = all_malloc<long>(10);
  if (!kPoisoned && mapped(toglobal(0, ten)) != nullptr)  // else its owner sees it
    require(read_behind_unchecked(toglobal(0, ten)) == 0, "what lies behind a block");
  all_free(ten);
}

}  // namespace

int splitc_main(int, char**) {
  arrays();
  operations();
  collectives();
  heap();
  mixed();
  return g_failures == 0 ? 0 : 1;
}
