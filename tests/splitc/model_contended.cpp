#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "tests/splitc/model_memory.hpp"
#include "tests/splitc/model_parts.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::global_ptr;

/// Words that every process changes at the same time.
struct Words {
  unsigned sum;
  int small_sum;
  unsigned long big_sum;
  long tickets;
  unsigned long bits;  // of which each process owns one
  unsigned small_bits;
  unsigned long token;
  int counted;  // by compare_swap
  unsigned long called;
  splitc::lock_t lock;
  long first;  // under the lock: always equal to
  double second;
};

constexpr std::uint32_t kRounds = 80;  // shared by all processes

unsigned long bump(Words* words, unsigned long by) { return words->called += by; }

class Contender {
 public:
  Contender(const Place& place, global_ptr<Words> at)
      : place_(place),
        at_(at),
        random_(mixed(place.seed, place.phase, static_cast<std::uint64_t>(MYPROC))),
        rounds_(std::max(3U, kRounds / static_cast<std::uint32_t>(PROCS))) {}

  void run() {
    for (std::uint32_t i = 0; i < rounds_; ++i) one_round(i);
    splitc::barrier();
    check();
    splitc::barrier();
  }

 private:
  template <class M>
  auto field(M Words::*member) const {
    return at_.field(member);
  }

  void one_round(std::uint32_t i) {
    std::array<std::uint32_t, 8> order;
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random_.below(k)]);
    for (const std::uint32_t what : order) one(what, i);
  }

  void one(std::uint32_t what, std::uint32_t i) {
    switch (what) {
      case 0:
        return add();
      case 1:
        return take_ticket();
      case 2:
        return flip_bits();
      case 3:
        return swap_token(i);
      case 4:
        return count_by_comparing();
      case 5:
        called_ += i;
        (void)splitc::atomic<bump>(at_, std::uint64_t{i});
        return;
      case 6:
        return locked(i % 3 == 0);
      default:
        return splitc::poll();
    }
  }

  void add() {
    const std::uint64_t value = random_.next();
    sum_ += value;
    (void)splitc::fetch_add(field(&Words::sum), static_cast<unsigned>(value));
    (void)splitc::fetch_add(field(&Words::small_sum), static_cast<int>(value));
    (void)splitc::fetch_add(field(&Words::big_sum), value);
  }

  void take_ticket() {
    const long ticket = splitc::fetch_add(field(&Words::tickets), 1);
    if (ticket <= last_ticket_)
      fail(place_, fmt::format("fetch_add answered {} after {}", ticket, last_ticket_));
    last_ticket_ = ticket;
    ticket_sum_ += ticket;
  }

  /// Nobody else changes this process' bit.
  void flip_bits() {
    const unsigned long bit = 1UL << MYPROC;
    const auto small = static_cast<unsigned>(bit);
    const auto expect = [&](unsigned long old, bool was) {
      if (((old & bit) != 0) != was)
        fail(place_, fmt::format("a bit that only this process changes is wrong in {:#x}", old));
    };
    expect(splitc::fetch_xor(field(&Words::bits), bit), set_);
    expect(splitc::fetch_xor(field(&Words::small_bits), small), set_);
    set_ = !set_;
    expect(splitc::fetch_or(field(&Words::bits), bit), set_);
    expect(splitc::fetch_or(field(&Words::small_bits), small), set_);
    expect(splitc::fetch_and(field(&Words::bits), ~bit), true);
    expect(splitc::fetch_and(field(&Words::small_bits), ~small), true);
    set_ = false;
    if (random_.below(2) == 0) {
      (void)splitc::fetch_xor(field(&Words::bits), bit);
      (void)splitc::fetch_xor(field(&Words::small_bits), small);
      set_ = true;
    }
  }

  /// What goes in comes out once.
  void swap_token(std::uint32_t i) {
    const unsigned long token = (static_cast<unsigned long>(MYPROC) + 1) << 32 | i;
    in_ += token;
    out_ += splitc::swap(field(&Words::token), token);
  }

  void count_by_comparing() {
    const auto word = field(&Words::counted);
    int seen = splitc::read(word);
    while (true) {
      const int was = splitc::compare_swap(word, seen, seen + 1);
      if (was == seen) return;
      seen = was;
    }
  }

  void locked(bool try_first) {
    const auto lock = field(&Words::lock);
    if (!try_first || !splitc::try_lock(lock)) splitc::lock(lock);
    const long first = *field(&Words::first);
    const double second = *field(&Words::second);
    if (static_cast<double>(first) != second)
      fail(place_, fmt::format("under a lock: {} and {}, must be equal", first, second));
    if (random_.below(2) == 0) {
      splitc::put(field(&Words::first), first + 1);
      splitc::put(field(&Words::second), second + 1);
      splitc::sync();
    } else {
      *field(&Words::first) = first + 1;
      *field(&Words::second) = second + 1;
    }
    splitc::unlock(lock);
  }

  template <class T>
  void expect(const char* what, T got, T wanted) const {
    if (got != wanted) fail(place_, fmt::format("{}: {}, must be {}", what, got, wanted));
  }

  void check() const {
    const long count = static_cast<long>(rounds_) * PROCS;
    const Words got = splitc::read(at_);
    const unsigned long sum = splitc::all_reduce_add(sum_);
    expect("unsigned fetch_add", got.sum, static_cast<unsigned>(sum));
    expect("int fetch_add", got.small_sum, static_cast<int>(sum));
    expect("unsigned long fetch_add", got.big_sum, sum);
    expect("tickets", got.tickets, count);
    expect("sum of tickets", splitc::all_reduce_add(ticket_sum_), count * (count - 1) / 2);
    const unsigned long bits = splitc::all_reduce_or(set_ ? 1UL << MYPROC : 0UL);
    expect("bits", got.bits, bits);
    expect("bits of an unsigned", got.small_bits, static_cast<unsigned>(bits));
    expect("swapped tokens", splitc::all_reduce_add(out_) + got.token, splitc::all_reduce_add(in_));
    expect("counted by compare_swap", long{got.counted}, count);
    expect("counted by a function", got.called, splitc::all_reduce_add(called_));
    expect("counted under the lock", got.first, count);
    expect("the lock's holder", got.lock.holder, std::uint64_t{0});
  }

  const Place& place_;
  global_ptr<Words> at_;
  Random random_;
  std::uint32_t rounds_;
  unsigned long sum_ = 0;
  long last_ticket_ = -1;
  long ticket_sum_ = 0;
  bool set_ = false;
  unsigned long in_ = 0;
  unsigned long out_ = 0;
  unsigned long called_ = 0;
};

/// A process that is through all_store_sync() may store at once to one that is still in it: that
/// store counts for the time after it.
void store_across_the_end(Place& place) {
  constexpr double kLimitSeconds = 120;
  long* const here = splitc::all_malloc<long>(1);
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, here);
  for (long i = 1; i <= 400 / PROCS; ++i, ++place.phase) {
    splitc::all_store_sync();
    splitc::store(next, i);
    const double end = splitc::get_seconds() + kLimitSeconds;
    while (!splitc::is_stored(sizeof(long)))
      if (splitc::get_seconds() > end) fail(place, "a store after all_store_sync() is not counted");
    splitc::store_sync(sizeof(long));
    if (*here != i) fail(place, fmt::format("stored {}, must be {}", *here, i));
  }
  splitc::all_store_sync();
  splitc::all_free(here);
}

}  // namespace

void run_contended(std::uint64_t seed) {
  Place place{seed, 1000};
  Words on_stack{};
  Words* const in_region = splitc::all_malloc<Words>(1);
  const int owner = static_cast<int>(mixed(seed, 5) % static_cast<std::uint64_t>(PROCS));
  const auto stacks = splitc::all_gather(splitc::toglobal(&on_stack));
  Contender(place, splitc::toglobal(owner, in_region)).run();
  ++place.phase;
  Contender(place, stacks[static_cast<std::size_t>(PROCS - 1 - owner)]).run();
  splitc::all_free(in_region);
  place.phase = 1100;
  store_across_the_end(place);
}

}  // namespace viaduct::splitc_test
