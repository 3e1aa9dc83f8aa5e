// Every call of Active Messages that waits.

#include <sched.h>

#include <vector>

#include "tests/mixed/side.hpp"
#include "viaduct/am/task.hpp"

namespace viaduct::mixed {
namespace {

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
void wait_am_barrier(int, int) { side->require(side->bundle.barrier(), "Bundle::barrier"); }
void wait_context(int, int) { const am::Context other(splitc::job()); }

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

void poll_am(int, int) {
  for (; !is_released(); sched_yield()) (void)side->bundle.poll();
}

constexpr auto kActor = Wait::Ends::by_actor;
constexpr auto kOwner = Wait::Ends::by_owner;
constexpr auto kAll = Wait::Ends::by_all;
constexpr auto kAm = Wait::Row::am;
constexpr auto kReplies = Wait::Row::replies;
constexpr Wait kWaits[] = {
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

std::span<const Wait> am_waits() { return kWaits; }
std::span<const Wait> rare_waits() { return kRareWaits; }

}  // namespace viaduct::mixed
