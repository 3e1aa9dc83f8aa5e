/// The short calls of parallel bundles: what needs the bundle alone, behind its gate.

#include "am/src/bundle_fast.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace viaduct::am {

using detail::Map;
namespace wire_format = detail::wire_format;
namespace header = via::header;

Bundle::Passed::Passed(Bundle& bundle) noexcept : bundle_(bundle) {
  if (bundle.calls_ == nullptr || bundle.context_.nic().transport() != nullptr) return;
  passed_ = bundle.calls_->try_pass(bundle.gate_);
  // In a forked child a handler seems to run.
  if (passed_ && bundle.slow_ != bundle.depth_base_) {
    bundle.calls_->go_out(bundle.gate_);
    passed_ = false;
  }
}

Bundle::Passed::~Passed() {
  if (passed_) bundle_.calls_->go_out(bundle_.gate_);
}

/// As Bundle::dispatch, in two steps: the message is taken only where its handler can run at once.
struct Bundle::FastReceiver {
  Bundle& bundle;
  Thunk thunk = nullptr;

  [[nodiscard]] bool accepts(via::channel::Channel& vi, std::uint64_t head) noexcept {
    const auto& map = *static_cast<const Map*>(vi.context());
    const std::uint64_t client = header::client(head);
    const std::uint64_t special = client & ~wire_format::handler_mask;
    const std::uint32_t id = wire_format::handler(client);
    if (special != 0 && !is_reply(special)) return false;
    if (map.deferred_count != 0 || header::extra_lines(head) != 0 || id < kOwnHandlers ||
        id >= map.thunk_count || map.state != Map::State::connected)
      return false;
    thunk = map.thunks[id];
    return thunk != nullptr;
  }
  void operator()(via::channel::Channel& vi, via::Slot& slot, std::uint64_t head) noexcept {
    auto& map = *static_cast<Map*>(vi.context());
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
bool Bundle::poll_fast(std::uint32_t& n) noexcept {
  if (deferred_total_ != 0 || unfinished_) return false;
  FastReceiver receiver{*this};
  bool more = false;
  n += group_->drain_accepted(kBatch, receiver, more);
  return !more && !unfinished_;
}

/// A short request over a connection of this host, with the credit and the room that it needs;
/// polls while these lack.  @return false: nothing was sent, and the long way is to be taken.
bool Endpoint::send_fast(const Outgoing& out) noexcept {
  constexpr int kAttempts = 64;
  if (wire_format::operation(out.client) != Operation::short_message || out.call != nullptr ||
      out.count > via::kWordsPerSlot)
    return false;
  for (int attempt = 0; attempt < (out.wait ? kAttempts : 1); ++attempt) {
    const Bundle::Passed passed(bundle_);
    if (!passed || value(out.to) >= maps_.size()) return false;
    Map& map = *maps_[value(out.to)];
    if (map.state != Map::State::connected || map.retagged) return false;
    std::uint32_t n = 0;
    if ((map.credits != 0 || map.refill_credits()) && map.vi->refresh_room(1)) {
      const Sent sent = send_words(map, out.client, out.words, out.count, out.arg_bytes);
      if (sent == Sent::yes) {
        --map.credits;
        if (--bundle_.until_poll_ == 0) {
          bundle_.until_poll_ = bundle_.poll_every_;
          if (wait_run_ == Bundle::Run::all) (void)bundle_.poll_fast(n);
        }
        return true;
      }
    }
    if (wait_run_ != Bundle::Run::all || !bundle_.poll_fast(n)) return false;
  }
  return false;
}

}  // namespace viaduct::am
