#pragma once
/// @file
/// Byte layouts of provider shm in the memory that the processes of one host share, besides rings
/// (slot.hpp). Everything here lies in memfd windows (runtime/segment.hpp), is addressed by
/// offsets, and starts out zero.
///
/// The ring of a VI has an entry for each slot behind its slots:
///
///     ..    PostedInfo[n]  16 n bytes   written by the receiver: where larger sends are to land
///     ..    SegmentList[n] 256 n bytes  at reliable reception only: the same of receives with
///                                       several segments

#include <array>
#include <cstddef>
#include <cstdint>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/via/control_message.hpp"
#include "viaduct/via/slot.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via::shm {

/// Where the receive that message i consumes wants its data (entry i mod n).
struct PostedInfo {
  // Window offset, the owner's address when `kind` is private, its status when refused, the number
  // of segments of a list.
  std::uint64_t place;
  std::uint32_t length;  // capacity
  enum class Kind : std::uint32_t { indirect, window, owner_private, refused, list };
  Kind kind;  // refused: a bad descriptor
};
static_assert(sizeof(PostedInfo) == 16);

/// The segments of a receive whose entry is a list: at reliable reception a send completes when its
/// data are in the receive, whatever the receiver does meanwhile.
using SegmentList = std::array<PostedInfo, kMaxSegments>;

/// @return the first entry of a VI's ring behind @p head and @p slots slots.
[[nodiscard]] inline PostedInfo* posted_info(ChannelHead& head, std::uint32_t slots) noexcept {
  return reinterpret_cast<PostedInfo*>(head.slots() + slots);
}
/// @return the first list of the ring of a VI of reliable reception.
[[nodiscard]] inline SegmentList* segment_lists(ChannelHead& head, std::uint32_t slots) noexcept {
  return reinterpret_cast<SegmentList*>(posted_info(head, slots) + slots);
}
/// @return the bytes of a VI's ring of @p slots slots.
[[nodiscard]] constexpr std::size_t ring_bytes_of_vi(std::uint32_t slots,
                                                     Reliability level) noexcept {
  const std::size_t list = level == Reliability::reception ? sizeof(SegmentList) : 0;
  return ChannelHead::bytes_for(slots) + slots * (sizeof(PostedInfo) + list);
}

/// Copy of a larger send that could not go straight to its place, in the sender's window; the data
/// follows.
struct alignas(kCacheLineBytes) StagedBlock {
  AtomicWord<std::uint32_t> taken;  // 1: the receiver has copied it out
};

/// Doorbell of one completion queue, in its owner's window. A bit of `words` stands for a VI of the
/// queue whose channel is set aside; bit w of `summary` for a word that is not zero. The last bit
/// of `summary` is set for ever once the queue has a VI whose messages a transport brings.
struct CqDoorbell {
  alignas(kCacheLineBytes) AtomicWord<std::uint64_t> summary;
  alignas(kCacheLineBytes) std::array<AtomicWord<std::uint64_t>, 64> words;
};
inline constexpr std::uint32_t kMaxQueueVis = 63 * 64;
inline constexpr std::uint64_t kTransportBit = std::uint64_t{1} << 63;

/// The data of a request or an accept (via/control_message.hpp): the place of its writer's channel.
struct ChannelOffer {
  std::uint64_t channel = 0;   // offset of the channel that the writer will send on
  std::uint64_t doorbell = 0;  // offset of the CqDoorbell that the writer wants rung
  std::uint32_t tag = 0;
  std::uint16_t doorbell_bit = 0;
  std::uint8_t slots_log2 = 0;
  std::uint8_t reserved = 0;
};
static_assert(sizeof(ChannelOffer) == 24);

/// Control messages, for connections only: one entry per ordered pair of ranks in the receiver's
/// window. The sender fills it when it is empty, the receiver empties it: nothing can be left half
/// claimed by a process that dies.
struct alignas(kCacheLineBytes) MailboxEntry {
  AtomicWord<std::uint32_t> full;
  std::uint32_t reserved;
  std::array<std::byte, 56> message;  // as encode() writes it
};
static_assert(sizeof(MailboxEntry) == 64 &&
              sizeof(ControlHead) + sizeof(ChannelOffer) <= sizeof(MailboxEntry::message));
// Flag in the shape of an end: it is that of a channel, and not of a VI.
inline constexpr std::uint32_t kOfChannel = 0x80;

/// A registered region as peers see it; the initiator of an RDMA operation checks it, as a NIC
/// would.
struct alignas(kCacheLineBytes) RegionEntry {
  AtomicWord<std::uint32_t> handle;  // zero: free
  std::uint32_t tag;
  std::uint32_t rights;
  std::uint32_t in_window;  // 1: at window_offset
  std::uint64_t address;    // in the owner's address space
  std::uint64_t bytes;
  std::uint64_t window_offset;
  AtomicWord<std::uint32_t> writable;  // of Nic::may_write(), in the owner's process
};
static_assert(sizeof(RegionEntry) == 64);

/// The page by which peers find a NIC; its offset travels in the bootstrap.
struct NicPage {
  static constexpr std::uint64_t kMagic = 0x5649415F53484D32;  // "VIA_SHM2"
  std::uint64_t magic;
  std::uint64_t mailbox_offset;  // MailboxEntry[job size], indexed by the sender's rank
  std::uint64_t regions_offset;  // RegionEntry[max_regions]
  std::uint32_t max_regions;
  std::int32_t pid;
  AtomicWord<std::uint32_t> closed;  // 1: the NIC has ended, and reads its mailbox no more
  // Of a u64 on a line of its own, which the NICs of a rank may share: 1 when a control message has
  // come, or a doorbell bit of some completion queue has been set.
  std::uint64_t attention_offset;
  // Odd while the rank copies into or out of the memory of another one (Nic::Copying).
  alignas(kCacheLineBytes) AtomicWord<std::uint64_t> copies;
  alignas(kCacheLineBytes) AtomicWord<std::uint32_t> control_waiting;  // 1: some bit below is set
  alignas(kCacheLineBytes)
      AtomicWord<std::uint64_t> mailbox_words[1];  // [(job size + 63) / 64], bit per sender
};

}  // namespace viaduct::via::shm
