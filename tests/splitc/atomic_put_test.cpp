/// @file
/// Functions that run at the owner and that nobody waits for: each runs once, alone, in the order
/// of its caller's calls, and after what precedes its call.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "tests/splitc/model_values.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::global_ptr;

/// What functions of others have done here; ranks may be threads.
struct Notes {
  std::vector<std::uint64_t> next;  // by caller: the number of its call to come
  std::uint64_t out_of_order = 0;
  std::uint64_t overlapping = 0;
  std::uint64_t too_early = 0;
  bool inside = false;
};
thread_local Notes* g_notes = nullptr;

struct Guard {
  Guard() {
    if (g_notes->inside) ++g_notes->overlapping;
    g_notes->inside = true;
  }
  ~Guard() { g_notes->inside = false; }
};

void count_call(std::uint32_t caller, std::uint64_t number) {
  if (g_notes->next[caller] != number) ++g_notes->out_of_order;
  g_notes->next[caller] = number + 1;
}

void note(std::uint32_t caller, std::uint64_t number) {
  const Guard guard;
  count_call(caller, number);
}
std::uint64_t note_and_answer(std::uint32_t caller, std::uint64_t number) {
  note(caller, number);
  return number;
}
/// @p word: where the caller has written @p number before it called, and may have written later
/// numbers since.
void note_written(std::uint64_t* word, std::uint32_t caller, std::uint64_t number) {
  const Guard guard;
  count_call(caller, number);
  if (__atomic_load_n(word, __ATOMIC_RELAXED) < number) ++g_notes->too_early;
}
struct Mixed {  // a part of 40 bytes of arguments
  char letter;
  double number;
};
void note_mixed(char letter, short small, std::uint32_t caller, std::uint64_t number, Mixed mixed) {
  const Guard guard;
  count_call(caller, number);
  if (letter != 'v' || small != -7 || mixed.letter != 'x' || mixed.number != 0.5)
    ++g_notes->too_early;
}
void add_one(std::uint64_t* word) { ++*word; }
thread_local std::uint64_t g_visits = 0;
void visit() { ++g_visits; }

void expect(const char* what, std::uint64_t got, std::uint64_t wanted) {
  if (got == wanted) return;
  fmt::print(stderr, "splitc_atomic_put_test: process {}: {}: {}, must be {}\n", MYPROC, what, got,
             wanted);
  std::_Exit(1);
}

std::uint32_t me() { return static_cast<std::uint32_t>(MYPROC); }

/// Random calls to random processes among other operations.
class Caller {
 public:
  Caller(std::uint64_t seed, global_ptr<std::uint64_t> words, std::uint64_t* stack)
      : random_(seed + 1000 * static_cast<std::uint64_t>(MYPROC)),
        words_(words),
        stacks_(splitc::all_gather(splitc::toglobal(stack))),
        sent_(static_cast<std::size_t>(PROCS), 0) {}

  void one() {
    const auto to = static_cast<std::uint32_t>(random_.below(static_cast<std::uint64_t>(PROCS)));
    const int process = static_cast<int>(to);
    const std::uint64_t number = sent_[to]++;
    switch (random_.below(8)) {
      case 0:
        splitc::write(my_word(to), number);
        splitc::atomic_put<note_written>(my_word(to), me(), number);
        return;
      case 1:  // on a stack: no process can map it
        splitc::write(stacks_[to] + MYPROC, number);
        splitc::atomic_put<note_written>(stacks_[to] + MYPROC, me(), number);
        return;
      case 2:
        splitc::atomic_put<note_mixed>(process, 'v', short{-7}, me(), number, Mixed{'x', 0.5});
        return;
      case 3:
        splitc::atomic_put<note_and_answer>(process, me(), number);
        return;
      case 4:  // in the order of the calls, whatever their kind
        expect("answer", splitc::atomic<note_and_answer>(process, me(), number), number);
        return;
      case 5:
        splitc::atomic_put<note>(process, me(), number);
        (void)splitc::read(my_word(to));
        return;
      case 6: {
        const auto handle = splitc::atomic_put<note>(process, me(), number);
        if (random_.below(2) == 0) {
          splitc::wait(handle);
        } else {
          while (!splitc::is_done(handle)) {
          }
        }
        return;
      }
      default:
        splitc::atomic_put<note>(process, me(), number);
    }
  }

  /// How often each process has been called from here.
  [[nodiscard]] std::uint64_t sent_to(std::size_t process) const { return sent_[process]; }

 private:
  /// In process @p at, a word that this process alone writes to.
  [[nodiscard]] global_ptr<std::uint64_t> my_word(std::uint32_t at) const {
    return splitc::toglobal(static_cast<int>(at), splitc::tolocal(words_)) + MYPROC;
  }

  Random random_;
  global_ptr<std::uint64_t> words_;  // of this process
  std::vector<global_ptr<std::uint64_t>> stacks_;
  std::vector<std::uint64_t> sent_;
};

/// Not inlined: there g++ 12 warns of the memory of a vector, wrongly.
[[gnu::noinline]] void check_notes(const Caller& caller) {
  for (int to = 0; to < PROCS; ++to) {
    const auto sent = splitc::all_gather(caller.sent_to(static_cast<std::size_t>(to)));
    if (to != MYPROC) continue;
    for (std::size_t from = 0; from < sent.size(); ++from)
      expect("calls that ran", g_notes->next[from], sent[from]);
  }
  expect("calls out of order", g_notes->out_of_order, 0);
  expect("calls while another one ran", g_notes->overlapping, 0);
  expect("calls that did not find what precedes them", g_notes->too_early, 0);
}

void test_order(std::uint64_t seed, std::uint32_t calls) {
  constexpr std::size_t kMost = 64;
  if (PROCS > static_cast<int>(kMost)) std::_Exit(77);
  Notes notes;
  notes.next.resize(static_cast<std::size_t>(PROCS));
  g_notes = &notes;
  std::uint64_t* const words = splitc::all_malloc<std::uint64_t>(kMost);
  std::array<std::uint64_t, kMost> stack{};
  {
    Caller caller(seed, splitc::toglobal(words), stack.data());
    splitc::barrier();
    for (std::uint32_t i = 0; i < calls; ++i) caller.one();
    splitc::sync();
    expect("is_sync after sync", splitc::is_sync() ? 1 : 0, 1);
    splitc::barrier();
    check_notes(caller);
  }
  splitc::barrier();
  splitc::all_free(words);
  g_notes = nullptr;
}

/// All call one process, much more often than there are credits, and at the same time each its
/// neighbour.
void test_flood(std::uint64_t calls) {
  static std::uint64_t elsewhere = 0;  // static data; of one process only
  std::uint64_t* const here = splitc::all_malloc<std::uint64_t>(1);
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, here);
  const auto first = splitc::toglobal(0, &elsewhere);
  const auto all = calls * static_cast<std::uint64_t>(PROCS);
  if (MYPROC == 0) elsewhere = 0;
  g_visits = 0;
  splitc::barrier();
  for (std::uint64_t i = 0; i < calls; ++i) {
    splitc::atomic_put<add_one>(next);
    splitc::atomic_put<add_one>(first);
    splitc::atomic_put<visit>(PROCS - 1);
    splitc::store(next, 0);  // in the order of the calls too
    splitc::atomic_put<add_one>(next);
  }
  splitc::sync();
  splitc::all_store_sync();
  expect("calls of a function without arguments", g_visits, MYPROC == PROCS - 1 ? all : 0);
  if (MYPROC == 0) expect("calls by all of one process", elsewhere, all);
  // The stores set it to 0 between; the last call came after the last store.
  expect("calls after the last store", *here, 1);
  splitc::barrier();
  splitc::all_free(here);
}

/// wait() of one handle completes that call and those before it.
void test_wait() {
  std::uint64_t* const here = splitc::all_malloc<std::uint64_t>(1);
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, here);
  *here = 0;
  splitc::barrier();
  for (std::uint64_t round = 1; round <= 200; ++round) {
    for (int i = 0; i < 3; ++i) splitc::atomic_put<add_one>(next);
    splitc::wait(splitc::atomic_put<add_one>(next));
    expect("calls complete at wait()", splitc::read(next), 4 * round);
  }
  splitc::barrier();
  splitc::all_free(here);
}

/// Lambdas that capture nothing are functions, too.
void test_lambdas() {
  static constexpr auto add = [](std::uint64_t* to, std::uint64_t value) { return *to += value; };
  static constexpr auto visits = [](std::uint64_t more) { return g_visits += more; };
  std::uint64_t* const here = splitc::all_malloc<std::uint64_t>(1);
  const int next = (MYPROC + 1) % PROCS;
  const auto there = splitc::toglobal(next, here);
  g_visits = 0;
  splitc::barrier();
  splitc::atomic_put<add>(there, 2U);
  expect("the answer of a lambda with an object", splitc::atomic<add>(there, 3U), 5);
  splitc::atomic_put<visits>(next, 20U);
  expect("the answer of a lambda", splitc::atomic<visits>(next, 30U), 50);
  splitc::barrier();
  splitc::all_free(here);
}

}  // namespace
}  // namespace viaduct::splitc_test

int splitc_main(int argc, char** argv) {
  using namespace viaduct::splitc_test;
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const auto procs = static_cast<std::uint32_t>(PROCS);
  test_lambdas();
  test_wait();
  test_flood(4000 / procs);
  test_order(seed, 6000 / procs);
  return 0;
}
