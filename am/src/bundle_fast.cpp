/// The short calls of parallel bundles: they need the bundle alone, and run behind its gate.

#include "am/src/bundle_fast.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace viaduct::am {

std::uint32_t Bundle::poll_guarded(Run run) noexcept {
  std::uint32_t n = 0;
  if (run == Run::all) {
    const Passed passed(*this);
    if (passed && poll_fast(n)) [[likely]]
      return n;
  }
  return n + poll_long(run);
}

namespace detail {

namespace header = via::header;

namespace {

/// A message of one line, where there is a connection with credit and room for it.
[[gnu::always_inline]] inline bool send_line(EndpointCore& core, const Outgoing& out) noexcept {
  if (value(out.to) >= core.table.size()) [[unlikely]]
    return false;
  Map& map = core.table.map_of(out.to);
  if (map.state != Map::State::connected || map.tags.changed) [[unlikely]]
    return false;
  if (!map.has_credit()) [[unlikely]]
    return false;
  via::Slot* const slot = map.channel->claim();
  if (slot == nullptr) [[unlikely]]
    return false;
  for (std::uint32_t i = 0; i < out.count; ++i) slot->put(i, out.words[i]);
  map.channel->publish(*slot,
                       header::make(via::MessageKind::inline_data, out.arg_bytes, out.client));
  return true;
}

}  // namespace

/// The sends of a parallel bundle. A short request, and the poll that it makes, need the bundle's
/// gate alone.
Status EndpointCore::send_shared(const Outgoing& out) noexcept {
  if (wire_format::operation(out.client) != Operation::short_message || out.call != nullptr ||
      out.count > via::kWordsPerSlot)
    return send_long(out);
  bool polled = true;
  Bundle::Run run = Bundle::Run::all;
  {
    const Bundle::Passed passed(bundle);
    if (!passed || !send_line(*this, out)) [[unlikely]]
      polled = false;
    else if (!table.map_of(out.to).is_poll_due(dispatcher().pace))
      return Status::ok;
    else {
      std::uint32_t n = 0;
      run = wait_run;
      if (run == Bundle::Run::all && bundle.poll_fast(n)) return Status::ok;
    }
  }
  if (!polled) return send_after_polls(out);
  (void)bundle.poll_long(run);
  return Status::ok;
}

/// After a first attempt without success: polls until there is credit and room. If that is not
/// enough, sends by the long path.
Status EndpointCore::send_after_polls(const Outgoing& out) noexcept {
  constexpr int kAttempts = 64;
  for (int attempt = 0; attempt < (out.wait ? kAttempts : 0); ++attempt) {
    const Bundle::Passed passed(bundle);
    std::uint32_t n = 0;
    if (!passed || wait_run != Bundle::Run::all || !bundle.poll_fast(n)) break;
    if (send_line(*this, out)) return Status::ok;
  }
  return send_long(out);
}

}  // namespace detail

}  // namespace viaduct::am
