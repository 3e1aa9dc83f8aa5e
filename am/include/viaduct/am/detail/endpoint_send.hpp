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

template <auto Handler>
inline std::uint64_t Endpoint::short_client() noexcept {
  return detail::wire_format::make(detail::Kind::request, Operation::short_message,
                                   detail::handler_number<Handler>());
}

/// The short way, for indices below @p limit.
template <class S, class... A>
[[gnu::always_inline]] inline Endpoint::Sent Endpoint::try_send_line(Index to, std::size_t limit,
                                                                     std::uint64_t client,
                                                                     A... args) noexcept {
  if (bundle_.slow_ == 0 && value(to) < limit) [[likely]] {
    const detail::Map& map = *maps_[value(to)];
    via::channel::Channel* const channel = map.channel;
    if (channel != nullptr && channel->slots_sent() < map.short_until && channel->known_room() != 0)
        [[likely]] {
      VIADUCT_PART(build);
      via::Slot& slot = channel->known_slot();
      slot.put(detail::PackAs<typename S::Args>::pack(args...));
      VIADUCT_NEXT_PART(publish);
      const bool rings = channel->publish_quietly(
          slot, via::header::make(via::MessageKind::inline_data,
                                  static_cast<std::uint32_t>(S::Args::kBytes), client));
      return rings || channel->slots_sent() >= map.short_until ? Sent::and_more : Sent::yes;
    }
  }
  return Sent::no;
}

template <auto Handler, bool Wait, class... A>
inline Status Endpoint::send_short(Index to, A... args) noexcept requires ShortHandler<Handler> {
  using S = detail::SignatureOf<Handler>;
  if constexpr (S::Args::kWords <= via::kWordsPerSlot) {
    const Sent sent = try_send_line<S>(to, maps_.size(), short_client<Handler>(), args...);
    if (sent == Sent::yes) [[likely]]
      return Status::ok;
    if (sent == Sent::and_more) return finish_short(to);
  }
  return send_short_slow<Handler, Wait>(to, args...);
}

// Packs for itself: the words of the fast path stay in registers.
template <auto Handler, bool Wait, class... A>
Status Endpoint::send_short_slow(Index to, A... args) noexcept {
  using S = detail::SignatureOf<Handler>;
  if constexpr (S::Args::kWords <= via::kWordsPerSlot) {
    if (open_short_way(to)) {
      const Sent sent = try_send_line<S>(to, maps_.size(), short_client<Handler>(), args...);
      if (sent != Sent::no) return sent == Sent::yes ? Status::ok : finish_short(to);
    }
  }
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  return send_slow({to, short_client<Handler>(), words.data(),
                    static_cast<std::uint32_t>(words.size()),
                    static_cast<std::uint32_t>(S::Args::kBytes), nullptr, 0, 0, Wait});
}

template <auto Handler, Operation Op, class T, class... A>
inline Status Endpoint::send_data(Index to, std::span<T> data, std::size_t offset, bool wait,
                                  A... args) noexcept
    requires(Op == Operation::medium ? MediumHandler<Handler> : BulkHandler<Handler>) {
  using S = detail::SignatureOf<Handler>;
  static_assert(std::is_same_v<std::remove_const_t<T>, std::remove_const_t<typename S::Element>>,
                "the data must be of the handler's element type");
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  const std::uint64_t client =
      detail::wire_format::make(detail::Kind::request, Op, detail::handler_number<Handler>());
  const auto bytes = std::as_bytes(data);
  return send_slow({to, client, words.data(), static_cast<std::uint32_t>(words.size()),
                    static_cast<std::uint32_t>(S::Args::kBytes), bytes.data(), bytes.size(), offset,
                    wait});
}

template <auto Handler, class T, class... A>
inline Status Endpoint::get_data(Index from, std::span<T> data, std::size_t offset, bool wait,
                                 A... args) noexcept requires BulkHandler<Handler> {
  using S = detail::SignatureOf<Handler>;
  static_assert(!std::is_const_v<T>, "get fills its data: they must not be const");
  static_assert(std::is_same_v<T, typename S::Element> || std::is_const_v<T>,
                "the data must be of the handler's element type");
  const auto words = detail::PackAs<typename S::Args>::pack(args...);
  return get_slow(from, std::as_writable_bytes(data), offset, detail::handler_number<Handler>(),
                  words.data(), S::Args::kBytes, wait);
}

}  // namespace viaduct::am
