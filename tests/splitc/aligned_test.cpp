/// @file
/// Pointers whose words have the object's place in them, and jobs that have none.
///
///     aligned_test yes | no           the job has such pointers; has none
///     aligned_test walk | leap        goes out of the region by reads; writes far behind it
///     aligned_test bulk | store | before | raise    other ways out of it; a signal that is sent
///     aligned_test taken              process 1 has other memory at the place of process 0's
///     region

#include <sys/mman.h>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::detail::kAlignedBit;

int wrong = 0;

void check(bool passed, const std::string& what, int line = __builtin_LINE()) {
  if (passed) return;
  fmt::print(stderr, "aligned_test.cpp:{}: process {}: {}\n", line, MYPROC, what);
  ++wrong;
}

bool is_aligned(std::uint64_t word) { return (word & kAlignedBit) != 0; }

struct Pair {
  long first;
  long second;
};
long g_static = 7;

/// Words of objects in the region and elsewhere, and all that is made of them.
void use(bool aligned) {
  auto* const mine = splitc::all_malloc<Pair>(4);
  for (int i = 0; i < 4; ++i) mine[i] = {MYPROC * 10 + i, -MYPROC};
  auto* const from_heap = new long(MYPROC);
  const auto heap = splitc::all_gather(splitc::toglobal(from_heap));
  splitc::barrier();
  for (int p = 0; p < PROCS; ++p) {
    const auto there = splitc::toglobal(p, mine);
    check(is_aligned(there.word()) == aligned, "the region's objects");
    check(there.process() == static_cast<std::uint32_t>(p), "the process");
    check(splitc::tolocal(there) == mine, "tolocal");
    check(splitc::toglobal(p, mine + 4) == there + 4, "the end of an array");
    check(splitc::toglobal(p, mine - 1) == there - 1, "before the first array");
    check(splitc::tolocal(there - 1) == mine - 1, "before it, here");
    check((there + 3) - there == 3 && there + 3 > there, "arithmetic in a process");
    check(splitc::read((there + 3).field(&Pair::first)) == p * 10 + 3, "read");
    check(Pair(there[2]).second == -p, "read of a structure");
    const Pair* const here = splitc::mapped(there);
    check(here == nullptr ? !aligned : here->first == p * 10, "mapped");
    if (aligned && p != MYPROC)
      check(reinterpret_cast<std::uint64_t>(here) == (there.word() & (kAlignedBit - 1)),
            "the place in the word");
    check(splitc::read(heap[static_cast<std::size_t>(p)]) == p, "an object of malloc");
    const auto other = splitc::toglobal(p, &g_static);
    check(!is_aligned(other.word()) && splitc::read(other) == 7, "a static variable");
  }
  splitc::barrier();
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, mine).field(&Pair::second);
  splitc::write(next, 100L + MYPROC);
  splitc::barrier();
  check(mine->second == 100 + (MYPROC + PROCS - 1) % PROCS, "write");
  splitc::barrier();
  *next += 5;
  (void)splitc::fetch_add(next, 1);
  splitc::put(next, splitc::read(next) + 1);
  splitc::sync();
  splitc::barrier();
  check(mine->second == 107 + (MYPROC + PROCS - 1) % PROCS, "the other operations");
  delete from_heap;
  splitc::all_free(mine);
}

/// `*p += by` and its like do what they do to an object of this process, and touch nothing beside
/// it.
template <class T>
struct Three {
  T before, at, behind;
};

template <class T, class Operand>
void change(T start, Operand by) {
  auto* const mine = splitc::all_malloc<Three<T>>(1);
  *mine = {start, start, start};
  splitc::barrier();
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, &mine->at);
  T here = start;
  const auto both = [&](const char* what, T wanted) {
    here = wanted;
    check(splitc::read(next) == here, fmt::format("{} of {} bytes", what, sizeof(T)));
  };
  if constexpr (std::is_same_v<T, bool>) {
    *next |= by;
    both("|= on a truth value", here || by != 0);
  } else {
    *next += by;
    both("+=", static_cast<T>(here + by));
    *next -= 3 * by;
    both("-=", static_cast<T>(here - 3 * by));
    ++*next;
    both("++", static_cast<T>(here + 1));
    --*next;
    --*next;
    both("--", static_cast<T>(here - 2));
  }
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Operand> && !std::is_same_v<T, bool>) {
    *next |= by;
    both("|=", static_cast<T>(here | by));
    *next ^= by / 3;
    both("^=", static_cast<T>(here ^ (by / 3)));
    *next &= ~by;
    both("&=", static_cast<T>(here & ~by));
  }
  splitc::barrier();
  check(mine->at == here && mine->before == start && mine->behind == start, "what lies beside it");
  splitc::all_free(mine);
}

void change_words() {
  change<signed char>(100, 77);
  change<unsigned char>(200, 0x1234567);
  change<std::int16_t>(-30000, 12345L);
  change<std::uint32_t>(0xfffffff0, 0x123456789abcdefL);
  change<int>(-5, static_cast<unsigned char>(200));
  change<long>(-1, 0xffffffffU);
  change<std::uint64_t>(1, 0xfffffffffffffff9U);
  change<bool>(false, 2);
  change<int>(1000, 2.5);
  change<double>(0.5, 3);
  change<float>(0.5F, 1.25);
}

/// A spread array, element by element and by ranges, in both directions.
void go_through_spread(bool aligned) {
  const long count = 5L * PROCS + 3;
  const auto array = splitc::all_spread_malloc<long>(static_cast<std::size_t>(count));
  check(is_aligned(array.word()) == aligned, "a spread array");
  if (MYPROC == 0)
    for (long i = 0; i < count; ++i) array[i] = i;
  splitc::barrier();
  long at = 0;
  for (auto p = array; p != array + count; ++p, ++at) {
    check(splitc::read(p) == at && p - array == at && array + at == p, "an element");
    check(splitc::toproc(p) == at % PROCS, "its process");
    check(p >= array && (at == 0 || p - 1 < p), "the order");
  }
  for (auto p = array + count; p != array;) check(splitc::read(--p) == --at, "backwards");
  splitc::barrier();
  splitc::all_spread_free(array);
}

/// By steps through the region, and out of it.
[[noreturn]] void walk_out() {
  auto p = splitc::toglobal((MYPROC + 1) % PROCS, splitc::all_malloc<char>(1));
  for (;; p += 4096) (void)splitc::read(p);
}

/// Between the regions of two processes.
void leap_out() {
  constexpr std::ptrdiff_t kFar = std::ptrdiff_t{100} << 20;
  splitc::write(splitc::toglobal((MYPROC + 1) % PROCS, splitc::all_malloc<char>(1)) + kFar, 'x');
}

/// As far behind the region as a pointer comes by a wrong index, and by whole regions.
void go_astray(const std::string& how) {
  auto mine = splitc::all_malloc<long>(1);
  *mine = 0;
  splitc::barrier();
  long value = 1;
  const auto there = splitc::toglobal((MYPROC + 1) % PROCS, mine);
  if (how == "bulk") splitc::bulk_read(&value, there + (1L << 40), 1);
  if (how == "store") splitc::store(there + (1L << 40), value);
  if (how == "before") (void)splitc::read(splitc::toglobal(0, mine) - 4096);
  if (how == "raise") (void)std::raise(SIGSEGV);
}

int run(const std::string& how) {
  if (how == "walk") walk_out();
  if (how == "leap") leap_out();
  if (how != "yes" && how != "no" && how != "taken") go_astray(how);
  use(how == "yes");
  change_words();
  go_through_spread(how == "yes");
  const int all = splitc::all_reduce_add(wrong);
  if (MYPROC == 0) fmt::print("{} processes, {} wrong\n", PROCS, all);
  return all == 0 ? 0 : 1;
}

/// Before Split-C begins.
[[gnu::constructor]] void take_the_place(int argc, char** argv, char** /*environment*/) {
  const char* const rank = std::getenv("VIADUCT_RANK");
  if (argc < 2 || std::string(argv[1]) != "taken" || rank == nullptr || std::string(rank) != "1")
    return;
  // The places that Split-C tries: 8 TiB, and 1 TiB behind the usual region, by its size.
  for (std::uint64_t piece = std::uint64_t{1} << 43; piece > std::uint64_t{1} << 30; piece /= 2) {
    constexpr std::uint64_t kBehind = (std::uint64_t{64} << 30) + (std::uint64_t{1} << 40);
    auto* const place = reinterpret_cast<void*>((kBehind + piece - 1) / piece * piece);
    if (::mmap(place, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != place)
      std::abort();
  }
}

}  // namespace
}  // namespace viaduct::splitc_test

int splitc_main(int argc, char** argv) {
  return viaduct::splitc_test::run(argc > 1 ? argv[1] : "yes");
}
