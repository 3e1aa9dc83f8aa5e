#pragma once
/// @file
/// The short paths of AM_RequestM and AM_ReplyM, for one slot on a connection with known credit and
/// room, when nothing else is to be done. A short path calls no other function, so that it saves no
/// registers. The short path sends the message or does nothing; where it does nothing, the long
/// path does the whole call (docs/am2.md, section "Cost").

#include <atomic>
#include <cstdint>

#include "am/c/src/receive.hpp"
#include "am/src/bundle_fast.hpp"

namespace viaduct::am::detail {

/// The parts of Endpoint's, Bundle's and Token's work that the C interface does inline.
struct ShortWay {
  enum class Done : std::uint8_t {
    nothing,
    sent,
    sent_and_more,  // finish() is to follow
  };

  /// A request polls where it sees a message, and at each slot of a connection whose number this
  /// divides, so that connections move on. No count is kept for that: with each further store a
  /// stream of messages is slower, since the stores behind a message wait for its cache line.
  static constexpr std::uint64_t kPollEvery = 8;

  /// Whether a message of @p Handler fits one slot.
  template <auto Handler>
  static constexpr bool kFits = SignatureOf<Handler>::Args::kWords <= via::kWordsPerSlot;

  /// As Endpoint::request().  Precondition: @p to is in the endpoint's table.
  template <auto Handler, class... A>
  [[nodiscard, gnu::always_inline]] static inline Done request(Endpoint& endpoint, Index to,
                                                               A... args) noexcept {
    EndpointCore& core = EndpointCore::of(endpoint);
    const Dispatcher& dispatcher = core.dispatcher();
    // The poll of the long path does the work that was put off.
    if (dispatcher.slow != 0 || dispatcher.deferred_total != 0 || dispatcher.unfinished)
        [[unlikely]]
      return Done::nothing;
    Map& map = core.table.map_of(to);
    if (map.channel == nullptr) [[unlikely]]
      return Done::nothing;
    via::channel::Channel& channel = *map.channel;
    if (channel.slots_sent() == map.limit || channel.known_room() == 0) [[unlikely]]
      return Done::nothing;
    let_go_of_registers();
    const bool rings = put<Handler>(channel, Kind::request, args...);
    return rings || channel.slots_sent() % kPollEvery == 0 || channel.poll_set().looks_busy()
               ? Done::sent_and_more
               : Done::sent;
  }
  /// Makes the compiler read again, after this point, the values that it has read before. A
  /// compiler that keeps them in registers instead has to save the caller's registers.
  [[gnu::always_inline]] static inline void let_go_of_registers() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// request() where the process has several threads: behind the bundle's gate, with the poll that
  /// a request makes.
  /// @p find answers the endpoint of @p bundle, once it cannot be destroyed, or null.
  template <auto Handler, class Find, class... A>
  [[nodiscard, gnu::always_inline]] static inline Done request_shared(Bundle& bundle, Find find,
                                                                      Index to,
                                                                      A... args) noexcept {
    const Bundle::Passed passed(bundle);
    if (!passed) [[unlikely]]
      return Done::nothing;
    Endpoint* const endpoint = find();
    if (endpoint == nullptr) [[unlikely]]
      return Done::nothing;
    EndpointCore& core = EndpointCore::of(*endpoint);
    Map& map = core.table.map_of(to);
    if (map.state != Map::State::connected || map.tags.changed) [[unlikely]]
      return Done::nothing;
    via::channel::Channel& channel = *map.channel;
    if (channel.slots_sent() == map.limit || channel.known_room() == 0) [[unlikely]]
      return Done::nothing;
    if (put<Handler>(channel, Kind::request, args...)) [[unlikely]]
      channel.ring_if_wanted();
    if (channel.slots_sent() % kPollEvery == 0) [[unlikely]]
      map.look_after_credits();
    std::uint32_t n = 0;
    return bundle.poll_fast(n) ? Done::sent : Done::sent_and_more;
  }
  /// @return whether the waits of this thread serve @p bundle.  Cost: two loads.
  [[nodiscard]] static bool is_home(const Bundle& bundle) noexcept;
  /// From now on the waits of this thread serve @p bundle, and those of the thread before do not.
  /// @return whether that was not so before.  Cost: as is_home(); where that is false, a lock.
  static bool bring_home(Bundle& bundle) noexcept;
  /// @return whether this thread is in a long call into @p bundle, which is sequential.
  [[nodiscard]] static bool is_in(const Bundle& bundle) noexcept;
  /// Each thread that waits in one bundle of @p family serves the others; null: none does.
  static void join(Bundle& bundle, const void* family) noexcept;
  /// Whether a handler of @p bundle waits in another thread: for room for its reply.  Precondition:
  /// the calls' lock is held.
  [[nodiscard]] static bool is_busy_elsewhere(const Bundle& bundle) noexcept;
  /// A poll of a bundle of a process with several threads. Passes by where a handler of the bundle
  /// waits in another thread, which polls the bundle itself.
  static void poll_unless_busy(Bundle& bundle) noexcept;
  /// Handles what peers of this host have sent before a barrier that has opened.
  static void catch_up(Bundle& bundle) noexcept;
  /// The rest of such a request. The poll behind the gate has found work that it cannot do. That
  /// poll must not be called again, because each call looks at another connection.
  static void poll_further(Bundle& bundle) noexcept { (void)bundle.poll_long(Bundle::Run::all); }
  /// A poll of a bundle of such a process.
  static void poll_shared(Bundle& bundle) noexcept {
    std::uint32_t n = 0;
    {
      const Bundle::Passed passed(bundle);
      if (passed && bundle.poll_fast(n)) [[likely]]
        return;
    }
    (void)bundle.poll_long(Bundle::Run::all);
  }
  /// The rest of a request to @p to: the doorbell, credits, and a poll.
  static void finish(Endpoint& endpoint, Index to) noexcept {
    EndpointCore& core = EndpointCore::of(endpoint);
    Map& map = core.table.map_of(to);
    map.channel->ring_if_wanted();
    if (map.channel->slots_sent() % kPollEvery == 0) map.look_after_credits();
    (void)core.bundle.poll_once(Bundle::Run::all);
  }

  /// Calls that wait in @p endpoint return Status::bad_state as soon as they look. The lock is
  /// held.
  static void end_waits(Endpoint& endpoint) noexcept;
  /// @return whether end_waits() was called.
  [[nodiscard]] static bool ends_waits(Endpoint& endpoint) noexcept {
    return EndpointCore::of(endpoint).ends_waits.load(kRelaxed) != 0;
  }
  /// Ends the waits and the connections of @p endpoint for good; its memory stays. No handler of it
  /// waits, in no thread that will go on. The lock is held.
  static void disconnect(Endpoint& endpoint) noexcept;

  /// As Token::reply().
  template <auto Handler, class... A>
  [[nodiscard, gnu::always_inline]] static inline Done reply(Token& token, A... args) noexcept {
    if (!token.may_reply()) [[unlikely]]
      return Done::nothing;
    via::channel::Channel& channel = *token.map_.channel;
    if (channel.known_room() == 0) [[unlikely]]
      return Done::nothing;
    token.client_ |= Token::kReplied;
    token.map_.take_no_credit();
    return put<Handler>(channel, Kind::reply, args...) ? Done::sent_and_more : Done::sent;
  }
  /// Refuses a reply of @p bytes, which is longer than @p most: @p limit names that.
  static Status refuse_length(Token& token, std::size_t bytes, std::size_t most,
                              const char* limit) noexcept;
  static void finish(Token& token) noexcept { token.map_.channel->ring_if_wanted(); }

 private:
  /// Answers whether the peer wants its doorbell rung.
  template <auto Handler, class... A>
  [[nodiscard, gnu::always_inline]] static inline bool put(via::channel::Channel& channel,
                                                           Kind kind, A... args) noexcept {
    using Args = typename SignatureOf<Handler>::Args;
    via::Slot& slot = channel.known_slot();
    slot.put(PackAs<Args>::pack(args...));
    const std::uint64_t client =
        wire_format::make(kind, Operation::short_message, handler_number<Handler>());
    return channel.publish_quietly(
        slot, via::header::make(via::MessageKind::inline_data,
                                static_cast<std::uint32_t>(Args::kBytes), client));
  }
};

}  // namespace viaduct::am::detail
