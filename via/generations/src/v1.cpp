#include "via/generations/src/v1.hpp"

#include <algorithm>
#include <cstring>

#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::generations {

V1::V1(const Common& common, const Room& room, void* owner)
    : lanes_{Lane(common,
                  {kBytes[0] + 64, room.messages + kSizes, room.messages + kSizes, kOtherSends},
                  {owner, 0}),
             Lane(common, {kBytes[1] + 64, kMediumCredits, kMediumCredits, 0}, {owner, 1}),
             Lane(common, {kBytes[2] + 64, kBulkCredits, kBulkCredits, 0}, {owner, 2})},
      credits_{Credits(static_cast<std::uint16_t>(room.messages)), Credits(kMediumCredits),
               Credits(kBulkCredits)},
      early_{Early(room.messages + kSizes), Early(kMediumCredits), Early(kBulkCredits)} {}

Status V1::start(Rank peer, std::uint64_t name, const RingName& /*theirs*/) {
  for (std::uint32_t size = 0; size < kSizes; ++size)
    if (const Status status = lanes_[size].vi().connect_peer_start(peer, name + size);
        status != Status::ok)
      return status;
  return Status::ok;
}

Status V1::connected() noexcept {
  Status all = Status::ok;
  for (Lane& lane : lanes_) {
    const Status status = lane.vi().connect_peer_done();
    if (status != Status::ok && status != Status::retry) return status;
    if (status == Status::retry) all = Status::retry;
  }
  return all;
}

bool V1::send(const Outgoing& out) noexcept {
  std::uint32_t size = kShort;
  while (out.bytes > kBytes[size]) ++size;
  return send_by(size, out);
}

bool V1::send_by(std::uint32_t size, const Outgoing& out) noexcept {
  // A message by another VI could overtake a write: a short one without bytes goes between them.
  if (write_is_last_ && size != kShort && !send_by(kShort, {{}, nullptr, 0, 0, 0})) return false;
  if (!credits_[size].any() || !post(size, out)) return false;
  if (size == kShort) write_is_last_ = false;
  credits_[size].use();
  ++next_out_;
  return true;
}

bool V1::post(std::uint32_t size, const Outgoing& out) noexcept {
  std::byte* const buffer = lanes_[size].free_buffer();
  if (buffer == nullptr) return false;
  Head head{};
  head.number = next_out_;
  for (std::size_t i = 0; i < kSizes; ++i) head.taken[i] = credits_[i].taken();
  if (!lanes_[size].send(write_message(buffer, head, out))) return false;
  // The peer learns counts from short messages alone: messages of one VI are in order.
  if (size == kShort)
    for (Credits& each : credits_) each.told();
  return true;
}

bool V1::received(const Completion& done, Receiver& receiver) noexcept {
  VIADUCT_PART(processing);
  const std::uint32_t size = place_of(done).which;
  Incoming in;
  if (!read_message(lanes_[size].message(*done.descriptor), receiver.half_bytes(), in))
    return false;
  for (std::size_t i = 0; i < kSizes && size == kShort; ++i)
    if (!credits_[i].learn(in.head.taken[i])) return false;
  if ((in.head.flags & flag::credits) != 0) return lanes_[size].repost(*done.descriptor);
  early_[size].push(*done.descriptor);
  for (bool taken = true; taken;) {
    taken = false;
    for (std::uint32_t i = 0; i < kSizes; ++i)
      if (!take_next(i, receiver, taken)) return false;
  }
  return true;
}

/// Takes the messages of one VI whose turn has come. False: one makes no sense.
bool V1::take_next(std::uint32_t size, Receiver& receiver, bool& taken) noexcept {
  while (!early_[size].empty()) {
    Descriptor& descriptor = early_[size].front();
    const std::span<const std::byte> message = lanes_[size].message(descriptor);
    Head head;
    std::memcpy(&head, message.data(), sizeof head);
    if (head.number != next_in_) return true;
    Incoming in;
    if (!read_message(message, receiver.half_bytes(), in) || !receiver.apply(in)) return false;
    early_[size].pop();
    ++next_in_;
    taken = true;
    if (!lanes_[size].repost(descriptor) || !credits_[size].take()) return false;
  }
  return true;
}

bool V1::give_credits() noexcept {
  for (const Credits& each : credits_)
    if (each.due()) return post(kShort, {{}, nullptr, 0, 0, flag::credits});
  return true;
}

bool V1::quiet() const noexcept {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.quiet(); });
}

}  // namespace viaduct::via::generations
