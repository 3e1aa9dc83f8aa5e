#pragma once
// The gate of a parallel bundle, for short calls, and the poll behind it.

#include "am/src/context_shared.hpp"
#include "via/channel/nic.hpp"

namespace viaduct::am {

class Bundle::Passed {
 public:
  [[gnu::always_inline]] explicit Passed(Bundle& bundle) noexcept : bundle_(bundle) {
    if (!bundle.has_short_calls_) return;
    passed_ = bundle.calls_->try_pass(bundle.gate_);
    // In a forked child a handler seems to run.
    if (passed_ && bundle.dispatcher_.runs_handler()) [[unlikely]] {
      bundle.calls_->go_out(bundle.gate_);
      passed_ = false;
    }
  }
  [[gnu::always_inline]] ~Passed() {
    if (passed_) bundle_.calls_->go_out(bundle_.gate_);
  }
  Passed(const Passed&) = delete;
  Passed& operator=(const Passed&) = delete;
  /// Whether the thread is behind the gate, and no handler of the bundle runs.
  explicit operator bool() const noexcept { return passed_; }

 private:
  Bundle& bundle_;
  bool passed_ = false;
};

/// As Dispatcher::dispatch, in two steps: the message is taken only where its handler can run at
/// once.
struct detail::Dispatcher::FastReceiver {
  Dispatcher& dispatcher;
  Thunk thunk = nullptr;

  /// Split-C is served in polls, and a gate that one thread alone uses is reserved for it.
  [[nodiscard]] bool wants_housekeeping() const noexcept {
    const Bundle& bundle = dispatcher.bundle;
    return bundle.served_->engine().has_passive() || bundle.calls_->would_reserve(bundle.gate_);
  }
  [[nodiscard]] bool accepts(via::channel::Channel& channel, std::uint64_t head) noexcept {
    const auto& map = *static_cast<const Map*>(channel.context());
    const std::uint64_t client = via::header::client(head);
    const std::uint64_t special = client & ~wire_format::handler_mask;
    const std::uint32_t id = wire_format::handler(client);
    if (special != 0 && !is_reply(special)) return false;
    if (map.deferred_count != 0 || via::header::extra_lines(head) != 0 || id < kOwnHandlers ||
        id >= map.thunk_count)  // 0 until the peer is connected
      return false;
    thunk = map.thunks[id];
    return thunk != nullptr;
  }
  void operator()(via::channel::Channel& channel, via::Slot& slot, std::uint64_t head) noexcept {
    auto& map = *static_cast<Map*>(channel.context());
    const std::uint64_t client = via::header::client(head);
    const bool reply = is_reply(client & ~wire_format::handler_mask);
    const Arrival arrival{reinterpret_cast<const std::byte*>(slot.words), via::header::length(head),
                          nullptr, 0};
    Token token(map, client);
    if (reply) map.regain_credit();
    ++dispatcher.slow;
    dispatcher.running = wire_format::handler(client);
    thunk(token, arrival);
    --dispatcher.slow;
    if (!reply && !token.is_answered()) map.return_credit();
  }
  static void after_portion(via::channel::Channel& channel) noexcept {
    static_cast<Map*>(channel.context())->publish_all_credits();
  }
  [[nodiscard]] static bool is_reply(std::uint64_t special) noexcept {
    return special == std::uint64_t{1} << wire_format::kind_shift;
  }
};

/// Behind the gate. False: a poll with the calls' lock is to follow.
inline bool Bundle::poll_fast(std::uint32_t& n) noexcept {
  if (dispatcher_.deferred_total != 0 || dispatcher_.unfinished) return false;
  detail::Dispatcher::FastReceiver receiver{dispatcher_};
  bool more = false;
  n += dispatcher_.group->drain_accepted(detail::Dispatcher::kBatch, receiver, more);
  return !more && !dispatcher_.unfinished;
}

}  // namespace viaduct::am
