// Every call that waits, of both models.

#include <sched.h>

#include <string_view>
#include <vector>

#include "tests/mixed/side.hpp"

namespace viaduct::mixed {
namespace {

using namespace viaduct::splitc;

long value_of(std::uint64_t round) { return static_cast<long>(round * 7 + 3); }

// Split-C, ended by the owner's service.

void wait_read(int owner, int) { (void)read(toglobal(owner, &side->shared->word)); }
void wait_write(int owner, int) {
  write(toglobal(owner, &side->shared->word), value_of(side->round));
}
void wait_put(int owner, int) {
  put(toglobal(owner, &side->shared->word), value_of(side->round));
  splitc::sync();
}
void wait_get(int owner, int) {
  long here = 0;
  get(&here, toglobal(owner, &side->shared->word));
  splitc::sync();
}
void wait_bulk_read(int owner, int) {
  std::vector<long> here(Shared::kBlock);
  bulk_read(here.data(), toglobal(owner, side->shared->block), here.size());
}
void wait_fetch_add(int owner, int) {
  (void)fetch_add(toglobal(owner, &side->shared->counter), 0L);
}
void no_function() {}
void wait_atomic(int owner, int) { atomic<no_function>(owner); }

// Split-C, ended by the actor or by all.

void wait_store_sync(int, int) {
  // The actor's operation may be a store as well.
  const bool two = std::string_view(side->served_name) == "store";
  store_sync(two ? 2 * sizeof(long) : sizeof(long));
  side->require(side->shared->awaited == value_of(side->round), "what store_sync has waited for");
}
void release_store_sync(int waiter) {
  store(toglobal(waiter, &side->shared->awaited), value_of(side->round));
}
void wait_lock(int, int actor) {
  const auto l = toglobal(actor, &side->shared->held);
  lock(l);
  unlock(l);
}
void prepare_lock(int) { lock(toglobal(MYPROC, &side->shared->held)); }
void release_lock(int) { unlock(toglobal(MYPROC, &side->shared->held)); }
void wait_barrier(int, int) { barrier(); }
void wait_all_store_sync(int, int) { all_store_sync(); }
void wait_reduce(int, int) { side->require(all_reduce_add(1) == PROCS, "all_reduce"); }
void wait_broadcast(int, int actor) {
  side->require(
      all_bcast(MYPROC == actor ? value_of(side->round) : 0, actor) == value_of(side->round),
      "all_bcast");
}
void wait_gather(int, int) { side->require(all_gather(MYPROC).back() == PROCS - 1, "all_gather"); }

// Active Messages.

void wait_credit(int owner, int) {
  for (std::uint32_t i = 0; i <= side->endpoint.credits(); ++i)
    side->require(side->endpoint.request<on_count>(side->index(owner), 1L), "request");
}
void wait_credit_medium(int owner, int) {
  const std::vector<long> values(10, 1);
  for (std::uint32_t i = 0; i <= side->endpoint.credits(); ++i)
    side->require(
        side->endpoint.request_medium<on_count_medium>(side->index(owner), std::span(values)),
        "request_medium");
}
void wait_credit_bulk(int owner, int) {
  std::vector<long> values(10, 1);
  for (std::uint32_t i = 0; i <= side->endpoint.credits(); ++i)
    side->require(
        side->endpoint.request_bulk<on_count_bulk>(side->index(owner), std::span(values), 0),
        "request_bulk");
}
/// An endpoint that the owner does not know yet: get waits for the connection.
void wait_get_am(int owner, int) {
  am::Endpoint fresh(side->bundle);
  side->require(fresh.map(am::Index{0}, {Rank{static_cast<std::uint32_t>(owner)}, 0}, am::kTagAll),
                "map");
  std::vector<long> values(10);
  side->require(fresh.get<on_got>(am::Index{0}, std::span(values), 0), "get");
}
void wait_until(int, int) {
  side->require(side->bundle.wait_until([] { return side->released == side->round; }),
                "wait_until");
}
void wait_message(int, int) {
  while (side->released != side->round) side->require(side->bundle.wait(), "Bundle::wait");
}
void release_message(int waiter) {
  side->require(side->endpoint.request<on_release>(side->index(waiter), side->round), "release");
}
void wait_am_barrier(int, int) { side->require(side->bundle.barrier(), "Bundle::barrier"); }

// Loops that poll, which serve now and then.

template <class Poll>
void poll_until_released(Poll poll) {
  while (side->released != side->round) {
    poll();
    sched_yield();
  }
}
void poll_splitc(int, int) {
  poll_until_released([] { splitc::poll(); });
}
/// A light poll, which looks at two words.
void read_here(int, int) {
  const auto word = toglobal(MYPROC, &side->shared->word);
  poll_until_released([word] { (void)read(word); });
}
void poll_am(int, int) {
  poll_until_released([] { (void)side->bundle.poll(); });
}

constexpr auto kActor = Wait::Ends::by_actor;
constexpr auto kOwner = Wait::Ends::by_owner;
constexpr auto kAll = Wait::Ends::by_all;
constexpr auto kSplitC = Wait::Model::splitc;
constexpr auto kAm = Wait::Model::am;
constexpr Wait kWaits[] = {
    {"read", kOwner, kSplitC, wait_read},
    {"write", kOwner, kSplitC, wait_write},
    {"put, sync", kOwner, kSplitC, wait_put},
    {"get, sync", kOwner, kSplitC, wait_get},
    {"bulk_read", kOwner, kSplitC, wait_bulk_read},
    {"fetch_add", kOwner, kSplitC, wait_fetch_add},
    {"atomic", kOwner, kSplitC, wait_atomic},
    {"store_sync", kActor, kSplitC, wait_store_sync, release_store_sync},
    {"lock", kActor, kSplitC, wait_lock, release_lock, prepare_lock, false},
    {"barrier", kAll, kSplitC, wait_barrier},
    {"all_store_sync", kAll, kSplitC, wait_all_store_sync},
    {"all_reduce", kAll, kSplitC, wait_reduce},
    {"all_bcast", kAll, kSplitC, wait_broadcast},
    {"all_gather", kAll, kSplitC, wait_gather},
    {"splitc::poll, in a loop", kActor, kSplitC, poll_splitc, release_message, nullptr, false},
    {"read here, in a loop", kActor, kSplitC, read_here, release_message, nullptr, false},
    {"request, credit", kOwner, kAm, wait_credit},
    {"request_medium, credit", kOwner, kAm, wait_credit_medium},
    {"request_bulk, credit", kOwner, kAm, wait_credit_bulk},
    {"get, connection", kOwner, kAm, wait_get_am},
    {"Bundle::wait_until", kActor, kAm, wait_until, release_message},
    {"Bundle::wait", kActor, kAm, wait_message, release_message},
    {"Bundle::barrier", kAll, kAm, wait_am_barrier},
    {"Bundle::poll, in a loop", kActor, kAm, poll_am, release_message, nullptr, false},
};

}  // namespace

std::span<const Wait> waits() { return kWaits; }

}  // namespace viaduct::mixed
