// Every operation that somebody else must serve, of both models.

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/mixed/side.hpp"

namespace viaduct::mixed {
namespace {

using namespace viaduct::splitc;

long value_of(std::uint64_t round) { return static_cast<long>(round * 11 + 5); }

// Active Messages.

/// Until the reply is here, which is to be @p answer.
void await_reply(long before, long answer) {
  side->require(side->bundle.wait_until([=] { return side->replies != before; }), "wait_until");
  side->require(side->last_reply == answer, "the reply");
}
void ask(int waiter) {
  const long before = side->replies;
  const long value = value_of(side->round);
  side->require(side->endpoint.request<on_ask>(side->index(waiter), value), "request");
  await_reply(before, 2 * value);
}
void ask_medium(int waiter) {
  const long before = side->replies;
  std::vector<long> values(Shared::kBlock);
  std::iota(values.begin(), values.end(), value_of(side->round));
  side->require(
      side->endpoint.request_medium<on_ask_medium>(side->index(waiter), std::span(values)),
      "request_medium");
  await_reply(before, std::accumulate(values.begin(), values.end(), 0L));
}
void ask_bulk(int waiter) {
  const long before = side->replies;
  std::vector<long> values(Shared::kBlock);
  std::iota(values.begin(), values.end(), value_of(side->round));
  side->require(side->endpoint.request_bulk<on_ask_bulk>(side->index(waiter), std::span(values), 0),
                "request_bulk");
  await_reply(before, std::accumulate(values.begin(), values.end(), 0L));
}
/// More requests than there are credits: the waiter must give them back.
void ask_many(int waiter) {
  for (std::uint32_t i = 0; i < 3 * side->endpoint.credits(); ++i)
    side->require(side->endpoint.request<on_count>(side->index(waiter), 1L), "request");
  ask(waiter);
}
/// From an endpoint that the waiter does not know yet.
void ask_first(int waiter) {
  am::Endpoint fresh(side->bundle);
  side->require(fresh.map(am::Index{0}, {Rank{static_cast<std::uint32_t>(waiter)}, 0}, am::kTagAll),
                "map");
  const long before = side->replies;
  side->require(fresh.request<on_ask>(am::Index{0}, 4L), "request");
  await_reply(before, 8);
}
void ask_for_bulk(int waiter) {
  const long before = side->replies;
  const long value = value_of(side->round);
  side->require(side->endpoint.request<on_ask_for_bulk>(side->index(waiter), value), "request");
  await_reply(before, static_cast<long>(Shared::kBlock) * value);
}
void act_call(int waiter) {
  const long value = value_of(side->round);
  const auto result = side->endpoint.call<on_twice>(side->index(waiter), value).wait();
  side->require(result && *result == 2 * value, "call");
}
void act_call_with_data(int waiter) {
  const std::vector<long> values(10, value_of(side->round));
  const auto result = side->endpoint.call<on_sum>(side->index(waiter), std::span(values)).wait();
  side->require(result && *result == 10 * values[0], "call with data");
}
/// Of the segment's end, where no bulk message goes: others may send one at the same time.
void act_get_am(int waiter) {
  const long before = side->counted;
  std::vector<long> values(10);
  constexpr std::size_t kFrom = 4000;
  side->require(side->endpoint.get<on_got>(side->index(waiter), std::span(values), kFrom), "get");
  side->require(side->bundle.wait_until([=] { return side->counted != before; }), "wait_until");
}
/// The waiter must give back the credit of a request that has no reply.
void act_unmap(int waiter) {
  side->require(side->endpoint.request<on_count>(side->index(waiter), 1L), "request");
  side->unmap(waiter);
}
/// The waiter must handle the reply, for which this process does not poll.
void act_reply(int) {
  const auto is_asked = [] { return side->asked == side->round; };
  side->require(side->bundle.wait_until(is_asked), "wait_until");
  side->board.await_reply(side->round);
}
void ask_in_wait(int actor) {
  side->require(side->endpoint.request<on_ask_in_wait>(side->index(actor), side->round), "request");
}

// Split-C.

void act_read(int waiter) {
  const auto word = toglobal(waiter, &side->shared->word);
  write(word, value_of(side->round));
  side->require(read(word) == value_of(side->round), "read after write");
}
void act_put(int waiter) {
  put(toglobal(waiter, &side->shared->word), value_of(side->round));
  splitc::sync();
  long here = 0;
  get(&here, toglobal(waiter, &side->shared->word));
  splitc::sync();
  side->require(here == value_of(side->round), "get after put");
}
void act_store(int waiter) {
  const auto there = toglobal(waiter, &side->shared->stored);
  store(there, value_of(side->round));
  // A function comes behind the store, and runs when that has been delivered.
  side->require(atomic<read_stored>(waiter) == value_of(side->round), "what was stored");
}
void act_bulk(int waiter) {
  std::vector<long> values(Shared::kBlock);
  std::iota(values.begin(), values.end(), value_of(side->round));
  const auto there = toglobal(waiter, side->shared->block);
  bulk_write(there, values.data(), values.size());
  std::vector<long> back(values.size());
  bulk_read(back.data(), there, back.size());
  side->require(back == values, "bulk_read after bulk_write");
}
void act_bulk_get(int waiter) {
  std::vector<long> values(Shared::kBlock);
  std::iota(values.begin(), values.end(), value_of(side->round));
  const auto there = toglobal(waiter, side->shared->block);
  wait(bulk_put(there, values.data(), values.size()));
  std::vector<long> back(values.size());
  wait(bulk_get(back.data(), there, back.size()));
  side->require(back == values, "bulk_get after bulk_put");
}
void act_store_on_counter(int waiter) {
  store(toglobal(waiter, &side->shared->stored), value_of(side->round), kElsewhere);
  side->require(atomic<read_stored>(waiter) == value_of(side->round), "what was stored");
}
/// More than goes in one message: on one host the waiter copies it, unless all goes by message.
void act_bulk_store(int waiter) {
  const std::vector<long> values(6 * Shared::kBlock, value_of(side->round));
  bulk_store(toglobal(waiter, side->shared->large), values.data(), values.size(), kElsewhere);
  side->require(atomic<read_large>(waiter) == value_of(side->round), "what was stored");
}
void act_swap(int waiter) {
  const auto counter = toglobal(waiter, &side->shared->swapped);
  (void)swap(counter, value_of(side->round));
  side->require(compare_swap(counter, value_of(side->round), 1L) == value_of(side->round),
                "compare_swap after swap");
}
void act_atomic_put(int waiter) {
  const long before = atomic<add_by_function>(waiter, 0L);
  (void)atomic_put<add_by_function>(waiter, 3L);
  splitc::sync();
  side->require(atomic<add_by_function>(waiter, 0L) == before + 3, "atomic_put");
}
void act_spread_free(int) { spread_free(spread_malloc<long>(4)); }
void act_fetch_add(int waiter) {
  const auto counter = toglobal(waiter, &side->shared->counter);
  const long before = fetch_add(counter, 5L);
  side->require(fetch_add(counter, 1L) == before + 5, "fetch_add");
}
void act_lock(int waiter) {
  const auto l = toglobal(waiter, &side->shared->lock);
  lock(l);
  unlock(l);
}
void act_atomic(int waiter) {
  side->require(atomic<add_by_function>(waiter, 4L) + 4 == atomic<add_by_function>(waiter, 0L),
                "atomic");
}

constexpr auto kSplitC = Model::splitc;
constexpr auto kAm = Model::am;
constexpr auto kAnywhere = Served::Cycle::anywhere;
constexpr auto kNever = Served::Cycle::never;
constexpr Served kServed[] = {
    {"short request", kAm, ask, kAnywhere},
    {"medium request", kAm, ask_medium, kAnywhere},
    {"bulk request", kAm, ask_bulk},
    {"bulk reply", kAm, ask_for_bulk},
    {"call", kAm, act_call, kAnywhere},
    {"call, data", kAm, act_call_with_data, kAnywhere},
    {"Endpoint::get", kAm, act_get_am, kAnywhere},
    {"credits", kAm, ask_many, kAnywhere},
    {"connection", kAm, ask_first, kAnywhere},
    {"unmap", kAm, act_unmap, kAnywhere},
    {"reply", kAm, act_reply, kNever, ask_in_wait},
    {"read, write", kSplitC, act_read},
    {"get, put", kSplitC, act_put},
    {"store", kSplitC, act_store},
    {"store, counter", kSplitC, act_store_on_counter},
    {"bulk_read, bulk_write", kSplitC, act_bulk},
    {"bulk_get, bulk_put", kSplitC, act_bulk_get},
    {"bulk_store", kSplitC, act_bulk_store},
    {"fetch_add", kSplitC, act_fetch_add},
    {"swap, compare_swap", kSplitC, act_swap},
    {"lock", kSplitC, act_lock, kAnywhere},
    {"atomic", kSplitC, act_atomic},
    {"atomic_put", kSplitC, act_atomic_put},
    {"spread_free", kSplitC, act_spread_free, kAnywhere, nullptr, true},
};

}  // namespace

void no_function() {}
long read_stored() { return own_shared->stored; }
long read_large() { return own_shared->large[6 * Shared::kBlock - 1]; }
long add_by_function(long by) {
  const long before = own_shared->by_function;
  own_shared->by_function += by;
  return before;
}

std::span<const Served> served_operations() { return kServed; }

}  // namespace viaduct::mixed
