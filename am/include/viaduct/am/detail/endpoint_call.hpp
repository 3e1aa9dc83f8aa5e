#pragma once
/// @file
/// Endpoint::call(): how a call is sent. The end of am/endpoint.hpp includes it.

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am {

namespace detail {

/// The client word of a call's request.
template <auto Handler>
[[nodiscard]] inline std::uint64_t call_client(Operation operation) noexcept {
  return wire_format::make(Kind::request, operation, call_handler_number<Handler>());
}

}  // namespace detail

template <auto Handler, class... A>
auto EndpointRequests::call(Index to, A&&... args) noexcept {
  static_assert(detail::kSaidElsewhere || CallHandler<Handler>, VIADUCT_CALL_TEXT);
  if constexpr (CallHandler<Handler>) {
    using R = typename detail::ValueOf<typename detail::CallOf<Handler>::Result>::type;
    return Future<R>([&](auto& future) __attribute__((always_inline)) {
      if constexpr (detail::kTakesData<Handler>)
        call_medium<Handler>(future, to, args...);
      else
        call_short<Handler>(future, to, args...);
    });
  }
}

/// As send_short(). The call is in the MAP's ring before anything is polled.
template <auto Handler, class R, class... A>
[[gnu::always_inline]] inline void EndpointRequests::call_short(Future<R>& future, Index to,
                                                                A&... args) noexcept {
  using S = typename detail::CallRegistration<Handler>::S;
  if constexpr (S::Args::kWords <= via::kWordsPerSlot && !detail::kAnswersData<Handler>) {
    if (!try_call<Handler>(future, to, args...)) [[unlikely]]
      call_when_open<Handler>(future, to, args...);
  } else {
    call_slow<Handler>(future, to, Operation::short_message, {}, args...);
  }
}

/// The short way. False: nothing has happened.
template <auto Handler, class R, class... A>
[[gnu::always_inline]] inline bool EndpointRequests::try_call(Future<R>& future, Index to,
                                                              A&... args) noexcept {
  using Sent = detail::EndpointCore::Sent;
  Bundle* const bundle = &core_.bundle;  // read once: the message might lie anywhere
  const auto [sent, map] = core_.try_send_line<typename detail::CallRegistration<Handler>::S>(
      to, core_.call_limit, detail::call_client<Handler>(Operation::short_message), args...);
  if (sent == Sent::no) [[unlikely]]
    return false;
  detail::PendingCall& call = future;
  call.bundle = bundle;
  call.state = detail::kCallTag<R>;
  map->calls.push(call);
  if (sent == Sent::and_more) [[unlikely]]
    (void)core_.finish_short(*map, to);
  return true;
}

template <auto Handler, class R, class... A>
void EndpointRequests::call_when_open(Future<R>& future, Index to, A&... args) noexcept {
  if (!core_.open_short_way(to) || !try_call<Handler>(future, to, args...))
    call_slow<Handler>(future, to, Operation::short_message, {}, args...);
}

template <auto Handler, class R, class Data, class... A>
void EndpointRequests::call_medium(Future<R>& future, Index to, Data& data, A&... args) noexcept {
  using S = typename detail::CallRegistration<Handler>::S;
  const auto given = detail::span_of(data);
  static_assert(std::is_same_v<std::remove_const_t<typename decltype(given)::element_type>,
                               std::remove_const_t<typename S::Element>>,
                "the data must be of the handler's element type");
  call_slow<Handler>(future, to, Operation::medium, std::as_bytes(given), args...);
}

// Packs for itself: the words of the fast path stay in registers.
template <auto Handler, class R, class... A>
void EndpointRequests::call_slow(Future<R>& future, Index to, Operation operation,
                                 std::span<const std::byte> data, A&... args) noexcept {
  if constexpr (detail::kAnswersData<Handler>)
    call_into<Handler>(future, to, operation, data, args...);
  else
    call_words<Handler>(future, detail::kCallTag<R>, to, operation, data, args...);
}

template <auto Handler, class T, class Room, class... A>
void EndpointRequests::call_into(Future<std::span<T>>& future, Index to, Operation operation,
                                 std::span<const std::byte> data, Room& room, A&... args) noexcept {
  const auto place = detail::span_of(room);
  static_assert(std::is_same_v<typename decltype(place)::element_type, T>,
                "the result's place must be of the handler's element type, not const");
  if (place.data() == nullptr && !place.empty()) [[unlikely]]
    return core_.refuse_room(future, place.size_bytes());
  future.data = place;
  call_words<Handler>(future, detail::PendingCall::kSpanTag, to, operation, data, args...);
}

template <auto Handler, class... A>
void EndpointRequests::call_words(detail::PendingCall& call, std::uint32_t call_tag, Index to,
                                  Operation operation, std::span<const std::byte> data,
                                  A&... args) noexcept {
  using S = typename detail::CallRegistration<Handler>::S;
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  core_.send_call({to, detail::call_client<Handler>(operation), words.data(),
                   static_cast<std::uint32_t>(words.size()),
                   static_cast<std::uint32_t>(S::Args::kBytes), data.data(), data.size(), 0, true},
                  call, call_tag);
}

template <class T>
void Endpoint::set_state(T& object) noexcept {
  core_.state = const_cast<std::remove_const_t<T>*>(&object);
  core_.state_type = &detail::kTypeTag<T>;
}

template <class T>
T& Endpoint::state() const noexcept {
  if (core_.state_type != &detail::kTypeTag<T>) [[unlikely]]
    core_.stop_no_state(__PRETTY_FUNCTION__);
  return *static_cast<T*>(core_.state);
}

template <class T>
T& Token::state() const noexcept {
  return endpoint().state<T>();
}

}  // namespace viaduct::am
