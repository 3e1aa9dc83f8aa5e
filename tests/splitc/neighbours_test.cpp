/// @file
/// Stores that are counted on counters of the target: a stencil on a ring of processes, each of
/// which waits for its two neighbours and for nobody else, while processes are held up at moments
/// that differ from round to round. And the trap that the counters are for.
///
///     neighbours_test ROUNDS

#include <unistd.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "tests/splitc/model_values.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::store_counter;

constexpr std::size_t kSteps = 10;
constexpr store_counter kFromLeft{0};
constexpr store_counter kFromRight{splitc::kStoreCounters - 1};

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a + 1) * 0x9e3779b97f4a7c15 ^ (b + 1) * 0xbf58476d1ce4e5b9;
  return (h ^ h >> 29) * 0x94d049bb133111eb >> 8;
}

/// Holds this process up: mostly not at all, else in the kernel or computing, with poll points or
/// without.
void delay(std::uint64_t round, std::uint64_t step, std::uint64_t where) {
  const std::uint64_t h = mixed(round * 64 + step, static_cast<std::uint64_t>(MYPROC) * 8 + where);
  if (h % 8 == 0) usleep(static_cast<useconds_t>(h / 8 % 120));
  if (h % 8 == 1)
    for (const double end = splitc::get_seconds() + 1e-7 * static_cast<double>(h / 8 % 300);
         splitc::get_seconds() < end;) {
    }
  if (h % 8 == 2)
    for (std::uint64_t i = 0; i < h / 8 % 16; ++i) splitc::poll();
}

std::uint64_t first_value(std::uint64_t round, std::uint64_t process) {
  return mixed(round, 1000 + process);
}
std::uint64_t next_value(std::uint64_t left, std::uint64_t own, std::uint64_t right) {
  return left * 31 + own * 17 + right;
}

/// What the ring comes to, by one process.
std::vector<std::uint64_t> alone(std::uint64_t round) {
  const auto n = static_cast<std::size_t>(PROCS);
  std::vector<std::uint64_t> now(n);
  for (std::size_t p = 0; p < n; ++p) now[p] = first_value(round, p);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::vector<std::uint64_t> before = now;
    for (std::size_t p = 0; p < n; ++p)
      now[p] = next_value(before[(p + n - 1) % n], before[p], before[(p + 1) % n]);
  }
  return now;
}

/// What the neighbours write here: of each of two steps in turn, of each side, all cells alike.
class Ghosts {
 public:
  explicit Ghosts(std::size_t cells)
      : cells_(cells), memory_(splitc::all_malloc<std::uint64_t>(4 * cells)) {}
  void free() const { splitc::all_free(memory_); }
  [[nodiscard]] std::uint64_t* of(std::size_t step, std::size_t side) const {
    return memory_ + (step % 2 * 2 + side) * cells_;
  }
  [[nodiscard]] std::size_t cells() const { return cells_; }

 private:
  std::size_t cells_;
  std::uint64_t* memory_;
};

void send(const Ghosts& ghosts, std::size_t step, std::size_t side, std::uint64_t value) {
  const int ahead = side == 0 ? 1 : PROCS - 1;  // our right neighbour has us at its left
  const auto to = splitc::toglobal((MYPROC + ahead) % PROCS, ghosts.of(step, side));
  const store_counter counter = side == 0 ? kFromLeft : kFromRight;
  if (ghosts.cells() == 1) return splitc::store(to, value, counter);
  const std::vector<std::uint64_t> block(ghosts.cells(), value);
  splitc::bulk_store(to, block.data(), block.size(), counter);
}

/// The cell of the side; counts what is not like it.
std::uint64_t take(const Ghosts& ghosts, std::size_t step, std::size_t side, int& wrong) {
  const std::uint64_t* const cells = ghosts.of(step, side);
  for (std::size_t i = 1; i < ghosts.cells(); ++i) wrong += cells[i] != cells[0];
  return cells[0];
}

int run_round(const Ghosts& ghosts, std::uint64_t round) {
  int wrong = 0;
  std::uint64_t value = first_value(round, static_cast<std::uint64_t>(MYPROC));
  for (std::size_t step = 0; step < kSteps; ++step) {
    delay(round, step, 0);
    send(ghosts, step, 0, value);
    delay(round, step, 1);
    send(ghosts, step, 1, value);
    const std::size_t bytes = ghosts.cells() * sizeof value;
    kFromLeft.wait(bytes);
    delay(round, step, 2);
    kFromRight.wait(bytes);
    delay(round, step, 3);
    value = next_value(take(ghosts, step, 0, wrong), value, take(ghosts, step, 1, wrong));
  }
  wrong += value != alone(round)[static_cast<std::size_t>(MYPROC)];
  wrong += splitc::is_stored(1);  // store_sync() knows nothing of it
  return wrong;
}

int test_stencil(std::size_t cells, std::uint64_t rounds) {
  int wrong = 0;
  const Ghosts ghosts(cells);
  for (std::uint64_t round = 0; round < rounds; ++round) wrong += run_round(ghosts, round);
  splitc::all_store_sync();
  wrong += kFromLeft.is_stored(1) || kFromRight.is_stored(1);  // all has been waited for
  ghosts.free();
  if (wrong != 0)
    fmt::print(stderr, "process {}: {} of {} rounds with {} cells are wrong\n", MYPROC, wrong,
               rounds, cells);
  return wrong;
}

/// The obvious way is wrong: process 1 waits for the bytes of two neighbours and is given those of
/// one. By counters it waits for both. Process 2 sends when process 1 has been given them.
int test_trap() {
  if (PROCS < 3) return 0;
  int wrong = 0;
  constexpr store_counter kToldToSend{11};
  auto* const cells = splitc::all_malloc<std::uint64_t>(5);
  for (int i = 0; i < 5; ++i) cells[i] = 0;
  splitc::barrier();
  const auto there = [&](std::size_t i) { return splitc::toglobal(1, cells + i); };
  if (MYPROC == 0) {
    for (std::size_t step = 0; step < 2; ++step) {
      splitc::store(there(0), step + 1);
      splitc::store(there(2), step + 1, kFromLeft);
    }
  } else if (MYPROC == 2) {
    kToldToSend.wait(8);
    splitc::store(there(1), 7);
    splitc::store(there(3), 7, kFromRight);
  } else if (MYPROC == 1) {
    splitc::store_sync(16);
    wrong += cells[0] == 0 || cells[1] != 0;
    splitc::store(splitc::toglobal(2, cells + 4), 1, kToldToSend);
    kFromLeft.wait(8);
    kFromRight.wait(8);
    wrong += cells[2] == 0 || cells[3] != 7;
    kFromLeft.wait(8);
  }
  splitc::all_store_sync();
  if (MYPROC == 1) wrong += cells[0] != 2 || cells[1] != 7;
  splitc::all_free(cells);
  if (wrong != 0) fmt::print(stderr, "process {}: the trap: {} wrong\n", MYPROC, wrong);
  return wrong;
}

/// A target that computes keeps no sender: process 0 stores blocks to process 1, each longer than a
/// message, and goes on, while process 1 looks at its own memory alone until it is told. The blocks
/// are not there before process 1 polls. Process 0 begins when process 1 has made its last poll:
///
///     *told of process 1:   0 ---process 1: polls no more---> 2 ---process 0: has stored---> 1
int test_computing_target() {
  constexpr std::size_t kBlocks = 3;
  constexpr std::size_t kCells = 2000;
  constexpr store_counter kOwn{9};
  auto* const cells = splitc::all_malloc<std::uint64_t>(kBlocks * kCells);
  auto* const told = splitc::all_malloc<std::uint64_t>(1);
  for (std::size_t i = 0; i < kBlocks * kCells; ++i)
    cells[i] = MYPROC == 0 ? mixed(i / kCells, i) : 0;
  *told = 1;
  splitc::barrier();
  if (MYPROC == 0)  // connects them
    splitc::store(splitc::toglobal(1 % PROCS, told), std::uint64_t{0});
  splitc::all_store_sync();
  const bool is_mapped = splitc::mapped(splitc::toglobal(1 % PROCS, told)) != nullptr &&
                         splitc::mapped(splitc::toglobal(0, told)) != nullptr;
  int wrong = 0;
  if (MYPROC == 0 && is_mapped && PROCS > 1) {
    const std::uint64_t* const state = splitc::mapped(splitc::toglobal(1, told));
    while (__atomic_load_n(state, __ATOMIC_ACQUIRE) != 2) {
      splitc::poll();
      usleep(100);
    }
    for (std::size_t b = 0; b < kBlocks; ++b)
      splitc::bulk_store(splitc::toglobal(1, cells + b * kCells), cells + b * kCells, kCells, kOwn);
    splitc::write(splitc::toglobal(1, told), std::uint64_t{1});
  } else if (MYPROC == 1 && is_mapped) {
    __atomic_store_n(told, std::uint64_t{2}, __ATOMIC_RELEASE);
    while (__atomic_load_n(told, __ATOMIC_ACQUIRE) == 2) usleep(100);
    for (std::size_t i = 0; i < kBlocks * kCells; ++i) wrong += cells[i] != 0;
    kOwn.wait(kBlocks * kCells * sizeof *cells);
    for (std::size_t i = 0; i < kBlocks * kCells; ++i) wrong += cells[i] != mixed(i / kCells, i);
  }
  splitc::barrier();
  splitc::all_free(told);
  splitc::all_free(cells);
  if (wrong != 0) fmt::print(stderr, "process {}: a computing target: {} wrong\n", MYPROC, wrong);
  return wrong;
}

struct Wide {  // no word: 40 bytes
  std::array<std::uint64_t, 5> words;
};

/// all_store_sync() waits for counted stores, and leaves the counters; reset() forgets.
int test_rules() {
  int wrong = 0;
  constexpr store_counter kOwn{7};
  auto* const cells = splitc::all_malloc<Wide>(1);
  *cells = Wide{};
  splitc::barrier();
  const int next = (MYPROC + 1) % PROCS;
  for (int i = 0; i < 3; ++i) {  // over both epochs
    const auto mark = static_cast<std::uint64_t>(10 * MYPROC + i);
    splitc::store(splitc::toglobal(next, cells), Wide{{mark, mark, mark, mark, mark}}, kOwn);
    splitc::all_store_sync();
    const auto came = static_cast<std::uint64_t>(10 * ((MYPROC + PROCS - 1) % PROCS) + i);
    wrong += cells->words[0] != came || cells->words[4] != came;
    splitc::barrier();  // before the next one overwrites it
  }
  wrong += splitc::is_stored(1);
  wrong += !kOwn.is_stored(3 * sizeof(Wide)) || kOwn.is_stored(3 * sizeof(Wide) + 1);
  kOwn.wait(sizeof(Wide));
  wrong += !kOwn.is_stored(2 * sizeof(Wide)) || kOwn.is_stored(2 * sizeof(Wide) + 1);
  kOwn.reset();
  wrong += kOwn.is_stored(1);
  splitc::barrier();
  splitc::all_free(cells);
  bool refused = false;
  try {
    (void)store_counter{splitc::kStoreCounters};
  } catch (const Error&) {
    refused = true;
  }
  wrong += !refused;
  if (wrong != 0) fmt::print(stderr, "process {}: the rules: {} wrong\n", MYPROC, wrong);
  return wrong;
}

/// @p waiter sends to process 1 and to @p other, with which it is connected, and waits in @p
/// finish; process 1 lets it wait. The others send to @p waiter meanwhile: its lists of channels
/// grow.
template <class Send, class Finish>
int test_new_peers(int waiter, int other, const Send& send, const Finish& finish) {
  auto* const cells = splitc::all_malloc<std::uint64_t>(static_cast<std::size_t>(PROCS));
  for (int i = 0; i < PROCS; ++i) cells[i] = 0;
  splitc::barrier();
  for (const bool connected : {false, true}) {
    if (MYPROC == waiter) {
      if (connected) usleep(20'000);  // process 1 has left the barrier
      for (const int to : {1, other}) send(splitc::toglobal(to, cells + waiter));
    } else if (connected && MYPROC == 1) {
      usleep(200'000);
    } else if (connected && MYPROC != other) {
      usleep(static_cast<useconds_t>(60'000 + 1'000 * MYPROC));  // the waiter waits
      send(splitc::toglobal(waiter, cells + MYPROC));
    }
    finish();
    splitc::barrier();
  }
  int wrong = (MYPROC == 1 || MYPROC == other) && cells[waiter] == 0;
  for (int i = 0; i < PROCS; ++i)
    wrong += MYPROC == waiter && i != waiter && i != 1 && i != other && cells[i] == 0;
  splitc::barrier();
  splitc::all_free(cells);
  if (wrong != 0) fmt::print(stderr, "process {}: new peers: {} wrong\n", MYPROC, wrong);
  return wrong;
}

/// Runs first, while hardly any processes are connected.
int test_new_peers() {
  if (PROCS < 4) return 0;
  const auto store = [](auto to) { splitc::store(to, std::uint64_t{1}); };
  const auto put = [](auto to) { splitc::put(to, std::uint64_t{1}); };
  // all_store_sync() connects all processes with each other.
  const int wrong = test_new_peers(PROCS - 1, 0, put, [] { splitc::sync(); });
  return wrong + test_new_peers(0, 2, store, [] { splitc::all_store_sync(); });
}

}  // namespace
}  // namespace viaduct::splitc_test

int splitc_main(int argc, char** argv) {
  using namespace viaduct::splitc_test;
  const auto rounds = static_cast<std::uint64_t>(argc > 1 ? std::atoi(argv[1]) : 20);
  int wrong = test_new_peers();
  wrong += test_trap() + test_computing_target() + test_rules();
  wrong += test_stencil(1, rounds) + test_stencil(6, rounds) + test_stencil(1000, rounds);
  const int all = splitc::all_reduce_add(wrong);
  if (MYPROC == 0) fmt::print("{} rounds on {} processes, {} wrong\n", rounds, PROCS, all);
  return all == 0 ? 0 : 1;
}
