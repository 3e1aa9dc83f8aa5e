#pragma once
/// @file
/// What an endpoint consists of, apart from its interface.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/detail/call.hpp"
#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/detail/segment.hpp"
#include "viaduct/am/detail/table.hpp"
#include "viaduct/am/handler.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::am::detail {

/// Everything there is to know about a message to send.
struct Outgoing {
  Index to;
  std::uint64_t client;
  const std::uint64_t* words;  // arguments
  std::uint32_t count;
  std::uint32_t arg_bytes;
  const std::byte* data;
  std::size_t bytes;
  std::size_t offset;  // bulk: in the peer's segment
  bool wait;
  PendingCall* call = nullptr;  // that it is the request of
};

/// A get whose data are here and whose handler is to run.
struct ArrivedGet {
  std::uint64_t client;
  std::uint32_t arg_bytes;
  std::span<std::byte> data;
  Map* map;
  std::uint64_t words[kMaxMessageWords];
};

/// The handlers of an endpoint by number, and which messages each one takes.
struct HandlerTable {
  std::vector<Thunk> thunks;
  std::vector<std::optional<Takes>> takes;  // as thunks; empty: every message

  /// Whether the handler with number @p id, which there is, takes such a message.
  [[nodiscard]] bool accepts(std::uint16_t id, Takes message) const noexcept {
    return !takes[id] || *takes[id] == message;
  }
};

/// The block in this rank's window for one medium reply that does not fit its ring.
struct OverflowPlace {
  OverflowBlock* block = nullptr;
  EndpointName user;  // the endpoint that is to clear the block

  /// The reply for @p name, if the block holds one, will not be taken.
  void take_back_from(EndpointName name) noexcept {
    if (block != nullptr && user.rank == name.rank && user.number == name.number)
      block->take_back();
  }
};

/// An endpoint, for the sources of this layer. EndpointRequests and Endpoint are its interface. The
/// core sends packed messages, and holds the state that MAPs, the bundle's dispatcher and tokens
/// use.
struct EndpointCore {
  EndpointCore(Endpoint& its_endpoint, Bundle& its_bundle, Tag its_tag, std::int32_t its_number);
  ~EndpointCore();
  EndpointCore(const EndpointCore&) = delete;
  EndpointCore& operator=(const EndpointCore&) = delete;

  /// @return the core of @p endpoint.
  [[nodiscard]] static EndpointCore& of(Endpoint& endpoint) noexcept;
  [[nodiscard]] Dispatcher& dispatcher() const noexcept { return bundle.dispatcher_; }
  [[nodiscard]] Context& context() const noexcept { return bundle.context(); }
  [[nodiscard]] EndpointName name() const noexcept;
  /// @return whether messages are accepted from a sender that names @p presented.
  [[nodiscard]] bool hears(Tag presented) const noexcept { return detail::hears(tag, presented); }

  /// The table gets @p count entries, if it has fewer.  Throws Error beyond 65536.
  void grow_table(std::uint32_t count);

  /// Ends all connections, and refuses new ones. Peers' requests that were not handled go back. In
  /// a handler of the endpoint's bundle only where the handler does not return.
  void disconnect() noexcept;

  enum class Sent : std::uint8_t { no, yes, and_more };  // and_more: finish_short() is to follow
  struct Attempt {
    Sent sent;
    Map* map;  // that the message has taken
  };
  /// The short way, for indices below @p limit.
  template <class S, class... A>
  [[nodiscard, gnu::always_inline]] Attempt try_send_line(Index to, std::size_t limit,
                                                          std::uint64_t client,
                                                          A... args) noexcept {
    if (dispatcher().slow == 0 && value(to) < limit) [[likely]] {
      Map& map = table.map_of(to);
      via::channel::Channel* const channel = map.channel;
      if (channel != nullptr && channel->slots_sent() < map.short_until &&
          channel->known_room() != 0) [[likely]] {
        VIADUCT_PART(build);
        via::Slot& slot = channel->known_slot();
        slot.put(PackAs<typename S::Args>::pack(args...));
        VIADUCT_NEXT_PART(publish);
        const bool rings = channel->publish_quietly(
            slot, via::header::make(via::MessageKind::inline_data,
                                    static_cast<std::uint32_t>(S::Args::kBytes), client));
        const bool more = rings || channel->slots_sent() >= map.short_until;
        return {more ? Sent::and_more : Sent::yes, &map};
      }
    }
    return {Sent::no, nullptr};
  }
  [[gnu::noinline]] Status finish_short(const Map& map, Index to) noexcept;
  [[gnu::noinline]] Status finish_last_short(const Map& map, Index to) noexcept;
  [[nodiscard, gnu::noinline]] bool open_short_way(Index to) noexcept;
  void renew_short_way(Index to) noexcept;
  void poll_between(Index to) noexcept;

  [[gnu::noinline]] Status send_slow(const Outgoing& out) noexcept;
  Status send_shared(const Outgoing& out) noexcept;  // of a parallel bundle
  Status send_after_polls(const Outgoing& out) noexcept;
  [[gnu::noinline]] Status send_long(const Outgoing& out) noexcept;
  /// A call whose room for the result is null fails.
  [[gnu::cold, gnu::noinline]] void refuse_room(PendingCall& call, std::size_t bytes) noexcept;
  [[gnu::cold, gnu::noinline]] void send_call(Outgoing out, PendingCall& call,
                                              std::uint32_t call_tag) noexcept;
  Status get_slow(Index from, std::span<std::byte> data, std::size_t offset, std::uint16_t handler,
                  const std::uint64_t* words, std::uint32_t arg_bytes, bool wait) noexcept;
  std::uint32_t hand_over_gets() noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void stop_no_state(const char* wanted) const noexcept;

  // Hot.
  Bundle& bundle;
  void* state = nullptr;
  const void* state_type = nullptr;
  // Indices that calls take the inline path to: all; none where credits outnumber a CallRing.
  std::uint32_t call_limit = 0;
  TranslationTable table;
  // Cool.
  Endpoint& endpoint;  // that this is the core of
  std::uint16_t number = 0;
  Tag tag;
  std::uint32_t max_medium = 0;
  via::channel::Flow flow;
  Bundle::Run wait_run = Bundle::Run::all;
  HandlerTable handlers;
  UndeliverableHandler undeliverable;
  Segment segment;
  OverflowPlace overflow;
  std::vector<ArrivedGet> arrived;
  /// 1: another thread ends the endpoint. Calls that may wait answer Status::bad_state.
  AtomicWord<std::uint32_t> ends_waits = 0;
};

/// The core of the endpoint that @p map belongs to.
[[nodiscard]] inline EndpointCore& core_of(const Map& map) noexcept {
  return EndpointCore::of(*map.endpoint);
}

}  // namespace viaduct::am::detail
