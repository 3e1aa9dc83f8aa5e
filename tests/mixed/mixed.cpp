/// @file
/// Active Messages and Split-C in one program: every call that waits, against every operation that
/// somebody else must serve.
///
///     viaduct-run -n 4 mixed [pairs | cycles | rows]
///
/// A pair takes three roles. The *waiter* waits in the one call. The *actor* then does the other
/// operation at the waiter, and only when that is over does it release the waiter, or let the
/// *owner* serve, from whom the waiter wants something. So the pair ends only when the waiter
/// serves in its wait. Two processes have no third one for the owner: then the actor is the owner,
/// and the two wait for each other.

#include <sched.h>

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

class Pair {
 public:
  Pair(const Wait& wait, const Served& served, int waiter, bool asleep)
      : wait_(wait), served_(served), waiter_(waiter), asleep_(asleep) {}

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
  [[nodiscard]] bool has_deaf_owner() const {
    return wait_.ends == Wait::Ends::by_owner && PROCS > 2;
  }
  /// Whether the wait cannot end before the actor's operation.
  [[nodiscard]] bool is_strict() const {
    if (wait_.ends != Wait::Ends::by_owner) return true;
    return PROCS > 2 && (wait_.model == Wait::Model::am || all_by_message());
  }

  void wait() const {
    await_owner();
    wait_.wait(owner(), actor());
    side->require(!is_strict() || side->board.is_open(side->round), "the wait has ended too early");
  }
  void act() const {
    await_owner();
    if (asleep_) await_sleep();
    served_.act(waiter_);
    side->board.open(side->round);
    if (wait_.release != nullptr) wait_.release(waiter_);
    if (wait_.ends == Wait::Ends::by_all) wait_.wait(owner(), actor());
  }
  void own() const {
    side->board.be_deaf(side->round);
    side->board.await_open(side->round);
  }
  void await_owner() const {
    if (!has_deaf_owner()) return;
    while (!side->board.owner_is_deaf(side->round)) {
      splitc::poll();
      sched_yield();
    }
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

int run_pairs() {
  int waiter = 0;
  for (const bool asleep : {false, true})
    for (const Wait& wait : waits())
      for (const Served& served : served_operations())
        Pair(wait, served, waiter++ % PROCS, asleep).run();
  return 0;
}

/// Everybody at once: each process does one operation after another, of both models, at others, and
/// all of them wait for each other.
int run_cycles() {
  side->wait_name = "cycles";
  Random random(static_cast<std::uint64_t>(MYPROC) + 1);
  constexpr int kRounds = 20;
  constexpr int kOperations = 15;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kOperations; ++i) {
      const auto n = served_operations().size();
      // Neighbours begin with different models: each waits for the one that waits for it.
      const auto from = i == 0 ? (MYPROC % 2 == 0 ? 0U : 5U) : random.below(n);
      const Served& served = served_operations()[from];
      // What reads back what it has written would find what others have written meanwhile.
      const std::string_view name = served.name;
      const int target = name == "credits" || name == "connection" || name == "lock" ||
                                 name == "short request" || name == "medium request"
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
  return 0;
}

/// The rows of the table in docs/guide.md.
int show_rows() {
  if (MYPROC != 0) return 0;
  for (const Wait& wait : waits())
    std::printf("%s %s\n", wait.model == Wait::Model::am ? "am" : "splitc", wait.name);
  for (const Served& served : served_operations()) std::printf("served %s\n", served.name);
  return 0;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "rows") return show_rows();
  Side mine;
  if (what == "pairs") return run_pairs();
  if (what == "cycles") return run_cycles();
  return run_pairs() + run_cycles();
}
