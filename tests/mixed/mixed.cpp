/// @file
/// Active Messages and Split-C in one program: every call that waits, against every operation that
/// somebody else must serve.
///
///     viaduct-run -n 4 mixed [all | pairs | rare | cycles | end | rows [PART OF]]
///
/// PART OF: of the pairs, each OF-th from pair PART on.
///
/// A pair takes three roles. The *waiter* waits in the one call. The *actor* then does the other
/// operation at the waiter, and only when that is over does it release the waiter, or let the
/// *owner* serve, from whom the waiter wants something. So the pair ends only when the waiter
/// serves in its wait. Two processes have no third one for the owner: then the actor is the owner,
/// and the two wait for each other.
///
/// In each second pair the actor begins when the waiter sleeps in the kernel. Parts 0 and OF have
/// the same pairs; those in which one part waits for the sleep are not those of the other.

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/mixed/side.hpp"
#include "tests/splitc/model_values.hpp"
#include "viaduct/job.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::mixed;
using viaduct::splitc_test::Random;

/// Whether all that Split-C asks of another process needs that process' part. On other paths some
/// operations are one-sided: RDMA between hosts, loads and stores where memory is mapped.
bool all_by_message() {
  const char* const path = std::getenv("VIADUCT_SPLITC_PATH");
  return std::string_view(path == nullptr ? "" : path) == "message";
}

template <class Done>
void poll_until(Done&& done) {
  for (; !done(); sched_yield()) splitc::poll();
}

class Pair {
 public:
  Pair(const Wait& wait, const Served& served, int waiter, bool asleep)
      : wait_(wait), served_(served), waiter_(waiter), asleep_(asleep) {}

  /// Whether the wait, by its nature, may serve the operation.
  [[nodiscard]] bool is_possible() const {
    if (served_.by_all && has_deaf_owner()) return false;
    return wait_.row != Wait::Row::replies || served_.model == Model::splitc ||
           served_.ask != nullptr;
  }
  void run() {
    side->wait_name = wait_.name;
    side->served_name = served_.name;
    ++side->round;
    splitc::reset_store_sync();
    if (MYPROC == actor() && wait_.prepare != nullptr) wait_.prepare(waiter_);
    splitc::barrier();
    if (MYPROC == waiter_)
      wait();
    else if (MYPROC == actor())
      act();
    else if (MYPROC == owner() && has_deaf_owner())
      own();
    else if (wait_.ends == Wait::Ends::by_all)
      wait_.wait(owner(), actor());
    splitc::barrier();
  }

 private:
  [[nodiscard]] int actor() const { return (waiter_ + 1) % PROCS; }
  [[nodiscard]] int owner() const { return PROCS > 2 ? (waiter_ + 2) % PROCS : actor(); }
  [[nodiscard]] bool has_deaf_owner() const { return is_owners() && PROCS > 2; }
  [[nodiscard]] bool is_owners() const {
    return wait_.ends == Wait::Ends::by_owner || wait_.ends == Wait::Ends::by_message;
  }
  /// Whether the wait cannot end before the actor's operation.
  [[nodiscard]] bool is_strict() const {
    if (!is_owners()) return true;
    return PROCS > 2 && (wait_.ends == Wait::Ends::by_owner || all_by_message());
  }

  void wait() const {
    if (wait_.ask == nullptr) await_owner();
    if (served_.ask != nullptr) served_.ask(actor());
    // What the owner sends then finds this process in its wait, which nothing has begun before.
    if (wait_.ask != nullptr) side->board.be_ready(side->round);
    wait_.wait(owner(), actor());
    side->require(!is_strict() || side->board.is_open(side->round), "the wait has ended too early");
  }
  void act() const {
    await_owner();
    if (!has_deaf_owner()) ask();
    if (asleep_) await_sleep();
    served_.act(waiter_);
    side->board.open(side->round);
    if (wait_.release != nullptr) wait_.release(waiter_);
    if (wait_.ends == Wait::Ends::by_all) wait_.wait(owner(), actor());
  }
  void own() const {
    ask();
    side->board.be_deaf(side->round);
    side->board.await_open(side->round);
  }
  void ask() const {
    if (wait_.ask == nullptr) return;
    poll_until([] { return side->board.waiter_is_ready(side->round); });
    wait_.ask(waiter_);
  }
  void await_owner() const {
    if (has_deaf_owner()) poll_until([] { return side->board.owner_is_deaf(side->round); });
  }
  /// Until the waiter sleeps in the kernel, as far as this host can see. The actor does not poll
  /// meanwhile, so that it serves nothing.
  void await_sleep() const {
    Job& job = splitc::job();
    const Rank waiter{static_cast<std::uint32_t>(waiter_)};
    if (!wait_.sleeps || !is_strict() || !job.same_host(waiter)) return;
    while (job.record(waiter).sleeping.load() == 0) sched_yield();
  }

  const Wait& wait_;
  const Served& served_;
  int waiter_;
  bool asleep_;
};

/// Each @p of-th pair, from pair @p part on.
void run_pairs(int part, int of) {
  int waiter = 0;
  int row = 0;
  for (const auto list : {splitc_waits(), am_waits()})
    for (const Wait& wait : list) {
      int at = row++;
      for (const Served& served : served_operations()) {
        const int number = at++ + part;
        if (number % of != 0) continue;
        const bool asleep = number / of % 2 != 0;
        if (Pair pair(wait, served, waiter++ % PROCS, asleep); pair.is_possible()) pair.run();
      }
    }
}

/// All that the waiter need not take a part in.
void act_in_a_row(int waiter, bool all) {
  for (const Served& served : served_operations()) {
    if (served.ask != nullptr || (!all && served.model == Model::am)) continue;
    side->served_name = served.name;
    served.act(waiter);
  }
}

void run_rare() {
  constexpr Served kInARow{"all", Model::am, [](int waiter) { act_in_a_row(waiter, true); }};
  for (const Wait& wait : rare_waits()) Pair(wait, kInARow, PROCS - 1, false).run();
}

constexpr const char* kEnd = "the end of splitc_main";

/// Process 0, whose endpoints have ended, waits in Split-C for the end of the others. Process 1 is
/// the actor.
void act_at_the_end() {
  side->wait_name = kEnd;
  splitc::barrier();
  if (MYPROC == 1) act_in_a_row(0, false);
}

/// Everybody at once: each process does one operation after another, of both models, at others, and
/// all of them wait for each other.
void run_cycles() {
  side->wait_name = "cycles";
  Random random(static_cast<std::uint64_t>(MYPROC) + 1);
  constexpr int kRounds = 20;
  constexpr int kOperations = 15;
  const std::span<const Served> all = served_operations();
  const auto first_of = [all](Model model) {
    const auto found = std::find_if(
        all.begin(), all.end(), [model](const Served& served) { return served.model == model; });
    return static_cast<std::size_t>(found - all.begin());
  };
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kOperations; ++i) {
      // Neighbours begin with different models: each waits for the one that waits for it.
      const Served& served = all[i == 0 ? first_of(MYPROC % 2 == 0 ? Model::am : Model::splitc)
                                        : random.below(all.size())];
      if (served.cycle == Served::Cycle::never) continue;
      const int target = served.cycle == Served::Cycle::anywhere
                             ? static_cast<int>(random.below(static_cast<std::uint64_t>(PROCS)))
                             : (MYPROC + 1) % PROCS;
      side->served_name = served.name;
      side->round = static_cast<std::uint64_t>(round * kOperations + i);
      if (PROCS > 1 && target != MYPROC) served.act(target);
    }
    if (round % 2 == 0)
      splitc::barrier();
    else
      side->require(side->bundle.barrier(), "Bundle::barrier");
  }
  splitc::barrier();
}

/// The rows of the table in docs/guide.md.
int show_rows() {
  if (MYPROC != 0) return 0;
  constexpr const char* kRows[] = {"splitc", "am", "replies"};
  for (const auto list : {splitc_waits(), am_waits(), rare_waits()})
    for (const Wait& wait : list)
      std::printf("%s %s\n", kRows[static_cast<std::size_t>(wait.row)], wait.name);
  std::printf("end %s\n", kEnd);
  for (const Served& served : served_operations())
    std::printf("%s %s\n", served.model == Model::am ? "served-am" : "served-splitc", served.name);
  return 0;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "all";
  if (what == "rows") return show_rows();
  const int part = argc > 3 ? std::atoi(argv[2]) : 0;
  const int of = argc > 3 ? std::atoi(argv[3]) : 1;
  Side mine;
  const auto does = [what](std::string_view name) { return what == "all" || what == name; };
  if (does("pairs")) run_pairs(part, of);
  if (does("rare")) run_rare();
  if (does("cycles")) run_cycles();
  if (PROCS > 1 && does("end")) act_at_the_end();
  return 0;
}
