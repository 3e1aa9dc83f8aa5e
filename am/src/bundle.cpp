#include "viaduct/am/bundle.hpp"

#include <algorithm>
#include <string>

#include "am/src/bundle_wait.hpp"
#include "am/src/context_shared.hpp"
#include "am/src/fork_guard.hpp"
#include "runtime/errors/codes.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {

using detail::Map;

namespace {

constexpr std::uint32_t kInStream = 4;  // times as many slots between two polls (PollPace)

}  // namespace

Bundle::Bundle(Context& context, Threads threads)
    : dispatcher_(*this, context), threads_(threads), idle_(context.job().wait_policy()) {
  Served::stop_in_handler(context, "Bundle");
  if (threads == Threads::parallel) {
    dispatcher_.slow = dispatcher_.depth_base = 1;
    calls_ = &context.shared_->calls;
    has_short_calls_ = context.nic().transport() == nullptr;
  }
  const CallsLock serving(context.shared_->calls);  // another thread may serve other bundles
  dispatcher_.pace.every = static_cast<std::uint32_t>(context.settings().poll_every);
  dispatcher_.pace.in_stream = kInStream * dispatcher_.pace.every;
  via::channel::Nic& nic = context.nic();
  dispatcher_.group = std::make_unique<via::channel::Group>(nic);
  served_ = std::make_unique<Served>(*this, nic);
  dispatcher_.protection_tag = nic.create_tag();
  // A child that is forked in a handler has its token: the rings are closed, so that its reply
  // takes the slow path.
  const auto close_rings = [](void* self) {
    const auto& dispatcher = *static_cast<detail::Dispatcher*>(self);
    if (!dispatcher.runs_handler()) return;
    for (const auto* endpoint : dispatcher.endpoints)
      for (const auto& map : endpoint->table.maps())
        if (map->channel != nullptr) map->channel->close_in_child();
  };
  try {
    raise_in_forked_children(dispatcher_.slow.word(), close_rings, &dispatcher_);
  } catch (...) {
    nic.destroy_tag(dispatcher_.protection_tag);
    throw;
  }
  if (calls_ != nullptr) calls_->add(gate_, &dispatcher_.slow.word(), &dispatcher_.depth_base);
  show_handlers();
}

void Bundle::set_poll_every(std::uint32_t n) noexcept {
  const Lock lock(*this, "set_poll_every");
  dispatcher_.pace = {n, n};
  for (const auto* endpoint : dispatcher_.endpoints)
    for (const auto& map : endpoint->table.maps()) map->poll_after(n);
}

Bundle::~Bundle() {
  Served::stop_in_handler(dispatcher_.context, "~Bundle");
  if (!dispatcher_.endpoints.empty() && !dispatcher_.context.job().in_forked_child())
    violate_contract(errors::endpoint_left,
                     "a bundle ends before its endpoint " +
                         std::to_string(dispatcher_.endpoints.front()->number) +
                         ": declare the endpoint behind its bundle, or destroy it first");
  served_.reset();
  const CallsLock serving(dispatcher_.context.shared_->calls);
  if (calls_ != nullptr) calls_->remove(gate_);
  hide_handlers();
  leave_forked_children(dispatcher_.slow.word());
  dispatcher_.group.reset();
  dispatcher_.context.nic().destroy_tag(dispatcher_.protection_tag);
}

/// Tells hang reports where this rank keeps which handler runs. Dispatching a message stores that
/// anyway, so that the report costs it nothing.
void Bundle::show_handlers() noexcept {
  RankRecord& record = dispatcher_.context.job().record(dispatcher_.context.job().rank());
  const auto names = handler_names();
  shown_ = {&dispatcher_.slow.word(),      dispatcher_.depth_base, kFirstTypedId,
            &dispatcher_.running,          names.data(),           names.size(),
            record.handlers.load(kRelaxed)};
  record.handlers.store(&shown_, kRelease);
}

void Bundle::hide_handlers() noexcept {
  RankRecord& record = dispatcher_.context.job().record(dispatcher_.context.job().rank());
  const RunningHandler* const first = record.handlers.load(kRelaxed);
  if (first == &shown_) return record.handlers.store(shown_.next, kRelease);
  for (auto* at = const_cast<RunningHandler*>(first); at != nullptr;
       at = const_cast<RunningHandler*>(at->next)) {
    if (at->next != &shown_) continue;
    at->next = shown_.next;
    return;
  }
}

void Bundle::stop_caller(const char* call) const noexcept {
  if (dispatcher_.context.job().in_forked_child())
    violate_contract(
        errors::forked_child,
        std::string(call) + " was called in a child that a rank forked: it may only exec or _exit");
  if (served_->engine().runs_function())
    violate_contract(errors::communication_in_function,
                     std::string(call) +
                         " was called by a function that Split-C's atomic() runs: it may use local "
                         "memory only; communicate where atomic() is called, before or after it");
  violate_contract(
      errors::handler_communicates,
      std::string(call) + " was called while handler " +
          (dispatcher_.running == 0 ? "0 (the undeliverable-message handler)"
                                    : handler_name(dispatcher_.running)) +
          " was running: a request handler may only reply, once, and a reply handler may not "
          "communicate");
}

/// Stops the program where a handler of any of this thread's bundles runs.
void Bundle::Served::stop_in_handler(Context& context, const char* call) noexcept {
  if (context.job().in_forked_child()) return;
  via::channel::Client* const running = context.shared_->engine->running();
  if (running != nullptr) static_cast<const Served*>(running)->bundle_.stop_caller(call);
}

void Bundle::stop_second_thread(const char* call) const noexcept {
  violate_contract(
      errors::bundle_of_two_threads,
      "two threads of rank " + std::to_string(index(dispatcher_.context.job().rank())) +
          " use a sequential bundle at the same time: one is in " + user_call_.load(kRelaxed) +
          ", the other calls " + call + "; make it a parallel one (am::Bundle::Threads::parallel)");
}

std::uint32_t Bundle::poll_long(Run run) noexcept {
  const Guard guard(*this, "poll", 0);
  return guard.is_in_time() ? dispatcher_.poll(run == Run::all) : 0;
}

/// Puts a reply or a returned message on the ring, polling for replies while there is no room.
Status Bundle::send_waiting(Map& map, std::uint64_t client, std::span<const std::uint64_t> words,
                            std::uint32_t bytes, std::span<const std::byte> data) noexcept {
  bool sent = false;
  const auto attempt = [&] {
    if (map.state == Map::State::closing || map.state == Map::State::lost) return true;
    return sent = map.try_send(0, client, words, bytes, data);
  };
  if (!attempt()) {
    dispatcher_.count(kReplyWaits);
    (void)wait_loop(Activity::waiting_credit, "reply", index(map.name.rank), Run::replies, -1,
                    attempt);
  }
  return sent ? Status::ok : Status::peer_lost;
}

/// An arriving message wakes every sleeping thread of a parallel bundle. A change that one of the
/// threads makes by itself wakes none, so that thread wakes the others before it releases the lock.
void Bundle::wake_others() noexcept {
  if (!dispatcher_.stirred) return;
  dispatcher_.stirred = false;
  RankRecord& record = dispatcher_.context.job().record(dispatcher_.context.job().rank());
  if (record.sleeping.load() != 0) ring_doorbell(record);
}

/// Publishes withheld credits before a sleep. False: a connection has ended and is to be drained.
bool Bundle::publish_withheld() noexcept {
  const std::size_t closing = dispatcher_.closing.size();
  for (const auto* endpoint : dispatcher_.endpoints)
    for (const auto& map : endpoint->table.maps()) {
      if (map->unreplied != map->unreplied_published && map->state == Map::State::connected)
        map->publish_credits();
      map->check_counters();
    }
  return dispatcher_.closing.size() == closing;
}

bool Bundle::block(Run run, std::uint64_t until, std::int64_t timeout_ns,
                   const std::function<bool()>& done) noexcept {
  RankRecord& record = dispatcher_.context.job().record(dispatcher_.context.job().rank());
  const std::uint32_t peer = record.waits_for_peer.load(kRelaxed);
  const bool nothing_new = publish_withheld();
  std::uint32_t left = 0;  // of our credits, towards the peer that is waited for, or all
  std::uint64_t sent = 0;  // into the same peers' medium rings, padding included
  std::uint64_t returned = 0;
  for (const auto* endpoint : dispatcher_.endpoints)
    for (const auto& map : endpoint->table.maps()) {
      if (peer != RankRecord::kNoPeer && peer != viaduct::index(map->name.rank)) continue;
      left += map->credits();
      sent += map->medium.out.head;
      returned += map->state == Map::State::connected ? map->channel->peer_counter(1)
                                                      : map->medium.out.released;
    }
  record.bytes_expected.store(sent, kRelaxed);
  record.bytes_seen.store(returned, kRelaxed);
  record.credits_out.store(left, kRelaxed);
  record.credits_in.store(dispatcher_.deferred_total,
                          kRelaxed);  // requests here that have not run
  if (!nothing_new) return true;
  WaitPause pause(*this, run, until);
  // Inline calls of another thread take the guarded path meanwhile, which detects them. Hang
  // reports read `slow` at any moment: kAsleep shows that no handler runs.
  const std::uint32_t raised = dispatcher_.slow == 0 ? RunningHandler::kAsleep : 0;
  dispatcher_.slow = dispatcher_.slow + raised;
  dispatcher_.depth_base += raised;
  served_->engine().block(*served_, timeout_ns, done, &pause);
  dispatcher_.slow = dispatcher_.slow - raised;
  dispatcher_.depth_base -= raised;
  return pause.is_in_time();
}

Status Bundle::wait(std::int64_t timeout_ns) noexcept {
  const Guard guard(*this, "wait", timeout_ns);
  if (!guard.is_in_time()) return Status::timeout;
  std::uint32_t n = dispatcher_.poll(true);
  return wait_loop(
      Activity::waiting_message, "wait", RankRecord::kNoPeer, Run::all, timeout_ns,
      [] { return false; }, &n);
}

Status Bundle::wait_until(const std::function<bool()>& done, std::int64_t timeout_ns) noexcept {
  const Guard guard(*this, "wait_until", timeout_ns);
  if (!guard.is_in_time()) return Status::timeout;
  if (done()) return Status::ok;
  return wait_loop(Activity::waiting_message, "wait_until", RankRecord::kNoPeer, Run::all,
                   timeout_ns, done);
}

Status Bundle::wait_pending(const std::function<bool()>& done, std::int64_t timeout_ns) noexcept {
  const Guard guard(*this, "wait_pending", timeout_ns);
  if (!guard.is_in_time()) return Status::timeout;
  const auto pending = [&] {
    return dispatcher_.deferred_total != 0 || !dispatcher_.closing.empty() || done();
  };
  std::uint32_t n = dispatcher_.poll(false);
  if (n == 0 && pending()) return Status::ok;
  return wait_loop(Activity::waiting_message, "wait_pending", RankRecord::kNoPeer, Run::replies,
                   timeout_ns, pending, &n);
}

bool Bundle::has_pending() noexcept {
  const Lock lock(*this, "has_pending");
  return dispatcher_.deferred_total != 0 || !dispatcher_.closing.empty();
}

void Bundle::make_parallel() noexcept {
  if (threads_ == Threads::parallel) return;
  if (user_.load(kRelaxed) != 0)
    violate_contract(
        errors::bundle_of_two_threads,
        "a second thread of rank " + std::to_string(index(dispatcher_.context.job().rank())) +
            " makes its first call while the first thread is in " + user_call_.load(kRelaxed) +
            ": a thread that is made in a call, by a handler, may call only when "
            "that call has returned");
  const CallsLock serving(dispatcher_.context.shared_->calls);
  hide_handlers();
  threads_ = Threads::parallel;
  calls_ = &dispatcher_.context.shared_->calls;
  has_short_calls_ = dispatcher_.context.nic().transport() == nullptr;
  calls_->add(gate_, &dispatcher_.slow.word(), &dispatcher_.depth_base);
  dispatcher_.depth_base += 1;
  ++dispatcher_.slow;
  show_handlers();
}

Status Bundle::barrier() noexcept {
  const Guard guard(*this, "barrier");
  Job& job = dispatcher_.context.job();
  const auto ends_wait = [](const detail::EndpointCore* endpoint) {
    return endpoint->ends_waits.load(kRelaxed) != 0;
  };
  Status status = Status::retry;
  const auto pass = [&](std::uint32_t ticket) {
    const auto done = [&] {
      status = job.barrier_done(ticket);
      if (status == Status::retry &&
          std::any_of(dispatcher_.endpoints.begin(), dispatcher_.endpoints.end(), ends_wait))
        status = Status::bad_state;
      return status != Status::retry;
    };
    if (!done())
      (void)wait_loop(Activity::barrier, "barrier", RankRecord::kNoPeer, Run::all, -1, done);
  };
  // The barrier before this one may be open still: the end of an endpoint ends a wait, but takes
  // back no arrival.
  pass(job.record(job.rank()).barrier_ticket.load(kRelaxed));
  if (status != Status::bad_state) pass(job.barrier_arrive());
  catch_up();
  return status;
}

/// What peers of this host have sent before the barrier is in the rings, also where a peer did not
/// see that its ring had been set aside. A peer that goes on sending does not hold this rank back.
void Bundle::catch_up() noexcept {
  const Guard guard(*this, "barrier");
  dispatcher_.group->ring_for_missed();
  const auto slots = static_cast<std::uint32_t>(dispatcher_.context.settings().slots);
  const std::uint32_t batches = slots / detail::Dispatcher::kBatch;
  for (std::uint32_t i = 0; i <= batches && dispatcher_.poll(true) != 0; ++i) {
  }
}

}  // namespace viaduct::am
