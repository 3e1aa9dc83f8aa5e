/// Calls that wait for their answers, end early or fail.

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {

namespace detail {

void stop_no_result(Undeliverable error) noexcept {
  violate_contract(errors::no_result, std::string("a call's result was used that is none: ") +
                                          to_string(error) + "; look at error() first");
}

PendingCall* CallRing::take_any() noexcept {
  if (is_empty()) return nullptr;
  PendingCall* const call = call_of(std::exchange(places[answered], kHeld));
  ++answered;
  return call;
}

bool CallRing::replace(const PendingCall* before, PendingCall* now) noexcept {
  for (std::uint8_t i = answered; i != made; ++i)
    if (call_of(places[i]) == before) {
      places[i] = now == nullptr ? kHeld : place_of(*now) | (places[i] & kHeld);
      return true;
    }
  return false;
}

void CallRing::hold(const PendingCall* call) noexcept {
  for (std::uint8_t i = answered; i != made; ++i)
    if (call_of(places[i]) == call) places[i] |= kHeld;
}

bool CallRing::detach(const void* context) noexcept {
  for (std::uint8_t i = answered; i != made; ++i) {
    PendingCall* const call = call_of(places[i]);
    if (call == nullptr || !call->is_attached() || call->context != context) continue;
    store_word(call->state, load_word(call->state, kRelaxed) & ~PendingCall::kAttached, kRelaxed);
    places[i] = place_of(*call);
    return true;
  }
  return false;
}

void CallLock::lock(Bundle& bundle) noexcept {
  static_assert(sizeof(Bundle::Lock) <= sizeof room_ && alignof(Bundle::Lock) <= alignof(void*));
  new (room_) Bundle::Lock(bundle, "Then");
  is_held_ = true;
}

void CallLock::unlock() noexcept { std::launder(reinterpret_cast<Bundle::Lock*>(room_))->~Lock(); }

void PendingCall::poll() noexcept { bundle->poll(); }

std::uint32_t PendingCall::await_slowly() noexcept {
  if (!is_ready()) (void)await_for(-1);
  return load_word(state, kAcquire);
}

Status PendingCall::await_for(std::int64_t timeout_ns) noexcept {
  const Bundle::Guard guard(*bundle, "Future::wait", timeout_ns);
  if (is_ready()) return Status::ok;
  if (!guard.is_in_time()) return Status::timeout;
  std::uint32_t peer = RankRecord::kNoPeer;
  for (const EndpointCore* endpoint : bundle->dispatcher_.endpoints)
    for (const auto& map : endpoint->table.maps())
      if (map->calls.replace(this, this)) peer = viaduct::index(map->name.rank);
  return bundle->wait_loop(Activity::waiting_message, "call", peer, Bundle::Run::all, timeout_ns,
                           [&] { return is_ready(); });
}

void PendingCall::finish(std::uint32_t outcome) noexcept {
  PendingCall* here = this;
  if (is_attached()) {
    const Resume tell = std::exchange(resume, nullptr);
    tell(*this, std::exchange(context, &here), outcome);
    if (here == nullptr) return;  // the function has ended its future
  }
  store_word(here->state, outcome, kRelease);
}

void PendingCall::fail(Undeliverable why) noexcept {
  error = why;
  finish(kFailed);
}

bool PendingCall::attach(Resume to_resume, void* its_context) noexcept {
  if (is_ready()) return false;
  const Bundle::Lock lock(*bundle, "Future::then");
  if (is_ready()) return false;
  if (is_attached()) [[unlikely]]
    violate_contract(
        errors::future_awaited,
        "a future was awaited, or given to then(), while a task waits for it: one task "
        "waits for a future at a time");
  resume = to_resume;
  context = its_context;
  store_word(state, load_word(state, kRelaxed) | kAttached, kRelaxed);
  for (const EndpointCore* endpoint : bundle->dispatcher_.endpoints)
    for (const auto& map : endpoint->table.maps()) map->calls.hold(this);
  return true;
}

void PendingCall::detach(Bundle& bundle, const void* its_context) noexcept {
  const Bundle::Lock lock(bundle, "Task");
  for (const EndpointCore* endpoint : bundle.dispatcher_.endpoints)
    for (const auto& map : endpoint->table.maps())
      if (map->calls.detach(its_context)) return;
}

bool PendingCall::take_over(PendingCall& from) noexcept {
  if (!from.is_ready()) return from.move_to(this);
  bundle = from.bundle;
  error = from.error;
  const std::uint32_t outcome = load_word(from.state, kRelaxed);
  store_word(state, outcome, kRelaxed);
  return outcome == kOk;
}

void PendingCall::abandon() noexcept { (void)move_to(nullptr); }

bool PendingCall::move_to(PendingCall* to) noexcept {
  const Bundle::Lock lock(*bundle, "Future");
  const bool is_told = is_attached() && resume == nullptr;  // by this thread, further out
  if (is_told) {
    *static_cast<PendingCall**>(context) = to;
  } else if (!is_ready()) {
    for (const EndpointCore* endpoint : bundle->dispatcher_.endpoints)
      for (const auto& map : endpoint->table.maps())
        if (map->calls.replace(this, to)) break;
    if (to == nullptr && is_attached() && context != nullptr) {
      error = Undeliverable::reply_rejected;
      resume(*this, context, kFailed);
      bundle->dispatcher_.stirred = true;  // a task may wait in another thread
    }
  }
  if (to != nullptr) {
    to->bundle = bundle;
    to->error = error;
    to->resume = resume;
    to->context = context;
    store_word(to->state, load_word(state, kRelaxed), kRelaxed);
  }
  const bool is_there = is_told || load_word(state, kRelaxed) == kOk;
  store_word(state, kFailed, kRelaxed);
  return is_there;
}

void take_failure(Token& token, std::uint8_t why) {
  if (PendingCall* const call = CallAccess::calls(token).take_any())
    call->fail(static_cast<Undeliverable>(why));
}

/// Takes an answer that the fast path leaves: a function or task is to be told, the future has
/// ended, or the peer has answered without being asked or with another type.
PendingCall* CallAccess::take_slowly(Token& token, std::uint32_t tag) noexcept {
  PendingCall* const call = calls(token).take_any();
  if (call == nullptr) return nullptr;
  if ((load_word(call->state, kRelaxed) & ~PendingCall::kAttached) == tag) return call;
  call->fail(Undeliverable::reply_rejected);
  return nullptr;
}

/// Sends a call that the inline path does not send. The call is then pending in a ring, or failed.
void EndpointCore::send_call(Outgoing out, PendingCall& call, std::uint32_t call_tag) noexcept {
  call.bundle = &bundle;
  store_word(call.state, call_tag, kRelaxed);
  out.call = &call;
  switch (send_slow(out)) {
    case Status::ok:
      return;
    case Status::peer_lost:
      return call.fail(Undeliverable::unreachable);
    default:
      call.fail(value(out.to) >= table.size() ? Undeliverable::bad_entry
                                              : Undeliverable::bad_length);
  }
}

void EndpointCore::refuse_room(PendingCall& call, std::size_t bytes) noexcept {
  call.bundle = &bundle;
  (void)Refusal::null(*this, "the room of a call", bytes);
  call.fail(Undeliverable::bad_length);
}

void EndpointCore::stop_no_state(const char* wanted) const noexcept {
  violate_contract(
      errors::no_state,
      std::string("state<T>() ") +
          (state == nullptr
               ? "was asked for an object, but set_state() has given the endpoint none"
               : "names another type than that of the object that set_state() has given "
                 "the endpoint") +
          ": " + wanted);
}

}  // namespace detail

}  // namespace viaduct::am
