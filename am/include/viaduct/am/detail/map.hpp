#pragma once
/// @file
/// MAP objects: one per peer that an endpoint talks to. Source: Begel et al. 2001, section 5.1.
///
/// A MAP is one channel, k request credits and a medium ring per direction. The policy here is the
/// third generation's (v3): one channel for all sizes, credits for requests only, replies in the
/// place of their requests.
///
/// Credits: a request takes one; it comes back with the reply, with the request's return, or, when
/// the handler has returned without replying, through `unreplied`, a counter that the receiver
/// publishes every publish_every messages. So at most k of our requests and k replies to the peer's
/// requests are in our ring; with the slots that the receiver has taken and not yet given back
/// (release_every) that is at most 2k + release_every <= slots: a reply finds a slot at once so
/// long as all messages take one line. Behind longer ones and notices, which are not counted, it
/// may have to wait.

#include <cstdint>
#include <deque>

#include "viaduct/am/detail/medium_ring.hpp"
#include "viaduct/am/detail/pending_call.hpp"
#include "viaduct/am/detail/wire_format.hpp"
#include "viaduct/am/handler.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/channel/channel.hpp"

namespace viaduct::am {
class Endpoint;
}

namespace viaduct::am::detail {

inline constexpr std::uint32_t kMaxMessageWords = via::kWordsPerSlot * via::kMaxLines;

/// A message taken off the ring to be handled later: a request while only replies may run.
struct Deferred {
  std::uint64_t client;
  std::uint32_t arg_bytes;
  std::uint64_t held;  // number of its medium payload, or kNothingHeld
  std::uint64_t words[kMaxMessageWords];
  static constexpr std::uint64_t kNothingHeld = ~std::uint64_t{0};
};

struct Map {
  enum class State : std::uint8_t {
    unmapped,  // the null map: no credits, every send takes the slow path
    connecting,
    connected,
    closing,  // the channel has failed or the peer has left: to be drained
    rejected,
    lost,
  };

  // Hot: a request.
  via::channel::Channel* channel = nullptr;
  std::uint32_t credits = 0;  // that may be used without looking at anything
  std::uint32_t reserve = 0;  // further credits; refill_credits() moves them over
  State state = State::unmapped;
  // Hot: an arrival.
  const Thunk* thunks = nullptr;  // the endpoint's table
  // 0: refuses everything, see `tags.refused`; and until the peer has been met.
  std::uint32_t thunk_count = 0;
  std::uint32_t deferred_count = 0;
  std::uint64_t unreplied = 0;  // the peer's requests that returned here without a reply
  std::uint64_t unreplied_published = 0;
  std::uint32_t publish_every = 1;
  Index index{};
  Endpoint* endpoint = nullptr;
  // Warm.
  std::uint64_t unreplied_seen = 0;  // of our requests there, as last read
  bool counters_fetched = false;
  std::uint32_t refill_every = 1;  // credits moved over at a time
  MediumSend medium_out;
  MediumReceive medium_in;
  // Cool.
  std::deque<Deferred> deferred;
  Owned<via::channel::Channel> channel_owner;
  EndpointName name;  // the peer's
  struct Tags {
    Tag presented = kTagNone;  // that we name to the peer, in our MapBlock
    bool changed = false;      // since the peer last heard of it: a notice goes before a request
    std::uint64_t notice_end = 0;  // the line behind the last notice
    Tag theirs = kTagNone;         // that the peer named
    bool refused = false;          // that one is no longer ours
  } tags;
  struct End {
    std::uint32_t credits = 0;  // when the connection ended
    bool unreachable = false;   // because the way to the peer has
    Undeliverable rejection = Undeliverable::none;
  } end;
  std::uint32_t credit_limit = 0;  // k
  struct Peer {
    EndpointPage* page = nullptr;
    EndpointPage
        copied_page{};  // that, of a remote channel: as last taken from the peer's MapBlock
    std::byte* window = nullptr;
  } peer;
  CallRing calls;  // hot where there are calls

  [[nodiscard]] std::uint32_t all_credits() const noexcept { return credits + reserve; }
  /// What handler 0 is told of a message of this MAP that has the client word @p client and @p
  /// bytes bytes of @p words.
  [[nodiscard]] Returned describe_returned(std::uint64_t client, const std::uint64_t* words,
                                           std::uint32_t bytes, Undeliverable status,
                                           Direction direction) const noexcept;

  /// `credits` have run out. Reading the peer's counters costs a cache miss when it has written
  /// them since; so it is done well before the last credit is gone, and the line is fetched some
  /// messages before it is read: a stream of requests does not stop for it. Answers whether there
  /// is credit.
  [[gnu::noinline]] bool refill_credits() noexcept;
  /// Takes in what the peer has given back without a message.
  void refresh_credits() noexcept {
    const std::uint64_t now = channel->peer_counter(0);
    const std::uint64_t back = now - unreplied_seen;
    if (back > credit_limit || all_credits() + back > credit_limit) [[unlikely]]
      return drop_surplus();
    reserve += static_cast<std::uint32_t>(back);
    unreplied_seen = now;
    counters_fetched = false;
    channel->update_room();
  }
  /// More credits than there are, or fewer than before: an account, or the peer's memory, is wrong.
  /// The connection ends.
  [[gnu::cold, gnu::noinline]] void drop_surplus() noexcept;
  /// Before a sleep: whether what the peer's counters say can be. If not, the connection ends.
  void check_counters() noexcept;
  /// Payloads that the peer says it has taken, from its counter. False: it cannot be, and the
  /// connection has ended.
  [[nodiscard]] bool update_released() noexcept;
  /// A request of the peer's has been handled and not replied to.
  void return_credit() noexcept {
    if (++unreplied - unreplied_published >= publish_every) publish_credits();
  }
  void publish_credits() noexcept {
    unreplied_published = unreplied;
    channel->release_and_publish(0, unreplied);
  }
};

}  // namespace viaduct::am::detail
