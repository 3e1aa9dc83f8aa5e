#pragma once
/// @file
/// Typed handlers: what a handler's signature says about its message, and how arguments travel.
///
///     void on_ping(am::Token& token, int x);                                   // short
///     void on_block(am::Token& token, std::span<const double> data, int row);  // medium
///     void on_arrived(am::Token& token, std::span<std::byte> where, int row);  // bulk, get
///
/// A medium handler's data are in the receive buffer, a bulk or get handler's in the segment.
/// Handlers of calls return their result; the others return nothing (am/future.hpp).
///
/// Errors      A function of another shape, and arguments that do not fit, do not compile: the
///             compiler says what a handler looks like. An exception that leaves a handler ends the
///             rank (std::terminate, signal 6), since polls are noexcept: catch it in the handler.
///
/// Arguments are trivially copyable values, at most 16 and 128 bytes packed; each lies at its
/// natural alignment (at most 8) behind the one before. Short: up to 56 bytes travel in one cache
/// line (14 of 4 bytes, 7 of 8), more in two or three. Medium messages have 48 bytes, bulk and get
/// 40, in the first line.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "viaduct/am/registry.hpp"
#include "viaduct/am/types.hpp"

namespace viaduct::am {

/// An arrived message as a thunk sees it.
struct Arrival {
  const std::byte* args = nullptr;
  std::size_t arg_bytes = 0;
  /// Medium: the receive buffer, 16-byte aligned; bulk, get: in the segment.
  std::byte* data = nullptr;
  std::size_t data_bytes = 0;
};

namespace detail {

template <std::size_t Bytes>
using UnsignedOf = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// Where arguments lie, one behind the other.
template <std::size_t Count>
struct Layout {
  std::array<std::size_t, Count + 1> at{};
  std::size_t bytes = 0;
};
template <class... A>
[[nodiscard]] constexpr Layout<sizeof...(A)> layout_of() noexcept {
  Layout<sizeof...(A)> layout;
  std::size_t i = 0;
  [[maybe_unused]] const auto place = [&](std::size_t size, std::size_t alignment) {
    const std::size_t a = alignment < 8 ? alignment : 8;
    layout.bytes = (layout.bytes + a - 1) / a * a;
    layout.at[i++] = layout.bytes;
    layout.bytes += size;
  };
  (place(sizeof(A), alignof(A)), ...);
  return layout;
}

template <class... A>
struct Packing {
  static_assert((std::is_trivially_copyable_v<A> && ...),
                "arguments of messages must be trivially copyable");
  static_assert(sizeof...(A) <= kMaxArgs, "a message carries at most 16 arguments");
  static constexpr std::size_t kCount = sizeof...(A);

  static constexpr Layout<kCount> kLayout = layout_of<A...>();
  static constexpr std::size_t kBytes = kLayout.bytes;
  static constexpr std::size_t kWords = (kBytes + 7) / 8;
  static_assert(kBytes <= kMaxArgBytes, "a message carries at most 128 bytes of arguments");

  /// The words of the arguments, unused bytes zero. Arguments of 1, 2, 4 and 8 bytes are put
  /// together in registers. A word written to memory in parts could be read back only when the
  /// stores before it, of the last message, are done.
  static std::array<std::uint64_t, kWords> pack(const A&... args) noexcept {
    std::array<std::uint64_t, kWords> words{};
    [&]<std::size_t... I>(std::index_sequence<I...>) { (put<kLayout.at[I]>(words, args), ...); }
    (std::index_sequence_for<A...>{});
    return words;
  }
  template <std::size_t At, class T>
  static void put(std::array<std::uint64_t, kWords>& words, const T& value) noexcept {
    if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
      if constexpr (At % 8 + sizeof(T) <= 8) {
        UnsignedOf<sizeof(T)> bits;
        std::memcpy(&bits, &value, sizeof(T));
        words[At / 8] |= static_cast<std::uint64_t>(bits) << (At % 8 * 8);
        return;
      }
    }
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + At, &value, sizeof(T));
  }
  template <std::size_t I>
  static auto get(const std::byte* from) noexcept {
    using T = std::tuple_element_t<I, std::tuple<A...>>;
    if constexpr (std::is_default_constructible_v<T>) {
      T value;
      std::memcpy(&value, from + kLayout.at[I], sizeof(value));
      return value;
    } else {
      std::array<std::byte, sizeof(T)> bytes;
      std::memcpy(bytes.data(), from + kLayout.at[I], sizeof(T));
      return std::bit_cast<T>(bytes);
    }
  }
};

/// The signature of a type that is no handler: one assertion fails. The other members only keep the
/// compiler from reporting more.
template <class Function>
struct Signature {
  static_assert(
      !std::is_same_v<Function, Function>,
      "a handler is a function void f(viaduct::am::Token&, ...): it returns nothing, "
      "takes its token by reference, and is no object or member function, nor a lambda that "
      "captures");
  using Args = Packing<>;
  using Element = std::byte;
  static constexpr Operation kOperation = Operation::short_message;
  template <auto Handler>
  static void thunk(Token&, const Arrival&) {}
};

template <class... A>
struct Signature<void (*)(Token&, A...)> {
  using Args = Packing<std::remove_cvref_t<A>...>;
  static constexpr Operation kOperation = Operation::short_message;
  template <auto Handler>
  static void thunk(Token& token, const Arrival& arrival) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      Handler(token, Args::template get<I>(arrival.args)...);
    }
    (std::index_sequence_for<A...>{});
  }
};

template <class T, class... A>
struct Signature<void (*)(Token&, std::span<T>, A...)> {
  using Args = Packing<std::remove_cvref_t<A>...>;
  using Element = T;
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16,
                "data of messages must be trivially copyable");
  static constexpr Operation kOperation = std::is_const_v<T> ? Operation::medium : Operation::bulk;
  template <auto Handler>
  static void thunk(Token& token, const Arrival& arrival) {
    const std::span<T> data(reinterpret_cast<T*>(arrival.data), arrival.data_bytes / sizeof(T));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      Handler(token, data, Args::template get<I>(arrival.args)...);
    }
    (std::index_sequence_for<A...>{});
  }
};

template <class... A>
struct Signature<void (*)(Token&, A...) noexcept> : Signature<void (*)(Token&, A...)> {};
template <class T, class... A>
struct Signature<void (*)(Token&, std::span<T>, A...) noexcept>
    : Signature<void (*)(Token&, std::span<T>, A...)> {};

/// The function of a handler: its own address, or that which a lambda without captures converts to.
template <auto Handler>
[[nodiscard]] constexpr auto function_of() noexcept {
  if constexpr (requires { +Handler; })
    return +Handler;
  else
    return Handler;
}

template <auto Handler>
using SignatureOf = Signature<decltype(function_of<Handler>())>;

/// A container's or array's elements, however many.
template <class Data>
[[nodiscard]] constexpr auto span_of(Data&& data) noexcept {
  return std::span<std::remove_pointer_t<decltype(std::data(data))>>(std::data(data),
                                                                     std::size(data));
}

/// The kind of message that handlers of a type are for. call: the handler returns something.
enum class Shape : std::uint8_t { none, short_message, medium, bulk, call, medium_call };
/// Whether arguments may travel.
template <class... A>
[[nodiscard]] constexpr bool may_travel() noexcept {
  if constexpr (sizeof...(A) <= kMaxArgs && (std::is_trivially_copyable_v<A> && ...))
    return layout_of<A...>().bytes <= kMaxArgBytes;
  else
    return false;
}
template <class T>
inline constexpr bool kMayBeData = std::is_trivially_copyable_v<T> && alignof(T) <= 16;
template <class R>
[[nodiscard]] constexpr bool may_be_result() noexcept {
  if constexpr (std::is_void_v<R>)
    return true;
  else if constexpr (std::is_trivially_copyable_v<R> && sizeof(R) <= kMaxArgBytes)
    return true;
  else
    return requires(const R& r) { std::span(std::data(r), std::size(r)); };
}
template <class F>
inline constexpr Shape kShape = Shape::none;
template <class R, class... A>
inline constexpr Shape kShape<R (*)(Token&, A...)> =
    !may_travel<std::remove_cvref_t<A>...>() || !may_be_result<R>() ? Shape::none
    : std::is_void_v<R>                                             ? Shape::short_message
                                                                    : Shape::call;
template <class R, class T, class... A>
inline constexpr Shape kShape<R (*)(Token&, std::span<T>, A...)> =
    !may_travel<std::remove_cvref_t<A>...>() || !may_be_result<R>() || !kMayBeData<T> ? Shape::none
    : !std::is_void_v<R> ? (std::is_const_v<T> ? Shape::medium_call : Shape::none)
    : std::is_const_v<T> ? Shape::medium
                         : Shape::bulk;
template <class R, class... A>
inline constexpr Shape kShape<R (*)(Token&, A...) noexcept> = kShape<R (*)(Token&, A...)>;
template <auto Handler>
inline constexpr Shape kShapeOf = kShape<decltype(function_of<Handler>())>;

/// Converts the caller's arguments to the handler's types and packs them.
template <class Packing>
struct PackAs;
template <class... A>
struct PackAs<Packing<A...>> {
  template <class... Given>
  static auto pack(Given&&... given) noexcept {
    static_assert(sizeof...(Given) == sizeof...(A),
                  "a message's arguments must be those of its handler");
    static_assert((std::is_convertible_v<Given, A> && ...),
                  "a message's arguments must be those of its handler");
    return Packing<A...>::pack(static_cast<A>(std::forward<Given>(given))...);
  }
};

/// "... [with auto Handler = on_ping]" of g++, "... [Handler = &on_ping]" of clang.
template <auto Handler>
constexpr const char* pretty_name() noexcept {
  return __PRETTY_FUNCTION__;
}

/// The handler's name as messages have it: "on_ping".
template <auto Handler>
inline constexpr auto kName = [] {
  constexpr std::string_view kText = [] {
    constexpr std::string_view kMark = "Handler = ";
    std::string_view text = pretty_name<Handler>();
    text.remove_suffix(text.size() - text.rfind(']'));
    text.remove_prefix(text.find(kMark) + kMark.size());
    if (text.front() == '&') text.remove_prefix(1);
    return text;
  }();
  std::array<char, kText.size() + 1> name{};
  for (std::size_t i = 0; i < kText.size(); ++i) name[i] = kText[i];
  return name;
}();

/// One for each typed handler that some code names: registers the handler before main and holds the
/// number that the ranks have agreed on. @p Target runs: the handler, or for a call the function
/// that answers with its result.
template <auto Handler, auto Target = Handler, bool Answers = false>
struct Registration {
  using S = SignatureOf<Target>;
  inline static std::uint16_t handler_number = 0;
  inline static const bool registered = [] {
    HandlerEntry entry;
    entry.function = reinterpret_cast<const void*>(function_of<Target>());
    entry.thunk = &S::template thunk<Target>;
    entry.name = kName<Handler>.data();
    entry.signature_bytes = static_cast<std::uint32_t>(S::Args::kBytes);
    entry.handler_number = &handler_number;
    entry.operation = S::kOperation;
    entry.answers = Answers;
    register_handler(entry);
    return true;
  }();
};

template <class Registered>
[[nodiscard]] inline std::uint16_t number_of() noexcept {
  static_assert(sizeof(Registered::registered) != 0);
  (void)&Registered::registered;  // instantiates the registrar
  return Registered::handler_number;
}
template <auto Handler>
[[nodiscard]] inline std::uint16_t handler_number() noexcept {
  return number_of<Registration<Handler>>();
}

/// The compiler says what a handler looks like at the call, in one error: clang by the attribute
/// diagnose_if, others by an assertion, which clang would add to it.
#ifdef __clang__
inline constexpr bool kSaidElsewhere = true;
#else
inline constexpr bool kSaidElsewhere = false;
#endif

}  // namespace detail

/// The handlers that each kind of message takes: functions, and lambdas that capture nothing.
template <auto Handler>
concept ShortHandler = detail::kShapeOf<Handler>
== detail::Shape::short_message;
template <auto Handler>
concept MediumHandler = detail::kShapeOf<Handler>
== detail::Shape::medium;
template <auto Handler>
concept BulkHandler = detail::kShapeOf<Handler>
== detail::Shape::bulk;
template <auto Handler>
concept CallHandler = ShortHandler<Handler> || MediumHandler<Handler> || detail::kShapeOf<Handler>
== detail::Shape::call || detail::kShapeOf<Handler> == detail::Shape::medium_call;

#define VIADUCT_HANDLER_TEXT                                                                       \
  "a handler is a function void f(viaduct::am::Token&, ...): it returns nothing, takes its token " \
  "by reference, and is no object or member function, nor a lambda that captures; its arguments "  \
  "must be trivially copyable, at most 16 and at most 128 bytes of arguments; "
#define VIADUCT_SHORT_TEXT                                                  \
  VIADUCT_HANDLER_TEXT                                                      \
  "use request_medium, request_bulk or get for this handler if it takes a " \
  "span"
#define VIADUCT_MEDIUM_TEXT \
  VIADUCT_HANDLER_TEXT      \
  "a medium handler takes std::span<const T> after its token, a bulk handler std::span<T>"
#define VIADUCT_CALL_TEXT                                                                         \
  "a handler of calls is a function R f(viaduct::am::Token&, ...) or a lambda that captures "     \
  "nothing; it may take a std::span<const T> after its token; R is void, trivially copyable of "  \
  "at "                                                                                           \
  "most 128 bytes, or a container or span; the arguments must be trivially copyable, at most 16 " \
  "and at most 128 bytes of arguments"
}  // namespace viaduct::am
