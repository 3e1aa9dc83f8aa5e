#pragma once
/// @file
/// MAP objects: one per peer that an endpoint talks to. Source: Begel et al. 2001, section 5.1.
///
/// A MAP is one channel, k request credits and a medium ring per direction. The policy here is the
/// third generation's (v3): one channel for all sizes, credits for requests only, replies in the
/// place of their requests.
///
/// Credits: a request takes one. The credit comes back with the reply, with the request's return,
/// or, when the handler has returned without replying, through `unreplied`, a counter that the
/// receiver publishes every `batch` messages. So at most k of our requests and k replies to
/// the peer's requests are in our ring. With the slots that the receiver has taken and not yet
/// freed (release_every) that is at most 2k + release_every <= slots: a reply finds a slot at once
/// so long as all messages take one line. Behind longer messages and notices, which are not
/// counted, a reply may have to wait.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>

#include "viaduct/am/detail/medium_ring.hpp"
#include "viaduct/am/detail/pending_call.hpp"
#include "viaduct/am/detail/poll_pace.hpp"
#include "viaduct/am/detail/wire_format.hpp"
#include "viaduct/am/handler.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/runtime/way_trial.hpp"
#include "viaduct/via/channel/channel.hpp"

namespace viaduct::am {
class Endpoint;
}

namespace viaduct::am::detail {

inline constexpr std::uint32_t kMaxMessageWords = via::kWordsPerSlot * via::kMaxLines;
static_assert(kMaxLineData == 8 * (kMaxMessageWords - 1));

/// A message taken off the ring to be handled later: a request while only replies may run.
struct Deferred {
  std::uint64_t client;
  std::uint32_t arg_bytes;
  std::uint64_t held;  // number of its medium payload, or kNothingHeld
  std::uint64_t words[kMaxMessageWords];
  static constexpr std::uint64_t kNothingHeld = ~std::uint64_t{0};
};

/// The arrival of a medium message whose data are in its lines. The first @p length bytes of @p
/// words are the word of the payload's place and the arguments. The data behind them are copied to
/// @p to, of kMaxLineData bytes. The peer chose the length in @p words, so no more is read than
/// fits the lines.
[[nodiscard]] inline Arrival data_in_lines(const std::uint64_t* words, std::size_t length,
                                           std::byte* to) noexcept {
  const std::size_t first = (length + 7) / 8;
  const std::size_t bytes = std::min<std::size_t>(
      words[0] >> 32, 8 * (kMaxMessageWords - std::max<std::size_t>(first, 1)));
  std::memcpy(to, words + first, bytes);
  return {reinterpret_cast<const std::byte*>(words + 1), length - 8, to, bytes};
}

struct Map {
  enum class State : std::uint8_t {
    unmapped,  // the null map: no channel, every send takes the slow path
    connecting,
    connected,
    closing,  // the channel has failed or the peer has left: to be drained
    rejected,
    lost,
  };

  // Hot: a request.
  via::channel::Channel* channel = nullptr;
  /// A request of one line is sent without a look at anything while slots_sent() is below this: it
  /// has credit, and no poll is due. Never above `limit`.
  std::uint64_t short_until = 0;
  /// slots_sent() and the credits. A count of credits would be one more store for each message of a
  /// stream, whose rate is bounded by the stores that a processor holds until the slots' lines have
  /// come. So a request of one line changes nothing here; each slot that takes no credit raises it.
  std::uint64_t limit = 0;
  State state = State::unmapped;
  // Hot: an arrival.
  const Thunk* thunks = nullptr;  // the endpoint's table
  // 0: every message is refused (`tags.refused`), or the peer is not connected yet.
  std::uint32_t thunk_count = 0;
  std::uint32_t deferred_count = 0;
  std::uint64_t unreplied = 0;  // the peer's requests that returned here without a reply
  std::uint64_t unreplied_published = 0;
  std::uint32_t batch = 1;  // of credits, published at a time: k / 4
  Index index{};
  Endpoint* endpoint = nullptr;
  // Warm.
  std::uint64_t poll_at = 0;         // slots_sent() at which a request polls
  std::uint64_t unreplied_seen = 0;  // of our requests there, as last read
  bool counters_fetched = false;
  struct Medium {
    MediumSend out;
    MediumReceive in;
    TurnTrial trial;  // also of messages of several lines
  } medium;
  // Cool.
  std::deque<Deferred> deferred;
  Owned<via::channel::Channel> channel_owner;
  EndpointName name;  // the peer's
  struct Tags {
    Tag presented = kTagNone;  // that we name to the peer, in our MapBlock
    bool changed = false;      // since the peer last heard of it: a notice goes before a request
    std::uint64_t notice_end = 0;  // the line behind the last notice
    Tag theirs = kTagNone;         // that the peer named
    bool refused = false;          // `theirs` is not our tag
  } tags;
  struct End {
    std::uint32_t credits = 0;  // when the connection ended
    bool unreachable = false;   // the peer can no longer be reached
    Undeliverable rejection = Undeliverable::none;
  } end;
  std::uint32_t credit_limit = 0;  // k
  /// What earlier bulk messages tell about the next one: am/src/pull.cpp.
  struct PullPace {
    std::uint32_t pushes_to_make = 0;     // messages before the next pull
    std::uint32_t pushes_after_miss = 1;  // after the next pull for which the peer does not come
    std::uint32_t push_ns_per_kib = 128;  // as last measured
  } pull_pace;
  struct Peer {
    EndpointPage* page = nullptr;
    EndpointPage
        copied_page{};  // that, of a remote channel: as last taken from the peer's MapBlock
    std::byte* window = nullptr;
  } peer;
  CallRing calls;  // hot where there are calls

  [[nodiscard]] std::uint64_t slots_sent() const noexcept {
    return channel == nullptr ? 0 : channel->slots_sent();
  }
  [[nodiscard]] std::uint32_t credits() const noexcept {
    return static_cast<std::uint32_t>(limit - slots_sent());
  }
  /// The last @p slots slots that were sent take no credit.
  /// The short way stays open for as many requests as before: a rank that replies to a peer as
  /// often as it asks the peer does not look after credits more often than a rank that only asks.
  void take_no_credit(std::uint64_t slots = 1) noexcept {
    short_until += slots;
    limit += slots;
  }
  /// A reply is here, or a request has come back.
  void regain_credit() noexcept { ++limit; }
  /// A credit is given up, which is there.
  void give_up_credit() noexcept {
    --limit;
    short_until = 0;
  }
  /// The next poll is due after @p slots slots.
  void poll_after(std::uint64_t slots) noexcept {
    poll_at = slots_sent() + slots;
    short_until = 0;
  }
  /// Whether a request polls now. Then it looks after its credits, too.
  [[nodiscard]] bool is_poll_due(PollPace& pace) noexcept {
    if (slots_sent() < poll_at && state == State::connected) return false;
    set_next_poll(pace);
    look_after_credits();
    return true;
  }
  /// A request polls now: sets when the next one does. A stream does not stop for want of the
  /// credits that come back by themselves, a quarter at a time, because a poll takes them.
  void set_next_poll(PollPace& pace) noexcept;
  /// There is no connection any more.
  void drop_credits() noexcept {
    limit = slots_sent();
    short_until = 0;
  }
  /// Whether a medium message of this shape has its data in its lines. A transport takes a line and
  /// a part of the ring to another host at once, so that nothing is gained there.
  [[nodiscard]] bool takes_in_lines(std::uint32_t arg_words,
                                    std::size_t data_bytes) const noexcept {
    return wire_format::words_with_data(arg_words, data_bytes) <= kMaxMessageWords &&
           !channel->is_remote();
  }
  /// Writes the first half of a long payload to @p to, in the medium ring, and announces it.
  /// @return the bytes written; 0: nothing is written, and all of the payload is still to be.
  [[nodiscard]] std::uint32_t announce_half(std::byte* to, const std::byte* data,
                                            std::uint32_t length) noexcept;
  /// Asked once before each message of several lines and each payload of up to 4 KiB: whether its
  /// lines are to be handed over. They are where the peer probably waits for the message, and the
  /// last trial says that it pays. The peer probably waits where the two ends take turns, and none
  /// of its messages waits to be taken. A transport hands no lines over.
  [[nodiscard]] bool is_awaited() noexcept {
    return channel->takes_turns() && !channel->is_remote() && !channel->has_arrivals() &&
           demotes_lines() && medium.trial.takes_second();
  }
  /// Behind a message with a payload of @p length bytes: moves the lines of both medium rings to
  /// where their next writers find them soon.
  void after_payload(std::uint64_t length) noexcept;
  /// Begins to fetch the half that the peer has announced with word @p place.
  void fetch_half(std::uint64_t place) const noexcept;
  /// Puts a message into its lines: @p words with @p bytes bytes, and @p data behind them. It takes
  /// @p credits credits, 0 or 1.  @return false when there is no room, or no connection.
  [[nodiscard]] bool try_send(std::uint32_t credits, std::uint64_t client,
                              std::span<const std::uint64_t> words, std::uint32_t bytes,
                              std::span<const std::byte> data = {}) noexcept;
  /// The same for a message that takes_in_lines(), from its arguments.
  [[nodiscard]] bool try_send_in_lines(std::uint32_t credits, std::uint64_t client,
                                       std::span<const std::uint64_t> args, std::uint32_t arg_bytes,
                                       std::span<const std::byte> data) noexcept {
    constexpr auto kKind = via::MessageKind::inline_data;
    if (wire_format::operation(client) != Operation::medium)
      return try_send_lines(credits, via::header::make(kKind, arg_bytes, client), args, {});
    std::uint64_t words[1 + kMaxArgs];
    words[0] = std::uint64_t{data.size()} << 32;
    for (std::size_t i = 0; i < args.size(); ++i) words[1 + i] = args[i];
    return try_send_lines(
        credits, via::header::make(kKind, 8 + arg_bytes, client | wire_format::in_lines_bit),
        {words, 1 + args.size()}, data);
  }
  /// The same for any message, with its header.
  [[nodiscard]] bool try_send_lines(std::uint32_t credits, std::uint64_t head,
                                    std::span<const std::uint64_t> words,
                                    std::span<const std::byte> data) noexcept {
    const std::uint64_t before = channel->slots_sent();
    // A payload in the medium ring has been asked for already.
    const bool awaited = wire_format::is_in_medium_ring(via::header::client(head))
                             ? medium.out.hands_over
                             : words.size_bytes() + data.size() > via::kInlineBytes && is_awaited();
    if (!channel->try_send_lines(head, words, data, awaited)) return false;
    take_no_credit(channel->slots_sent() - before - credits);
    return true;
  }
  /// The description for handler 0 of a message of this MAP that has the client word @p client and
  /// @p bytes bytes of @p words.
  [[nodiscard]] Returned describe_returned(std::uint64_t client, const std::uint64_t* words,
                                           std::uint32_t bytes, Undeliverable status,
                                           Direction direction) const noexcept;

  /// Whether there is credit. Where none is known, reads the peer's counters.
  [[nodiscard]] bool has_credit() noexcept {
    if (credits() == 0 && state == State::connected) [[unlikely]]
      refresh_credits();
    return credits() != 0;
  }
  /// Called once in some messages. Reading the peer's counters costs a cache miss when it has
  /// written them since; so they are read before the last credit is gone, and the line is fetched
  /// some messages earlier: a stream of requests does not stop for it.
  void look_after_credits() noexcept {
    if (state != State::connected || credits() + batch > credit_limit) return;
    if (counters_fetched) return refresh_credits();
    channel->fetch_counters();
    counters_fetched = true;
  }
  /// Opens the short way as far as there is room, until a poll is due, and for half of the credits
  /// at most.  @return whether it is open.
  bool open_short_way() noexcept {
    if (state != State::connected) return false;
    if (channel->known_room() == 0) (void)channel->refresh_room(1);
    const std::uint64_t now = channel->slots_sent();
    short_until = std::min({poll_at, now + (credits() + 1) / 2, now + channel->known_room()});
    return now < short_until;
  }
  /// Takes the credits that the peer has returned by its counter, without a message.
  void refresh_credits() noexcept {
    const std::uint64_t now = channel->peer_counter(0);
    const std::uint64_t back = now - unreplied_seen;
    if (back > credit_limit || credits() + back > credit_limit) [[unlikely]]
      return drop_surplus();
    limit += back;
    unreplied_seen = now;
    counters_fetched = false;
    channel->update_room();
  }
  /// More credits than there are, or fewer than before: an account, or the peer's memory, is wrong.
  /// The connection ends.
  [[gnu::cold, gnu::noinline]] void drop_surplus() noexcept;
  /// Checks the peer's counters before a sleep. Impossible values end the connection.
  void check_counters() noexcept;
  /// Reads the peer's count of the payloads that it has taken. False: the count is impossible, and
  /// the connection has ended.
  [[nodiscard]] bool update_released() noexcept;
  /// A request of the peer's has been handled and not replied to.
  void return_credit() noexcept {
    if (++unreplied - unreplied_published >= batch) publish_credits();
  }
  void publish_credits() noexcept;
  void publish_all_credits() noexcept {
    if (unreplied != unreplied_published && state == State::connected) publish_credits();
  }
};

}  // namespace viaduct::am::detail
