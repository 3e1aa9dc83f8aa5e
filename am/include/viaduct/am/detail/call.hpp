#pragma once
/// @file
/// The two handlers of a call: one that runs the user's function and replies with its value, and
/// one that puts the value into the caller's future.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/detail/pending_call.hpp"
#include "viaduct/am/future.hpp"
#include "viaduct/am/handler.hpp"
#include "viaduct/am/token.hpp"

namespace viaduct::am::detail {

/// To the calls of the MAP that a message has come by.
struct CallAccess {
  [[nodiscard]] static CallRing& calls(Token& token) noexcept { return token.map_.calls; }
  [[nodiscard, gnu::cold, gnu::noinline]] static PendingCall* take_slowly(
      Token& token, std::uint32_t tag) noexcept;
};

// At the caller: reply handlers.

/// A function of its own, so that take_answer() needs no stack.
template <class R>
[[gnu::cold, gnu::noinline]] void take_answer_slowly(Token& token, R value) {
  PendingCall* const call = CallAccess::take_slowly(token, kCallTag<R>);
  if (call == nullptr) return;
  static_cast<Answer<R>*>(call)->put(value);
  call->finish(PendingCall::kOk);
}
template <class R>
void take_answer(Token& token, R value) {
  PendingCall* const call = CallAccess::calls(token).template take<sizeof(R)>(kCallTag<R>);
  if (call == nullptr) [[unlikely]]
    return take_answer_slowly(token, value);
  static_cast<Answer<R>*>(call)->put(value);
  store_word(call->state, PendingCall::kOk, kRelease);
}
inline void take_no_value(Token& token) {
  if (PendingCall* const call = CallAccess::take_slowly(token, kCallTag<void>))
    call->finish(PendingCall::kOk);
}
template <class T>
void take_data(Token& token, std::span<const T> data) {
  PendingCall* const call = CallAccess::take_slowly(token, PendingCall::kSpanTag);
  if (call == nullptr) return;
  std::span<T>& room = static_cast<Answer<std::span<T>>*>(call)->data;
  if (data.size() > room.size()) return call->fail(Undeliverable::bad_length);
  if (!data.empty()) std::memcpy(room.data(), data.data(), data.size_bytes());
  room = room.first(data.size());
  call->finish(PendingCall::kOk);
}
/// The handler has run, and its value cannot be sent.
void take_failure(Token& token, std::uint8_t why);

// At the owner: request handlers.

/// A result with data of any length: a type that has data() and size() and is no array of fixed
/// size that travels as a value.
template <class R>
concept DataResult = requires(const R& r) {
  std::data(r);
  std::size(r);
}
&&(!requires { std::tuple_size<R>::value; } || sizeof(R) > kMaxArgBytes);

template <class R>
void answer(Token& token, const R& value) {
  if constexpr (DataResult<R>) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(std::data(value))>>;
    const std::span<const T> data(std::data(value), std::size(value));
    if (token.reply_medium<&take_data<T>>(data) == Status::bad_argument)
      token.reply<&take_failure>(static_cast<std::uint8_t>(Undeliverable::bad_length));
  } else {
    token.reply<&take_answer<R>>(value);
  }
}

template <auto Handler, class R, class... A>
void run_call(Token& token, A... args) {
  if constexpr (std::is_void_v<R>) {
    Handler(token, args...);
    token.reply<&take_no_value>();
  } else {
    answer<R>(token, Handler(token, args...));
  }
}

/// The parts of the signature of a call's handler.
template <class Function>
struct CallSignature;
template <class R, class... A>
struct CallSignature<R (*)(Token&, A...)> {
  using Result = R;
  using Request = void (*)(Token&, A...);
  template <auto Handler>
  static constexpr Request kRequest = &run_call<Handler, R, A...>;
};
template <class R, class... A>
struct CallSignature<R (*)(Token&, A...) noexcept> : CallSignature<R (*)(Token&, A...)> {};
template <auto Handler>
using CallOf = CallSignature<decltype(function_of<Handler>())>;

/// The result as the caller has it: data of any length are a span into its memory.
template <class R>
struct ValueOf {
  using type = R;
};
template <DataResult R>
struct ValueOf<R> {
  using type = std::span<
      std::remove_const_t<std::remove_pointer_t<decltype(std::data(std::declval<const R&>()))>>>;
};

template <auto Handler>
inline constexpr bool kAnswersData = DataResult<typename CallOf<Handler>::Result>;
template <auto Handler>
inline constexpr bool kTakesData =
    kShapeOf<Handler> == Shape::medium || kShapeOf<Handler> == Shape::medium_call;

/// Registers the handler of a call, under another number than the same function as a plain handler.
template <auto Handler>
using CallRegistration = Registration<Handler, CallOf<Handler>::template kRequest<Handler>, true>;

template <auto Handler>
[[nodiscard]] inline std::uint16_t call_handler_number() noexcept {
  return number_of<CallRegistration<Handler>>();
}

/// The address of a type's tag stands for the type.
template <class T>
inline constexpr char kTypeTag = 0;

}  // namespace viaduct::am::detail
