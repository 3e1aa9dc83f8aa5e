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
    if (passed_ && bundle.slow_ != bundle.depth_base_) [[unlikely]] {
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

/// As Bundle::dispatch, in two steps: the message is taken only where its handler can run at once.
struct Bundle::FastReceiver {
  Bundle& bundle;
  Thunk thunk = nullptr;

  /// Split-C is served in polls, and a gate that one thread alone uses is reserved for it.
  [[nodiscard]] bool wants_housekeeping() const noexcept {
    return bundle.served_->engine().has_passive() || bundle.calls_->would_reserve(bundle.gate_);
  }
  [[nodiscard]] bool accepts(via::channel::Channel& channel, std::uint64_t head) noexcept {
    const auto& map = *static_cast<const detail::Map*>(channel.context());
    const std::uint64_t client = via::header::client(head);
    const std::uint64_t special = client & ~detail::wire_format::handler_mask;
    const std::uint32_t id = detail::wire_format::handler(client);
    if (special != 0 && !is_reply(special)) return false;
    if (map.deferred_count != 0 || via::header::extra_lines(head) != 0 || id < kOwnHandlers ||
        id >= map.thunk_count)  // 0 until the peer is connected
      return false;
    thunk = map.thunks[id];
    return thunk != nullptr;
  }
  void operator()(via::channel::Channel& channel, via::Slot& slot, std::uint64_t head) noexcept {
    auto& map = *static_cast<detail::Map*>(channel.context());
    const std::uint64_t client = via::header::client(head);
    const bool reply = is_reply(client & ~detail::wire_format::handler_mask);
    const Arrival arrival{reinterpret_cast<const std::byte*>(slot.words), via::header::length(head),
                          nullptr, 0};
    Token token(map, client);
    if (reply) map.regain_credit();
    ++bundle.slow_;
    bundle.running_ = detail::wire_format::handler(client);
    thunk(token, arrival);
    --bundle.slow_;
    if (!reply && !token.is_answered()) map.return_credit();
  }
  [[nodiscard]] static bool is_reply(std::uint64_t special) noexcept {
    return special == std::uint64_t{1} << detail::wire_format::kind_shift;
  }
};

/// Behind the gate. False: a poll with the calls' lock is to follow.
inline bool Bundle::poll_fast(std::uint32_t& n) noexcept {
  if (deferred_total_ != 0 || unfinished_) return false;
  FastReceiver receiver{*this};
  bool more = false;
  n += group_->drain_accepted(kBatch, receiver, more);
  return !more && !unfinished_;
}

}  // namespace viaduct::am
