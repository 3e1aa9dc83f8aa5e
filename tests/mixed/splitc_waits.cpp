// Every call of Split-C that waits.

#include <sched.h>

#include <string_view>
#include <vector>

#include "tests/mixed/side.hpp"

namespace viaduct::mixed {
namespace {

using namespace viaduct::splitc;

long value_of(std::uint64_t round) { return static_cast<long>(round * 7 + 3); }

// Ended by the owner's service.

auto word(int owner) { return toglobal(owner, &side->shared->word); }
auto counter(int owner) { return toglobal(owner, &side->shared->counter); }
auto swapped(int owner) { return toglobal(owner, &side->shared->swapped); }
auto block(int owner) { return toglobal(owner, side->shared->block); }
auto large(int owner) { return toglobal(owner, side->shared->large); }
long value() { return value_of(side->round); }

std::vector<long> values(std::size_t count = Shared::kBlock) {
  return std::vector<long>(count, value());
}

void get_word(int owner) {
  long here = 0;
  get(&here, word(owner));
  splitc::sync();
}
void wait_for_handle(int owner, int) {
  long here = 0;
  splitc::wait(get(&here, word(owner)));
}
void wait_bulk_read(int owner, int) {
  auto here = values();
  bulk_read(here.data(), block(owner), here.size());
}
void wait_bulk_write(int owner, int) { bulk_write(block(owner), values().data(), Shared::kBlock); }
/// Blocks of @p count elements, which need more staging memory than there is where they are large.
void get_block(int owner, std::size_t count) {
  auto here = values(count);
  bulk_get(here.data(), large(owner), count);
  splitc::sync();
}
void put_block(int owner, std::size_t count) {
  bulk_put(large(owner), values(count).data(), count);
  splitc::sync();
}
/// Where all goes by message, more than the staging memory; else the owner copies.
void wait_bulk_store(int owner, int) {
  bulk_store(large(owner), values(Shared::kLarge).data(), Shared::kLarge, kElsewhere);
  atomic<no_function>(owner);  // the stores are delivered in this round
}
/// More operations than there are credits.
template <class Begin>
void flood(Begin&& begin) {
  for (int i = 0; i < kFlood; ++i) begin(i);
  splitc::sync();
}
void flood_gets(int owner, int) {
  std::vector<long> here(kFlood);
  flood([&](int i) { get(&here[static_cast<std::size_t>(i)], word(owner)); });
}
void flood_bulk_gets(int owner, int) {
  std::vector<long> here(kFlood);
  flood([&](int i) { bulk_get(&here[static_cast<std::size_t>(i)], word(owner), 1); });
}
void flood_bulk_puts(int owner, int) {
  const long from = value();
  flood([&](int) { bulk_put(word(owner), &from, 1); });
}
void flood_stores(int owner, int) {
  flood([owner](int) { store(toglobal(owner, &side->shared->stored), value(), kElsewhere); });
  atomic<no_function>(owner);  // the stores are delivered in this round
}
void wait_try_lock(int owner, int) {
  const auto l = toglobal(owner, &side->shared->lock);
  side->require(try_lock(l), "try_lock");
  unlock(l);
}

// Ended by the actor or by all.

/// The actor's operation may be a store as well.
std::size_t awaited_bytes() {
  return std::string_view(side->served_name) == "store" ? 2 * sizeof(long) : sizeof(long);
}
void wait_store_sync(int, int) {
  store_sync(awaited_bytes());
  side->require(side->shared->awaited == value(), "what store_sync has waited for");
}
void wait_store_counter(int, int) {
  kWaitedFor.wait(sizeof(long));
  side->require(side->shared->awaited == value(), "what the counter has waited for");
}
void release_store(int waiter) { store(toglobal(waiter, &side->shared->awaited), value()); }
void release_counter(int waiter) {
  store(toglobal(waiter, &side->shared->awaited), value(), kWaitedFor);
}
auto held(int actor) { return toglobal(actor, &side->shared->held); }
void wait_lock(int, int actor) {
  lock(held(actor));
  unlock(held(actor));
}
void prepare_lock(int) { lock(held(MYPROC)); }
void release_lock(int) { unlock(held(MYPROC)); }

int waiter_of(int actor) { return (actor + PROCS - 1) % PROCS; }
void require_sum(long sum) { side->require(sum == PROCS, "the sum of ones"); }
void wait_barrier_halves(int, int) {
  barrier_notify();
  barrier_wait();
}
void reduce_array(int, int) {
  std::vector<long> ones(Shared::kBlock, 1);
  all_reduce(ones.data(), ones.size(), Add{});
  require_sum(ones.back());
}
void reduce_array_to_one(int, int actor) {
  std::vector<long> ones(Shared::kBlock, 1);
  all_reduce_to_one(ones.data(), ones.size(), Add{}, waiter_of(actor));
  if (MYPROC == waiter_of(actor)) require_sum(ones.back());
}
void reduce_to_one(int, int actor) {
  const long sum = all_reduce_to_one_add(1L, waiter_of(actor));
  if (MYPROC == waiter_of(actor)) require_sum(sum);
}
void wait_broadcast(int, int actor) {
  side->require(all_bcast(MYPROC == actor ? value() : 0, actor) == value(), "all_bcast");
}
void broadcast_array(int, int actor) {
  std::vector<long> all(Shared::kBlock, MYPROC == actor ? value() : 0);
  all_bcast(all.data(), all.size(), actor);
  side->require(all.back() == value(), "all_bcast of an array");
}
void wait_gather(int, int) { side->require(all_gather(MYPROC).back() == PROCS - 1, "all_gather"); }
void gather_to_one(int, int actor) {
  const auto all = all_gather_to_one(MYPROC, waiter_of(actor));
  side->require(all.empty() || all.back() == PROCS - 1, "all_gather_to_one");
}
void wait_scan(int, int) { side->require(all_scan_add(1) == MYPROC + 1, "all_scan"); }
void scan_before(int, int) {
  side->require(all_scan_before(1, Add{}, 0) == MYPROC, "all_scan_before");
}
void wait_malloc(int, int) { all_free(all_malloc<long>(1)); }
void wait_spread_malloc(int, int) { all_spread_free(all_spread_malloc<long>(1)); }
void wait_free(int, int) {
  all_free(side->spare);
  side->spare = all_malloc<long>(1);
}
void wait_all_spread_free(int, int) {
  all_spread_free(side->spare_spread);
  side->spare_spread = all_spread_malloc<long>(1);
}

// Loops that poll, which serve now and then.

template <class Done>
void loop_until(Done&& done) {
  while (!done()) sched_yield();
}
void poll_splitc(int, int) {
  for (; !is_released(); sched_yield()) splitc::poll();
}
/// A light poll, which looks at two words.
void read_here(int, int) {
  for (; !is_released(); sched_yield()) (void)read(word(MYPROC));
}
void poll_handle(int owner, int) {
  long here = 0;
  const Handle handle = get(&here, word(owner));
  loop_until([=] { return is_done(handle); });
}
void poll_sync(int owner, int) {
  put(word(owner), value());
  loop_until(is_sync);
}
void poll_stored(int, int) {
  loop_until([] { return is_stored(awaited_bytes()); });
}
void poll_counter(int, int) {
  loop_until([] { return kWaitedFor.is_stored(sizeof(long)); });
  kWaitedFor.reset();
}
void poll_barrier(int, int) {
  barrier_notify();
  loop_until(barrier_try);
  barrier_wait();
}
void poll_lock(int, int actor) {
  loop_until([actor] { return try_lock(held(actor)); });
  unlock(held(actor));
}

constexpr auto kActor = Wait::Ends::by_actor;
constexpr auto kOwner = Wait::Ends::by_owner;
constexpr auto kMessage = Wait::Ends::by_message;
constexpr auto kAll = Wait::Ends::by_all;
constexpr auto kSplitC = Wait::Row::splitc;
constexpr Wait kWaits[] = {
    {"read", kMessage, kSplitC, [](int owner, int) { (void)read(word(owner)); }},
    {"write", kMessage, kSplitC, [](int owner, int) { write(word(owner), value()); }},
    {"write_fenced", kMessage, kSplitC, [](int owner, int) { write_fenced(word(owner), value()); }},
    {"put, sync", kMessage, kSplitC,
     [](int owner, int) {
       put(word(owner), value());
       splitc::sync();
     }},
    {"store_now, sync", kMessage, kSplitC,
     [](int owner, int) {
       store_now(word(owner), value());
       splitc::sync();
     }},
    {"get, sync", kMessage, kSplitC, [](int owner, int) { get_word(owner); }},
    {"get, wait", kMessage, kSplitC, wait_for_handle},
    {"bulk_read", kMessage, kSplitC, wait_bulk_read},
    {"bulk_write", kMessage, kSplitC, wait_bulk_write},
    {"bulk_get, sync", kMessage, kSplitC, [](int owner, int) { get_block(owner, Shared::kBlock); }},
    {"bulk_put, sync", kMessage, kSplitC, [](int owner, int) { put_block(owner, Shared::kBlock); }},
    {"bulk_get, staging", kMessage, kSplitC,
     [](int owner, int) { get_block(owner, Shared::kLarge); }},
    {"bulk_put, staging", kMessage, kSplitC,
     [](int owner, int) { put_block(owner, Shared::kLarge); }},
    {"bulk_store", kOwner, kSplitC, wait_bulk_store},
    {"fetch_add", kMessage, kSplitC, [](int owner, int) { (void)fetch_add(counter(owner), 0L); }},
    {"fetch_and", kMessage, kSplitC, [](int owner, int) { (void)fetch_and(counter(owner), -1L); }},
    {"fetch_or", kMessage, kSplitC, [](int owner, int) { (void)fetch_or(counter(owner), 0L); }},
    {"fetch_xor", kMessage, kSplitC, [](int owner, int) { (void)fetch_xor(counter(owner), 0L); }},
    {"swap", kMessage, kSplitC, [](int owner, int) { (void)swap(word(owner), value()); }},
    {"compare_swap", kMessage, kSplitC,
     [](int owner, int) { (void)compare_swap(swapped(owner), -1L, -1L); }},
    {"atomic", kOwner, kSplitC, [](int owner, int) { atomic<no_function>(owner); }},
    {"atomic_put, sync", kOwner, kSplitC,
     [](int owner, int) {
       (void)atomic_put<no_function>(owner);
       splitc::sync();
     }},
    {"put, credit", kMessage, kSplitC,
     [](int owner, int) { flood([owner](int) { put(word(owner), value()); }); }},
    {"get, credit", kMessage, kSplitC, flood_gets},
    {"bulk_get, credit", kMessage, kSplitC, flood_bulk_gets},
    {"bulk_put, credit", kMessage, kSplitC, flood_bulk_puts},
    {"store_now, credit", kMessage, kSplitC,
     [](int owner, int) { flood([owner](int) { store_now(word(owner), value()); }); }},
    {"atomic_put, credit", kOwner, kSplitC,
     [](int owner, int) { flood([owner](int) { (void)atomic_put<no_function>(owner); }); }},
    {"store, credit", kOwner, kSplitC, flood_stores},
    {"spread_free", kOwner, kSplitC, [](int, int) { spread_free(spread_malloc<long>(4)); }},
    {"try_lock, unlock", kMessage, kSplitC, wait_try_lock},
    {"store_sync", kActor, kSplitC, wait_store_sync, true, release_store},
    {"store_counter::wait", kActor, kSplitC, wait_store_counter, true, release_counter},
    {"lock", kActor, kSplitC, wait_lock, false, release_lock, prepare_lock},
    {"barrier", kAll, kSplitC, [](int, int) { barrier(); }},
    {"barrier_wait", kAll, kSplitC, wait_barrier_halves},
    {"all_store_sync", kAll, kSplitC, [](int, int) { all_store_sync(); }},
    {"all_reduce", kAll, kSplitC, [](int, int) { require_sum(all_reduce_add(1L)); }},
    {"all_reduce, array", kAll, kSplitC, reduce_array},
    {"all_reduce_to_one", kAll, kSplitC, reduce_to_one},
    {"all_reduce_to_one, array", kAll, kSplitC, reduce_array_to_one},
    {"all_bcast", kAll, kSplitC, wait_broadcast},
    {"all_bcast, array", kAll, kSplitC, broadcast_array},
    {"all_gather", kAll, kSplitC, wait_gather},
    {"all_gather_to_one", kAll, kSplitC, gather_to_one},
    {"all_scan", kAll, kSplitC, wait_scan},
    {"all_scan_before", kAll, kSplitC, scan_before},
    {"all_malloc", kAll, kSplitC, wait_malloc},
    {"all_free", kAll, kSplitC, wait_free},
    {"all_spread_malloc", kAll, kSplitC, wait_spread_malloc},
    {"all_spread_free", kAll, kSplitC, wait_all_spread_free},
    {"splitc::poll, in a loop", kActor, kSplitC, poll_splitc, false, release_message},
    {"read here, in a loop", kActor, kSplitC, read_here, false, release_message},
    {"is_done, in a loop", kMessage, kSplitC, poll_handle, false},
    {"is_sync, in a loop", kMessage, kSplitC, poll_sync, false},
    {"is_stored, in a loop", kActor, kSplitC, poll_stored, false, release_store},
    {"store_counter::is_stored, in a loop", kActor, kSplitC, poll_counter, false, release_counter},
    {"barrier_try, in a loop", kAll, kSplitC, poll_barrier, false},
    {"try_lock, in a loop", kActor, kSplitC, poll_lock, false, release_lock, prepare_lock},
};

}  // namespace

std::span<const Wait> splitc_waits() { return kWaits; }

}  // namespace viaduct::mixed
