/// The short calls of parallel bundles: what needs the bundle alone, behind its gate.

#include "am/src/bundle_fast.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace viaduct::am {

using detail::Map;
namespace wire_format = detail::wire_format;
namespace header = via::header;

/// As Bundle::dispatch, in two steps: the message is taken only where its handler can run at once.
struct Bundle::FastReceiver {
  Bundle& bundle;
  Thunk thunk = nullptr;

  /// Split-C is served in polls, and a gate that one thread alone uses is reserved for it.
  [[nodiscard]] bool wants_housekeeping() const noexcept {
    return bundle.served_->engine().has_passive() || bundle.calls_->would_reserve(bundle.gate_);
  }
  [[nodiscard]] bool accepts(via::channel::Channel& channel, std::uint64_t head) noexcept {
    const auto& map = *static_cast<const Map*>(channel.context());
    const std::uint64_t client = header::client(head);
    const std::uint64_t special = client & ~wire_format::handler_mask;
    const std::uint32_t id = wire_format::handler(client);
    if (special != 0 && !is_reply(special)) return false;
    if (map.deferred_count != 0 || header::extra_lines(head) != 0 || id < kOwnHandlers ||
        id >= map.thunk_count)  // 0 until the peer has been met
      return false;
    thunk = map.thunks[id];
    return thunk != nullptr;
  }
  void operator()(via::channel::Channel& channel, via::Slot& slot, std::uint64_t head) noexcept {
    auto& map = *static_cast<Map*>(channel.context());
    const std::uint64_t client = header::client(head);
    const bool reply = is_reply(client & ~wire_format::handler_mask);
    const Arrival arrival{reinterpret_cast<const std::byte*>(slot.words), header::length(head),
                          nullptr, 0};
    Token token(map, client);
    if (reply) ++map.credits;
    ++bundle.slow_;
    bundle.running_ = wire_format::handler(client);
    thunk(token, arrival);
    --bundle.slow_;
    if (!reply && !token.is_answered()) map.return_credit();
  }
  [[nodiscard]] static bool is_reply(std::uint64_t special) noexcept {
    return special == std::uint64_t{1} << wire_format::kind_shift;
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

std::uint32_t Bundle::poll_guarded(Run run) noexcept {
  std::uint32_t n = 0;
  if (run == Run::all) {
    const Passed passed(*this);
    if (passed && poll_fast(n)) [[likely]]
      return n;
  }
  return n + poll_long(run);
}

/// A message of one line, where there is a connection with credit and room for it.
[[gnu::always_inline]] inline bool Endpoint::send_line(const Outgoing& out) noexcept {
  if (value(out.to) >= maps_.size()) [[unlikely]]
    return false;
  Map& map = *maps_[value(out.to)];
  if (map.state != Map::State::connected || map.tags.changed) [[unlikely]]
    return false;
  if (map.credits == 0 && !map.refill_credits()) [[unlikely]]
    return false;
  via::Slot* const slot = map.channel->claim();
  if (slot == nullptr) [[unlikely]]
    return false;
  --map.credits;
  for (std::uint32_t i = 0; i < out.count; ++i) slot->put(i, out.words[i]);
  map.channel->publish(*slot,
                       header::make(via::MessageKind::inline_data, out.arg_bytes, out.client));
  return true;
}

/// What a parallel bundle sends: a short request goes behind the gate alone, and so does the poll
/// that it makes.
Status Endpoint::send_shared(const Outgoing& out) noexcept {
  if (wire_format::operation(out.client) != Operation::short_message || out.call != nullptr ||
      out.count > via::kWordsPerSlot)
    return send_long(out);
  bool polled = true;
  {
    const Bundle::Passed passed(bundle_);
    if (!passed || !send_line(out)) [[unlikely]]
      polled = false;
    else if (--bundle_.until_poll_ != 0)
      return Status::ok;
    else {
      bundle_.until_poll_ = bundle_.poll_every_;
      std::uint32_t n = 0;
      if (wait_run_ != Bundle::Run::all || bundle_.poll_fast(n)) return Status::ok;
    }
  }
  if (!polled) return send_after_polls(out);
  (void)bundle_.poll_long(Bundle::Run::all);
  return Status::ok;
}

/// The first attempt was nothing: polls until there is credit and room, and takes the long way if
/// that is not enough.
Status Endpoint::send_after_polls(const Outgoing& out) noexcept {
  constexpr int kAttempts = 64;
  for (int attempt = 0; attempt < (out.wait ? kAttempts : 0); ++attempt) {
    const Bundle::Passed passed(bundle_);
    std::uint32_t n = 0;
    if (!passed || wait_run_ != Bundle::Run::all || !bundle_.poll_fast(n)) break;
    if (send_line(out)) return Status::ok;
  }
  return send_long(out);
}

}  // namespace viaduct::am
