#pragma once
/// @file
/// Typed handlers of Active Messages for arriving messages, one for each number of arguments and
/// kind of message. Each calls the handler of AM-2 whose number is its first argument.

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/c/src/library.hpp"
#include "viaduct/am/token.hpp"

namespace viaduct::am::c {

/// A handler of AM-2 runs for @p token. Where handlers run inside another one's call, that call
/// keeps `current` (class Nested).
class Running {
 public:
  Running(Token& token, Port& port) noexcept {
    current = &token;
    port.tell_event();
  }
  ~Running() { current = nullptr; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

[[nodiscard]] inline Port& port_of(const Token& token) noexcept {
  return static_cast<Port&>(token.endpoint());
}

/// The first argument of every message: the handler's number, together with the first int where
/// there is one, so that a message of sixteen ints has sixteen arguments.
struct NoArgument {
  static constexpr std::size_t kArguments = 0;
  std::uint32_t handler;
  template <class Body>
  void pass(Body body) const {
    body();
  }
};
struct FirstArgument {
  static constexpr std::size_t kArguments = 1;
  std::uint32_t handler;
  int argument;
  template <class Body>
  void pass(Body body) const {
    body(argument);
  }
};

/// Rest...: as many ints as the message has further arguments. Data lengths are handed over as 64
/// bits: handlers that take them as an int read the lower half.
template <class Head, class... Rest>
struct Messages {
  using Args = detail::Packing<Head, Rest...>;

  static constexpr auto kArguments = static_cast<std::uint8_t>(Head::kArguments + sizeof...(Rest));

  static void on_short(Token& token, Head head, Rest... rest) {
    Port& port = port_of(token);
    const AM_Handler f = port.handler(head.handler);
    if (f == nullptr) [[unlikely]]
      return on_short_slow(token, head, rest...);
    call_short(f, token, port, head, rest...);
  }
  static void on_medium(Token& token, std::span<const std::byte> data, Head head, Rest... rest) {
    Port& port = port_of(token);
    const AM_Handler f = port.handler(head.handler);
    if (f == nullptr) [[unlikely]]
      return on_data_slow(token, const_cast<std::byte*>(data.data()), data.size(), 0, head,
                          rest...);
    call(f, token, port, const_cast<std::byte*>(data.data()), data.size(), head, rest...);
  }
  static void on_bulk(Token& token, std::span<std::byte> data, Head head, Rest... rest) {
    Port& port = port_of(token);
    const AM_Handler f = port.handler(head.handler);
    if (f != nullptr) [[likely]]
      return call(f, token, port, data.data(), data.size(), head, rest...);
    const auto offset = static_cast<std::size_t>(data.data() - port.segment().data());
    on_data_slow(token, data.data(), data.size(), offset, head, rest...);
  }
  static void on_get(Token& token, std::span<std::byte> data, Head head, Rest... rest) {
    Port& port = port_of(token);
    const AM_Handler f = port.handler(head.handler);
    if (f != nullptr) [[likely]]
      return call(f, token, port, data.data(), data.size(), head, rest...);
    const Found found = find_declared(port, head, true);
    if (found.handler != nullptr)
      return call(found.handler, token, port, data.data(), data.size(), head, rest...);
    const auto words = Args::pack(head, rest...);
    port.returned(returned(found.why_not, Operation::get, token.source(), token.source_rank(),
                           words.data(), data.size(), 0));
  }

  /// A request that came back.
  [[nodiscard]] static Returned returned(Undeliverable why, Operation operation, Index peer,
                                         Rank rank, const std::uint64_t* words, std::size_t bytes,
                                         std::size_t offset) noexcept {
    Returned r;
    r.status = why;
    r.operation = operation;
    r.peer = peer;
    r.rank = rank;
    r.args = reinterpret_cast<const std::byte*>(words);
    r.arg_bytes = static_cast<std::uint32_t>(Args::kBytes);
    r.data_bytes = bytes;
    r.offset = offset;
    return r;
  }

 private:
  /// A handler with declared arguments, or why it does not take the message.
  struct Found {
    AM_Handler handler;
    Undeliverable why_not;
  };
  [[nodiscard, gnu::cold, gnu::noinline]] static Found find_declared(const Port& port, Head head,
                                                                     bool has_data) noexcept {
    const AM_Handler f = port.declared(head.handler);
    if (f == nullptr) return {nullptr, Undeliverable::bad_handler};
    if (!port.takes_shape(head.handler, {kArguments, has_data}))
      return {nullptr, Undeliverable::bad_arguments};
    return {f, Undeliverable::none};
  }
  [[gnu::cold, gnu::noinline]] static void on_short_slow(Token& token, Head head, Rest... rest) {
    Port& port = port_of(token);
    const Found found = find_declared(port, head, false);
    if (found.handler != nullptr) return call_short(found.handler, token, port, head, rest...);
    send_back(found.why_not, token, 0, 0, head, rest...);
  }
  [[gnu::cold, gnu::noinline]] static void on_data_slow(Token& token, std::byte* data,
                                                        std::size_t bytes, std::size_t offset,
                                                        Head head, Rest... rest) {
    Port& port = port_of(token);
    const Found found = find_declared(port, head, true);
    if (found.handler != nullptr)
      return call(found.handler, token, port, data, bytes, head, rest...);
    send_back(found.why_not, token, bytes, offset, head, rest...);
  }
  static void call_short(AM_Handler f, Token& token, Port& port, Head head, Rest... rest) noexcept {
    const Running running(token, port);
    head.pass([&](auto... first) {
      reinterpret_cast<void (*)(void*, decltype(first)..., Rest...)>(f)(&token, first..., rest...);
    });
  }
  static void call(AM_Handler f, Token& token, Port& port, std::byte* data, std::size_t bytes,
                   Head head, Rest... rest) {
    const Running running(token, port);
    head.pass([&](auto... first) {
      reinterpret_cast<void (*)(void*, void*, std::size_t, decltype(first)..., Rest...)>(f)(
          &token, data, bytes, first..., rest...);
    });
  }
  static void send_back(Undeliverable why, Token& token, std::size_t bytes, std::size_t offset,
                        Head head, Rest... rest) noexcept {
    const auto words = Args::pack(head, rest...);
    token.send_back(why, words, Args::kBytes, bytes, offset);
  }
};

/// Calls @p body as body<Messages<...>>(head, rest...) for a message to @p handler.
template <class Body>
inline auto pack(handler_t handler, Body body) noexcept {
  return body.template operator()<Messages<NoArgument>>(
      NoArgument{static_cast<std::uint32_t>(handler)});
}
template <class Body, class... Rest>
inline auto pack(handler_t handler, Body body, int first, Rest... rest) noexcept {
  return body.template operator()<Messages<FirstArgument, Rest...>>(
      FirstArgument{static_cast<std::uint32_t>(handler), first}, rest...);
}

}  // namespace viaduct::am::c
