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

constexpr auto kSplitC = Wait::Model::splitc;
constexpr auto kAm = Wait::Model::am;
constexpr Served kServed[] = {
    {"short request", kAm, ask},
    {"medium request", kAm, ask_medium},
    {"bulk request", kAm, ask_bulk},
    {"credits", kAm, ask_many},
    {"connection", kAm, ask_first},
    {"read, write", kSplitC, act_read},
    {"get, put", kSplitC, act_put},
    {"store", kSplitC, act_store},
    {"bulk_read, bulk_write", kSplitC, act_bulk},
    {"fetch_add", kSplitC, act_fetch_add},
    {"lock", kSplitC, act_lock},
    {"atomic", kSplitC, act_atomic},
};

}  // namespace

long read_stored() { return side->shared->stored; }
long add_by_function(long by) {
  const long before = side->shared->by_function;
  side->shared->by_function += by;
  return before;
}

std::span<const Served> served_operations() { return kServed; }

}  // namespace viaduct::mixed
