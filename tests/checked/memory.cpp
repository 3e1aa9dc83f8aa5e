/// Blocks of all kinds: behind them, before them, and after they were freed.

#include <memory>

#include "runtime/sanitizers.hpp"
#include "tests/checked/mistakes.hpp"

namespace viaduct::splitc_test {
namespace {

using namespace splitc;

constexpr int kReadLine = __LINE__ + 1;
void read_it(global_ptr<int> p) { (void)read(p); }
constexpr int kWriteLine = __LINE__ + 1;
void write_it(global_ptr<int> p) { write(p, 1); }
constexpr int kSubscriptLine = __LINE__ + 1;
void read_element(spread_ptr<int> a, int i) { (void)static_cast<int>(a[i]); }
constexpr int kBulkLine = __LINE__ + 1;
void write_two(global_ptr<int> to, const int* from) { bulk_write(to, from, 2); }

std::string says(const std::string& operation, int line) {
  return "rank 0. " + operation_at(operation, "memory.cpp", line);
}

std::size_t ten_each() { return static_cast<std::size_t>(PROCS) * 10; }
int other() { return 1 % PROCS; }

/// What the other process makes; all get it.
template <class Make>
auto from_other(Make&& make) {
  decltype(make()) made{};
  if (MYPROC == other()) made = make();
  return all_bcast(made, other());
}

void add(Misuses& all, const char* name, const std::string& words, void (*act)(),
         bool is_usual = false) {
  all.push_back({name, kStopped, words, act, is_usual, true});
}

void add_bounds(Misuses& all) {
  add(
      all, "last_row",
      says("read", kSubscriptLine) + bytes_of(4, 0) +
          " are outside: they begin 0 bytes behind the end of " + block_of(40),
      [] {
        const auto a = all_spread_malloc<int>(ten_each());
        if (MYPROC == 0) read_element(a, PROCS * 10);
      },
      true);
  add(all, "before",
      says("write", kWriteLine) + bytes_of(4, other()) +
          " are outside: they begin [0-9]+ bytes behind the end of " + block_of(400),
      [] {
        (void)all_malloc<int>(100);
        int* const mine = all_malloc<int>(100);
        if (MYPROC == 0) write_it(toglobal(other(), mine - 1));
      });
  add(all, "before_all",
      says("read", kReadLine) + bytes_of(4, other()) +
          " are (in no block that is allocated|outside: they begin [0-9]+ bytes)",
      [] {
        int* const mine = all_malloc<int>(100);
        if (MYPROC == 0) read_it(toglobal(other(), mine + (1 << 25)));
      });
  if (splitc::detail::any_off_node()) return;  // its owner alone knows what it has allocated
  add(all, "of_one",
      says("read", kSubscriptLine) + bytes_of(4, 0) +
          " are outside: they begin 4 bytes behind the end of " + block_of(40),
      [] {
        const auto a = from_other([] { return spread_malloc<int>(ten_each()); });
        if (MYPROC == 0) read_element(a, 11 * PROCS);
      });
}

void add_freed(Misuses& all) {
  const std::string known =
      " are in a block of 40 bytes at 0x[0-9a-f]+, allocated at [^ ]*memory.cpp:[0-9]+, that has "
      "been freed at [^ ]*memory.cpp:[0-9]+: let all processes come to a barrier .*VIA-4022";
  add(
      all, "freed_array", says("read", kReadLine) + bytes_of(4, other()) + known,
      [] {
        const auto a = all_spread_malloc<int>(ten_each());
        all_spread_free(a);
        if (MYPROC == 0) read_it(a + other());
      },
      true);
  add(all, "freed_and_allocated", says("read", kReadLine) + bytes_of(4, other()) + known, [] {
    const auto a = all_spread_malloc<int>(ten_each());
    all_spread_free(a);
    (void)all_spread_malloc<int>(ten_each());
    if (MYPROC == 0) read_it(a + other());
  });
  add(all, "freed_copies", says("bulk_write", kBulkLine) + bytes_of(8, other()) + known, [] {
    int* const mine = all_malloc<int>(10);
    all_free(mine);
    const int two[] = {1, 2};
    if (MYPROC == 0) write_two(toglobal(other(), mine), two);
  });
  if (splitc::detail::any_off_node()) return;
  add(all, "freed_by_one",
      says("write", kWriteLine) + bytes_of(4, 0) +
          " are in a block .*that has been freed: let all processes come to a barrier",
      [] {
        const auto a = from_other([] { return spread_malloc<int>(ten_each()); });
        barrier();
        if (MYPROC != 0) return;
        spread_free(a);
        write_it(a);
      });
}

/// What operator new gave in the other process, which finds it where messages do the work. A
/// sanitizer has a heap of its own, and looks at it.
void add_heap(Misuses& all) {
  if (kAddressSanitizer || kThreadSanitizer) return;
  const std::string names = bytes_of(4, other()) + "(, which process 0 names,)? are ";
  add(
      all, "behind_new",
      "read.*: " + names + "outside: they begin 0 bytes behind the end of " + block_of(40),
      [] {
        const auto p = from_other([] { return global_ptr<int>(new int[10]); });
        if (MYPROC == 0) read_it(p + 10);
      },
      true);
  add(
      all, "deleted",
      "write.*: " + names + "in a block at 0x[0-9a-f]+, that has been freed: let all",
      [] {
        const auto p = from_other([] {
          const std::unique_ptr<int[]> block(new int[10]);
          return global_ptr<int>(block.get());
        });
        if (MYPROC == 0) write_it(p);
        splitc::sync();
      },
      true);
}

}  // namespace

void add_memory_mistakes(Misuses& all) {
  add_bounds(all);
  add_freed(all);
  add_heap(all);
}

}  // namespace viaduct::splitc_test
