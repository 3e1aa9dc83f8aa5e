/// Calls that wait for their answers, end early or fail.

#include <algorithm>
#include <string>
#include <utility>

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

void PendingCall::poll() noexcept { bundle->poll(); }

std::uint32_t PendingCall::await_slowly() noexcept {
  if (!is_ready()) (void)await_for(-1);
  return load_word(state, kAcquire);
}

Status PendingCall::await_for(std::int64_t timeout_ns) noexcept {
  return bundle->wait_for_call(*this, timeout_ns);
}

void PendingCall::finish(std::uint32_t outcome) noexcept {
  const std::uint32_t before = load_word(state, kRelaxed);
  if (before > kFailed && (before & kAttached) != 0) resume(*this, outcome);
  store_word(state, outcome, kRelease);
}

void PendingCall::fail(Undeliverable why) noexcept {
  error = why;
  finish(kFailed);
}

bool PendingCall::attach(Resume to_resume, void* its_context) noexcept {
  if (is_ready()) return false;
  return bundle->attach_to_call(*this, to_resume, its_context);
}

bool PendingCall::take_over(PendingCall& from) noexcept {
  if (!from.is_ready()) return from.bundle->move_call(from, this);
  error = from.error;
  const std::uint32_t outcome = load_word(from.state, kRelaxed);
  store_word(state, outcome, kRelaxed);
  return outcome == kOk;
}

void PendingCall::abandon() noexcept { (void)bundle->move_call(*this, nullptr); }

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

}  // namespace detail

using detail::PendingCall;

Status Bundle::wait_for_call(PendingCall& call, std::int64_t timeout_ns) noexcept {
  const Guard guard(*this, "Future::wait");
  if (call.is_ready()) return Status::ok;
  std::uint32_t peer = RankRecord::kNoPeer;
  for (const Endpoint* endpoint : endpoints_)
    for (const auto& map : endpoint->owned_)
      if (map->calls.replace(&call, &call)) peer = viaduct::index(map->name.rank);
  return wait_loop(Activity::waiting_message, "call", peer, Run::all, timeout_ns,
                   [&] { return call.is_ready(); });
}

bool Bundle::attach_to_call(PendingCall& call, PendingCall::Resume resume, void* context) noexcept {
  const Lock lock(*this, "Future::then");
  if (call.is_ready()) return false;
  call.resume = resume;
  call.context = context;
  store_word(call.state, load_word(call.state, kRelaxed) | PendingCall::kAttached, kRelaxed);
  for (const Endpoint* endpoint : endpoints_)
    for (const auto& map : endpoint->owned_) map->calls.hold(&call);
  return true;
}

/// @p to takes the place of @p from in the ring, and its contents. Null: the place stays empty, as
/// the future ends. Answers whether the result is there.
bool Bundle::move_call(PendingCall& from, PendingCall* to) noexcept {
  const Lock lock(*this, "Future");
  if (!from.is_ready())
    for (const Endpoint* endpoint : endpoints_)
      for (const auto& map : endpoint->owned_)
        if (map->calls.replace(&from, to)) break;
  if (to != nullptr) {
    to->bundle = from.bundle;
    to->error = from.error;
    to->resume = from.resume;
    to->context = from.context;
    store_word(to->state, load_word(from.state, kRelaxed), kRelaxed);
  }
  const bool is_there = load_word(from.state, kRelaxed) == PendingCall::kOk;
  store_word(from.state, PendingCall::kFailed, kRelaxed);
  return is_there;
}

/// Sends a call that the inline path does not send. The call is then pending in a ring, or failed.
void Endpoint::send_call(Outgoing out, PendingCall& call, std::uint32_t tag) noexcept {
  call.bundle = &bundle_;
  store_word(call.state, tag, kRelaxed);
  out.call = &call;
  switch (send_slow(out)) {
    case Status::ok:
      return;
    case Status::peer_lost:
      return call.fail(Undeliverable::unreachable);
    default:
      call.fail(value(out.to) >= maps_.size() ? Undeliverable::bad_entry
                                              : Undeliverable::bad_length);
  }
}

/// The oldest call to the peer of @p map has come back.
void Endpoint::fail_call(detail::Map& map, Undeliverable why) noexcept {
  bundle_.stirred_ = true;
  const std::uint16_t outer = bundle_.running_;
  bundle_.running_ = 0;
  ++bundle_.slow_;
  if (PendingCall* const call = map.calls.take_any()) call->fail(why);
  --bundle_.slow_;
  bundle_.running_ = outer;
}

/// The peer answers no more.
void Endpoint::fail_calls(detail::Map& map, Undeliverable why) noexcept {
  while (!map.calls.is_empty()) fail_call(map, why);
}

void Endpoint::stop_no_state(const char* wanted) const noexcept {
  violate_contract(
      errors::no_state,
      std::string("state<T>() ") +
          (state_ == nullptr
               ? "was asked for an object, but set_state() has given the endpoint none"
               : "names another type than that of the object that set_state() has given "
                 "the endpoint") +
          ": " + wanted);
}

}  // namespace viaduct::am
