#pragma once
/// @file
/// The dispatcher of a bundle: takes messages off the rings and runs their handlers.

#include <cstdint>
#include <vector>

#include "viaduct/am/context.hpp"
#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/detail/poll_pace.hpp"
#include "viaduct/am/token.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/channel/group.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::am::detail {

struct EndpointCore;

/// Takes the messages that arrive for the endpoints of one bundle, in order for each peer, and runs
/// their handlers, one at a time. What must wait is put off here: requests while only replies may
/// run, and the work that no handler may see (finish()).
struct Dispatcher {
  /// A count that the lock's holder changes and that others look at before they take the lock:
  /// plain loads and stores.
  class Depth {
   public:
    Depth& operator=(std::uint32_t count) noexcept {
      store_word(count_, count, kRelaxed);
      return *this;
    }
    void operator++() noexcept { *this = *this + 1; }
    void operator--() noexcept { *this = *this - 1; }
    operator std::uint32_t() const noexcept { return load_word(count_, kRelaxed); }
    /// For forked children, which have one thread.
    [[nodiscard]] std::uint32_t& word() noexcept { return count_; }

   private:
    mutable std::uint32_t count_ = 0;
  };
  /// Group::drain() hands each arrived message to this object.
  struct Receiver {
    Dispatcher& dispatcher;
    bool requests;
    void operator()(via::channel::Channel& channel, via::Slot& slot,
                    std::uint64_t header) noexcept {
      dispatcher.dispatch(channel, slot, header, requests);
    }
    static void after_portion(via::channel::Channel& channel) noexcept {
      static_cast<Map*>(channel.context())->publish_all_credits();
    }
  };
  struct FastReceiver;  // the same behind the gate of a parallel bundle: am/src/bundle_fast.hpp
  /// A request whose handler made a reply that was refused, and has made no other one.
  struct RefusedReply {
    Map* map;
    std::uint64_t client;  // the request's
  };

  static constexpr std::uint32_t kBatch = 32;  // messages of one peer per poll; in a stream more

  Dispatcher(Bundle& its_bundle, Context& its_context) noexcept
      : bundle(its_bundle), context(its_context) {}

  /// Handles what has arrived; requests only if @p requests says so.  @return messages handled.
  std::uint32_t poll(bool requests) noexcept {
    if (deferred_total != 0 && requests) [[unlikely]]
      return poll_deferred();
    return poll_arrived(requests);
  }
  [[nodiscard, gnu::always_inline]] std::uint32_t poll_arrived(bool requests) noexcept {
    Receiver receiver{*this, requests};
    std::uint32_t n = group->drain(kBatch, receiver);
    if (unfinished) [[unlikely]]
      n += finish(requests);
    return n;
  }

  void dispatch(via::channel::Channel& channel, via::Slot& slot, std::uint64_t header,
                bool requests) noexcept {
    VIADUCT_PART(read_data);
    auto& map = *static_cast<Map*>(channel.context());
    const std::uint64_t client = via::header::client(header);
    const std::uint64_t special = client & ~wire_format::handler_mask;  // the unused bits, too
    const std::uint32_t id = wire_format::handler(client);
    const bool reply = special == (std::uint64_t{1} << wire_format::kind_shift);
    const bool plain = special == 0 && requests && map.deferred_count == 0;
    if ((reply || plain) && via::header::extra_lines(header) == 0 && id >= kOwnHandlers &&
        id < map.thunk_count)
        [[likely]] {  // a handler of its own table reads its arguments in place: not in the slot
      if (const Thunk thunk = map.thunks[id]; thunk != nullptr) [[likely]] {
        const Arrival arrival{reinterpret_cast<const std::byte*>(slot.words),
                              via::header::length(header), nullptr, 0};
        Token token(map, client);
        if (reply) map.regain_credit();
        ++slow;
        running = static_cast<std::uint16_t>(id);
        VIADUCT_NEXT_PART(act);
        thunk(token, arrival);
        --slow;
        if (plain && !token.is_answered()) map.return_credit();
        return;
      }
    }
    dispatch_slow(map, slot, header, requests);
  }

  [[gnu::noinline]] void dispatch_slow(Map& map, via::Slot& slot, std::uint64_t header,
                                       bool requests) noexcept;
  [[nodiscard]] bool run_lines(Map& map, const via::Slot& slot, std::uint64_t header,
                               bool requests) noexcept;
  [[nodiscard]] bool run_payload(Map& map, const via::Slot& slot, std::uint64_t header,
                                 bool requests) noexcept;
  void run_thunk(Map& map, Thunk thunk, std::uint64_t client, const Arrival& arrival) noexcept;
  [[gnu::noinline]] void take_message(Map& map, via::Slot& slot, std::uint64_t header,
                                      bool requests) noexcept;
  void run_message(Map& map, const Deferred& message) noexcept;
  void run_handler(Map& map, Thunk thunk, const Deferred& message) noexcept;
  void refuse(Map& map, const Deferred& message, Undeliverable why) noexcept;
  void take_returned(Map& map, const Deferred& message) noexcept;
  [[gnu::cold]] void return_deferred(Map& map) noexcept;
  [[gnu::cold]] void answer_refused() noexcept;
  std::uint32_t run_deferred() noexcept;
  /// poll() where requests were put off: these come first.
  [[gnu::noinline]] std::uint32_t poll_deferred() noexcept;
  [[gnu::cold, gnu::noinline]] std::uint32_t finish(bool requests) noexcept;

  /// Runs @p function outside the handlers that are reported: handler 0, and what a call is to
  /// tell.
  template <class Function>
  void run_unnumbered(Function&& function) noexcept {
    const std::uint16_t outer = running;
    running = 0;
    ++slow;
    function();
    --slow;
    running = outer;
  }
  [[nodiscard]] bool runs_handler() const noexcept { return slow != depth_base; }
  /// @p map ends: what was put off for it is dropped.
  void forget(const Map& map) noexcept;
  /// For the statistics of the job.
  void count(Counter counter, std::uint64_t by = 1) noexcept { context.count(counter, by); }

  // Hot. `slow` counts the reasons for which inline paths take their guarded forms: running
  // handlers, a parallel bundle.
  Depth slow;
  std::uint32_t deferred_total = 0;
  bool unfinished = false;  // maps to close, gets to hand over
  Owned<via::channel::Group> group;
  // Cool.
  PollPace pace;
  Bundle& bundle;
  Context& context;
  std::uint32_t depth_base = 0;  // `slow` when no handler runs
  std::uint16_t running = 0;     // handler that runs, for messages
  // A handler has run for which no doorbell was rung: sleepers are to look again.
  bool stirred = false;
  via::ProtectionTag protection_tag{};
  std::vector<EndpointCore*> endpoints;
  std::vector<Map*> deferred_maps;
  std::vector<Map*> closing;
  std::vector<RefusedReply> refused_replies;
};

}  // namespace viaduct::am::detail
