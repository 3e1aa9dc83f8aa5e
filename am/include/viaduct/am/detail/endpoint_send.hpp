#pragma once
/// @file
/// Endpoint::request(), request_medium(), request_bulk() and get(): how their arguments are packed,
/// and the inline way of a short request. The end of am/endpoint.hpp includes it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am {

namespace detail {

/// The client word of a request for @p Handler.
template <auto Handler>
[[nodiscard]] inline std::uint64_t request_client(Operation operation) noexcept {
  return wire_format::make(Kind::request, operation, handler_number<Handler>());
}

}  // namespace detail

template <auto Handler, bool Wait, class... A>
inline Status EndpointRequests::send_short(Index to,
                                           A... args) noexcept requires ShortHandler<Handler> {
  using S = detail::SignatureOf<Handler>;
  if constexpr (S::Args::kWords <= via::kWordsPerSlot) {
    using Sent = detail::EndpointCore::Sent;
    const auto [sent, map] = core_.try_send_line<S>(
        to, core_.table.size(), detail::request_client<Handler>(Operation::short_message), args...);
    if (sent == Sent::yes) [[likely]]
      return Status::ok;
    if (sent == Sent::and_more) return core_.finish_short(*map, to);
  }
  return send_short_slow<Handler, Wait>(to, args...);
}

// Packs for itself: the words of the fast path stay in registers.
template <auto Handler, bool Wait, class... A>
Status EndpointRequests::send_short_slow(Index to, A... args) noexcept {
  using S = detail::SignatureOf<Handler>;
  if constexpr (S::Args::kWords <= via::kWordsPerSlot) {
    using Sent = detail::EndpointCore::Sent;
    if (core_.open_short_way(to)) {
      const auto [sent, map] = core_.try_send_line<S>(
          to, core_.table.size(), detail::request_client<Handler>(Operation::short_message),
          args...);
      if (sent != Sent::no) return sent == Sent::yes ? Status::ok : core_.finish_short(*map, to);
    }
  }
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  return core_.send_slow({to, detail::request_client<Handler>(Operation::short_message),
                          words.data(), static_cast<std::uint32_t>(words.size()),
                          static_cast<std::uint32_t>(S::Args::kBytes), nullptr, 0, 0, Wait});
}

template <auto Handler, Operation Op, class T, class... A>
inline Status EndpointRequests::send_data(Index to, std::span<T> data, std::size_t offset,
                                          bool wait, A... args) noexcept
    requires(Op == Operation::medium ? MediumHandler<Handler> : BulkHandler<Handler>) {
  using S = detail::SignatureOf<Handler>;
  static_assert(std::is_same_v<std::remove_const_t<T>, std::remove_const_t<typename S::Element>>,
                "the data must be of the handler's element type");
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  const std::uint64_t client = detail::request_client<Handler>(Op);
  const auto bytes = std::as_bytes(data);
  return core_.send_slow({to, client, words.data(), static_cast<std::uint32_t>(words.size()),
                          static_cast<std::uint32_t>(S::Args::kBytes), bytes.data(), bytes.size(),
                          offset, wait});
}

template <auto Handler, class T, class... A>
inline Status EndpointRequests::get_data(Index from, std::span<T> data, std::size_t offset,
                                         bool wait,
                                         A... args) noexcept requires BulkHandler<Handler> {
  using S = detail::SignatureOf<Handler>;
  static_assert(!std::is_const_v<T>, "get fills its data: they must not be const");
  static_assert(std::is_same_v<T, typename S::Element> || std::is_const_v<T>,
                "the data must be of the handler's element type");
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  return core_.get_slow(from, std::as_writable_bytes(data), offset,
                        detail::handler_number<Handler>(), words.data(), S::Args::kBytes, wait);
}

}  // namespace viaduct::am
