#include "via/generations/src/v3.hpp"

#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::generations {

V3::V3(const Common& common, const Room& room, void* owner)
    : lane_(common, {kLargest + 64, 2 * credits(room), 2 * credits(room) + 1, kOtherSends},
            {owner, 0}),
      credits_(static_cast<std::uint16_t>(2 * credits(room))) {
  static_assert(kHeadBytes <= 64);
}

Status V3::start(Rank peer, std::uint64_t name, const RingName& /*theirs*/) {
  return lane_.vi().connect_peer_start(peer, name);
}

bool V3::send(const Outgoing& out) noexcept {
  if (!credits_.any() || !post(out)) return false;
  credits_.use();
  return true;
}

bool V3::post(const Outgoing& out) noexcept {
  std::byte* const buffer = lane_.free_buffer();
  if (buffer == nullptr) return false;
  Head head{};
  head.taken[0] = credits_.taken();
  if (!lane_.send(write_message(buffer, head, out))) return false;
  credits_.told();
  return true;
}

bool V3::received(const Completion& done, Receiver& receiver) noexcept {
  VIADUCT_PART(processing);
  Incoming in;
  if (!read_message(lane_.message(*done.descriptor), receiver.half_bytes(), in)) return false;
  if (!credits_.learn(in.head.taken[0])) return false;
  const bool counts = (in.head.flags & flag::credits) != 0;
  if (!counts && !receiver.apply(in)) return false;
  if (!lane_.repost(*done.descriptor)) return false;
  return counts || credits_.take();
}

bool V3::give_credits() noexcept {
  return !credits_.due() || post({{}, nullptr, 0, 0, flag::credits});
}

}  // namespace viaduct::via::generations
