// Every call that waits, of both models.

#include <sched.h>

#include <string_view>
#include <vector>

#include "tests/mixed/side.hpp"
#include "viaduct/am/task.hpp"

namespace viaduct::mixed {
namespace {

using namespace viaduct::splitc;

long value_of(std::uint64_t round) { return static_cast<long>(round * 7 + 3); }

// Split-C, ended by the owner's service.

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

// Split-C, ended by the actor or by all.

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

// Active Messages.

auto there(int process) { return side->index(process); }
/// More requests than there are credits.
template <class Send>
void exhaust(Send&& send) {
  for (std::uint32_t i = 0; i <= side->endpoint.credits(); ++i) side->require(send(), "a request");
}
void wait_credit(int owner, int) {
  exhaust([owner] { return side->endpoint.request<on_count>(there(owner), 1L); });
}
void credit_replies_alone(int owner, int actor) {
  side->endpoint.set_wait_run(am::Bundle::Run::replies);
  wait_credit(owner, actor);
  side->endpoint.set_wait_run(am::Bundle::Run::all);
}
/// Tries until the message is taken.
template <class Try>
Status insist(Try&& attempt) {
  for (;; sched_yield()) {
    const Status status = attempt();
    if (status != Status::retry) return status;
  }
}
template <class Try>
void exhaust_by(Try&& attempt) {
  exhaust([&] { return insist(attempt); });
}
void try_for_credit(int owner, int) {
  exhaust_by([=] { return side->endpoint.try_request<on_count>(there(owner), 1L); });
}
void try_medium(int owner, int) {
  const std::vector<long> data(10, 1);
  exhaust_by(
      [&] { return side->endpoint.try_request_medium<on_count_medium>(there(owner), data); });
}
void try_bulk(int owner, int) {
  std::vector<long> data(10, 1);
  exhaust_by([&] { return side->endpoint.try_request_bulk<on_count_bulk>(there(owner), data, 0); });
}
void try_raw(int owner, int) {
  const std::uint64_t one = 1;
  exhaust_by([&] {
    return side->endpoint.try_request_raw(there(owner), am::HandlerId{1}, std::span(&one, 1));
  });
}
void send_medium(int owner, std::span<const long> data) {
  exhaust([=] { return side->endpoint.request_medium<on_count_medium>(there(owner), data); });
}
void wait_credit_medium(int owner, int) { send_medium(owner, std::vector<long>(10, 1)); }
void wait_room_medium(int owner, int) { send_medium(owner, side->large); }
void wait_credit_bulk(int owner, int) {
  std::vector<long> data(10, 1);
  exhaust(
      [&] { return side->endpoint.request_bulk<on_count_bulk>(there(owner), std::span(data), 0); });
}
void wait_credit_raw(int owner, int) {
  const std::uint64_t one = 1;
  exhaust([&] {
    return side->endpoint.request_raw(there(owner), am::HandlerId{1}, std::span(&one, 1));
  });
}
void wait_credit_medium_raw(int owner, int) {
  const std::uint64_t one = 1;
  exhaust([&] {
    const std::span arguments(&one, 1);
    return side->endpoint.request_medium_raw(there(owner), am::HandlerId{1},
                                             std::as_bytes(arguments), arguments);
  });
}
/// From an endpoint that the owner does not know yet: the call waits for the connection.
template <class Send>
void send_first(int owner, Send&& send) {
  am::Endpoint fresh(side->bundle);
  side->require(fresh.map(am::Index{0}, {Rank{static_cast<std::uint32_t>(owner)}, 0}, am::kTagAll),
                "map");
  side->require(send(fresh), "the first message");
}
void wait_connection(int owner, int) {
  send_first(owner, [](auto& fresh) { return fresh.template request<on_count>(am::Index{0}, 1L); });
}
void connect_medium(int owner, int) {
  const long one = 1;
  send_first(owner, [&](auto& fresh) {
    return fresh.template request_medium<on_count_medium>(am::Index{0}, std::span(&one, 1));
  });
}
void connect_bulk(int owner, int) {
  std::vector<long> data(10, 1);
  send_first(owner, [&](auto& fresh) {
    return fresh.template request_bulk<on_count_bulk>(am::Index{0}, std::span(data), 0);
  });
}
void connect_raw(int owner, int) {
  const std::uint64_t one = 1;
  send_first(owner, [&](auto& fresh) {
    return fresh.request_raw(am::Index{0}, am::HandlerId{1}, std::span(&one, 1));
  });
}
void try_get_am(int owner, int) {
  std::vector<long> data(10);
  send_first(owner, [&](auto& fresh) {
    return insist([&] { return fresh.template try_get<on_got>(am::Index{0}, std::span(data), 0); });
  });
}
void wait_get_am(int owner, int) {
  std::vector<long> data(10);
  send_first(owner, [&](auto& fresh) {
    return fresh.template get<on_got>(am::Index{0}, std::span(data), 0);
  });
}
void wait_unmap(int owner, int) {
  side->require(side->endpoint.request<on_count>(there(owner), 1L), "request");
  side->unmap(owner);
}

auto call(int owner) { return side->endpoint.call<on_twice>(there(owner), 4L); }
void require_answer(const am::Result<long>& result) {
  side->require(result && *result == 8, "the answer of a call");
}
void connect_call(int owner, int) {
  send_first(owner, [](auto& fresh) {
    require_answer(fresh.template call<on_twice>(am::Index{0}, 4L).wait());
    return Status::ok;
  });
}
void wait_future(int owner, int) { require_answer(call(owner).wait()); }
void wait_for_future(int owner, int) {
  auto future = call(owner);
  side->require(future.wait_for(-1), "Future::wait_for");
  require_answer(future.wait());
}
void wait_credit_calls(int owner, int) {
  std::vector<am::Future<long>> futures;
  for (std::uint32_t i = 0; i <= side->endpoint.credits(); ++i) futures.push_back(call(owner));
  for (auto& future : futures) require_answer(future.wait());
}
am::Task call_in_task(int owner) { require_answer(co_await call(owner)); }
void wait_task(int owner, int) { side->bundle.run(call_in_task(owner)); }

bool is_released() { return side->released == side->round; }
void wait_until(int, int) { side->require(side->bundle.wait_until(is_released), "wait_until"); }
void wait_message(int, int) {
  while (!is_released()) side->require(side->bundle.wait(), "Bundle::wait");
}
/// The wait runs no request handler: it ends when there is a request for the next poll.
void wait_pending(int, int) {
  while (!is_released()) {
    side->require(side->bundle.wait_pending(is_released), "wait_pending");
    (void)side->bundle.poll();
  }
}
void release_message(int waiter) {
  side->require(side->endpoint.request<on_release>(there(waiter), side->round), "release");
}
void wait_am_barrier(int, int) { side->require(side->bundle.barrier(), "Bundle::barrier"); }
void wait_context(int, int) { const am::Context other(job()); }

/// Each answer is as long as a medium message may be: the ring to the owner, which does not poll,
/// has room for three, so that a handler waits in its reply.
constexpr int kLargeReplies = 6;
void ask_for_large(int waiter) {
  side->bundle.set_poll_every(kLargeReplies + 1);
  for (int i = 0; i < kLargeReplies; ++i)
    side->require(side->endpoint.request<on_ask_for_large>(there(waiter)), "request");
  side->bundle.set_poll_every(static_cast<std::uint32_t>(side->context.settings().poll_every));
}
void wait_in_handler(int, int) {
  const auto all = [] { return side->large_replies == kLargeReplies; };
  side->require(side->bundle.wait_until(all), "wait_until");
  side->large_replies = 0;
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
void poll_am(int, int) {
  for (; !is_released(); sched_yield()) (void)side->bundle.poll();
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
constexpr auto kAm = Wait::Row::am;
constexpr auto kReplies = Wait::Row::replies;
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
    {"request, credit", kOwner, kAm, wait_credit},
    {"request, connection", kOwner, kAm, wait_connection},
    {"request_medium, connection", kOwner, kAm, connect_medium},
    {"request_bulk, connection", kOwner, kAm, connect_bulk},
    {"request_raw, connection", kOwner, kAm, connect_raw},
    {"call, connection", kOwner, kAm, connect_call},
    {"request_medium, credit", kOwner, kAm, wait_credit_medium},
    {"request_medium, room", kOwner, kAm, wait_room_medium},
    {"request_bulk, credit", kOwner, kAm, wait_credit_bulk},
    {"request_raw, credit", kOwner, kAm, wait_credit_raw},
    {"request_medium_raw, credit", kOwner, kAm, wait_credit_medium_raw},
    {"get, connection", kOwner, kAm, wait_get_am},
    {"call, credit", kOwner, kAm, wait_credit_calls},
    {"Future::wait", kOwner, kAm, wait_future},
    {"Future::wait_for", kOwner, kAm, wait_for_future},
    {"Bundle::run", kOwner, kAm, wait_task},
    {"Endpoint::unmap", kOwner, kAm, wait_unmap},
    {"Bundle::wait_until", kActor, kAm, wait_until, true, release_message},
    {"Bundle::wait", kActor, kAm, wait_message, true, release_message},
    {"Bundle::wait_pending, poll", kActor, kAm, wait_pending, true, release_message},
    {"Bundle::barrier", kAll, kAm, wait_am_barrier},
    {"Bundle::poll, in a loop", kActor, kAm, poll_am, false, release_message},
    {"try_request, in a loop", kOwner, kAm, try_for_credit, false},
    {"try_request_medium, in a loop", kOwner, kAm, try_medium, false},
    {"try_request_bulk, in a loop", kOwner, kAm, try_bulk, false},
    {"try_request_raw, in a loop", kOwner, kAm, try_raw, false},
    {"try_get, in a loop", kOwner, kAm, try_get_am, false},
    {"request, set_wait_run(replies)", kOwner, kReplies, credit_replies_alone},
    {"reply_medium, in a handler", kOwner, kReplies, wait_in_handler, true, nullptr, nullptr,
     ask_for_large},
};
constexpr Wait kRareWaits[] = {
    {"am::Context", kAll, kAm, wait_context, false},
};

}  // namespace

std::span<const Wait> waits() { return kWaits; }
std::span<const Wait> rare_waits() { return kRareWaits; }

}  // namespace viaduct::mixed
