#pragma once
/// @file
/// Byte layouts of provider shm: what the processes of one host share. Everything here lies in
/// memfd windows (runtime/segment.hpp), is addressed by offsets, and starts out zero.
///
/// A connection has one *channel* per direction, in the sender's window:
///
///     0     ReceiverLine   128 bytes   written by the receiver: receives posted, client counters
///     128   NotifyLine     128 bytes   written by the receiver when it goes to sleep or puts
///                                      the channel aside
///     256   Slot[n]        64 n bytes  written by the sender: one message a line, header last
///     ..    PostedInfo[n]  16 n bytes  written by the receiver: where larger sends are to land
///                                      (absent when it takes inline messages only)
///
/// Slot: seven words of payload, then the header, whose phase bit is the slot's own "full" mark: a
/// message is one cache line and its publication one release store. Slot i of lap l (message i + n
/// l) is full when the phase bit is (l + 1) & 1, so that zeroed memory is empty.
///
///     bit  0      phase
///     bits 1-3    kind (MessageKind)
///     bits 4-5    continuation lines that follow, already written (0 to 2)
///     bit  6      an immediate value is in word 6
///     bit  7      remote RDMA write (status of the receive says so)
///     bits 8-15   payload bytes in this line and its continuations (0 to 168)
///     bits 16-63  client word: 48 bits for the layer above, at no cost

#include <array>
#include <cstddef>
#include <cstdint>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/via/control_message.hpp"

namespace viaduct::via::shm {

inline constexpr std::uint32_t kWordsPerSlot = 7;
inline constexpr std::uint32_t kInlineBytes = 8 * kWordsPerSlot;
inline constexpr std::uint32_t kMaxLines = 3;  // of one inline message

struct alignas(kCacheLineBytes) Slot {
  std::uint64_t words[kWordsPerSlot];
  AtomicWord<std::uint64_t> header;

  /// One word at a time. A compiler that is free to do so makes vectors of several; one that was
  /// written to memory in parts a moment ago is read back only after all stores before it, and a
  /// stream of messages stops for each line.  Cost: one store.
  void put(std::uint32_t i, std::uint64_t value) noexcept { store_word(words[i], value, kRelaxed); }
  /// @return word @p i.  Cost: one load.
  [[nodiscard]] std::uint64_t get(std::uint32_t i) noexcept {
    return load_word(words[i], kRelaxed);
  }
};
static_assert(sizeof(Slot) == kCacheLineBytes && offsetof(Slot, header) == 56);

enum class MessageKind : std::uint8_t {
  none,
  inline_data,   // the payload is in the line(s)
  delivered,     // the payload is already in the posted receive; word 0: its length
  staged,        // word 0: length, word 1: offset of a StagedBlock in the sender's window
  too_long,      // word 0: length; too long for the posted receive, or that one is refused
  continuation,  // further line of an inline message
};

namespace header {
inline constexpr std::uint64_t phase_bit = 1;
inline constexpr unsigned kind_shift = 1;
inline constexpr std::uint64_t kind_mask = 0x7ULL << kind_shift;
inline constexpr unsigned lines_shift = 4;
inline constexpr std::uint64_t immediate_bit = 0x40;
inline constexpr std::uint64_t rdma_bit = 0x80;
inline constexpr unsigned length_shift = 8;
inline constexpr unsigned client_shift = 16;

/// @return a header without phase, extra lines and flags.  Precondition: @p length is below 256,
/// @p client below 2^48.
[[nodiscard]] constexpr std::uint64_t make(MessageKind kind, std::uint32_t length,
                                           std::uint64_t client) noexcept {
  return (client << client_shift) | (std::uint64_t{length} << length_shift) |
         (std::uint64_t{static_cast<std::uint8_t>(kind)} << kind_shift);
}
/// @return what the line holds.
[[nodiscard]] constexpr MessageKind kind(std::uint64_t h) noexcept {
  return static_cast<MessageKind>((h & kind_mask) >> kind_shift);
}
/// @return the number of continuation lines.
[[nodiscard]] constexpr std::uint32_t extra_lines(std::uint64_t h) noexcept {
  return static_cast<std::uint32_t>(h >> lines_shift) & 0x3;
}
/// @return the payload bytes in this line and its continuations.
[[nodiscard]] constexpr std::uint32_t length(std::uint64_t h) noexcept {
  return static_cast<std::uint32_t>(h >> length_shift) & 0xFF;
}
/// @return whether @p h is the header of an inline message, whatever its phase and lines.
[[nodiscard]] constexpr bool is_plain(std::uint64_t h) noexcept {
  return kind(h) == MessageKind::inline_data && (h & (immediate_bit | rdma_bit)) == 0;
}
/// @return the 48 bits of the layer above.
[[nodiscard]] constexpr std::uint64_t client(std::uint64_t h) noexcept { return h >> client_shift; }
}  // namespace header

struct alignas(kDestructivePairBytes) ReceiverLine {
  // Messages the sender may write in all: slot i is free when i < posted.
  AtomicWord<std::uint64_t> posted;
  // Of the layer above, receiver to sender, at no message's cost.
  AtomicWord<std::uint64_t> client_counter[2];
  // Remote VIs: those three with their check words, as a device brings them.
  AtomicWord<std::uint64_t> checked[3];
};

/// Counters that a device writes while they are read. A device need not write a word at once, nor
/// its bytes in order (Soft-RoCE may copy byte by byte: 0x2fff on its way to 0x3000 was read as
/// 0x2f00). So a word holds the low half of the counter and a hash of that half: when they do not
/// fit, the word is not whole. Bytes of the old word and of the new one fit by chance alone
/// (docs/decisions/012-half-written-words.md).
namespace checked_counter {
/// @return the hash that the upper half of a counter's word holds.
[[nodiscard]] constexpr std::uint32_t hash_of(std::uint32_t low) noexcept {
  return ~static_cast<std::uint32_t>((low * 0x9E3779B97F4A7C15ULL) >> 32);
}
/// @return the word for the counter @p value: the low half, and the hash of that half.
[[nodiscard]] constexpr std::uint64_t word_of(std::uint64_t value) noexcept {
  const auto low = static_cast<std::uint32_t>(value);
  return std::uint64_t{hash_of(low)} << 32 | low;
}
/// The counter that was @p before, moved on to what @p word says; @p before if that is not whole or
/// older.  Precondition: it moves on by less than 2^31 between two looks.
[[nodiscard]] constexpr std::uint64_t take(std::uint64_t word, std::uint64_t before) noexcept {
  const auto low = static_cast<std::uint32_t>(word);
  const auto ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(before));
  const bool whole = static_cast<std::uint32_t>(word >> 32) == hash_of(low);
  return whole && ahead > 0 ? before + static_cast<std::uint32_t>(ahead) : before;
}
}  // namespace checked_counter

struct alignas(kDestructivePairBytes) NotifyLine {
  AtomicWord<std::uint32_t> wanted;    // 1: ring the doorbell after writing a message
  AtomicWord<std::uint32_t> attached;  // 1: the receiver reads this channel, PostedInfo is valid
};

/// Where the receive that message i consumes wants its data (entry i mod n).
struct PostedInfo {
  // Window offset, the owner's address when `kind` is private, its status when refused.
  std::uint64_t place;
  std::uint32_t length;  // capacity
  enum class Kind : std::uint32_t { indirect, window, owner_private, refused };
  Kind kind;  // refused: a bad descriptor
};
static_assert(sizeof(PostedInfo) == 16);

struct ChannelHead {
  ReceiverLine receiver;
  NotifyLine notify;
  /// @return the first slot.
  Slot* slots() noexcept { return reinterpret_cast<Slot*>(this + 1); }
  /// @return the first entry behind @p slot_count slots.  Precondition: the channel is not inline
  /// only.
  PostedInfo* posted_info(std::uint32_t slot_count) noexcept {
    return reinterpret_cast<PostedInfo*>(slots() + slot_count);
  }
  /// @return the bytes of a channel, without what its client adds.
  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t slot_count,
                                                       bool inline_only) noexcept {
    return 256 + slot_count * (sizeof(Slot) + (inline_only ? 0 : sizeof(PostedInfo)));
  }
};
static_assert(sizeof(ChannelHead) == 256);

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

/// What a request or an accept brings (via/control_message.hpp): where its writer's channel lies.
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
// Flag in the shape of an end, beside its reliability level.
inline constexpr std::uint32_t kInlineOnly = 0x80;

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
  AtomicWord<std::uint32_t> closed;  // 1: the NIC is no more, and nobody reads its mailbox
  // Of a u64 on a line of its own, which the NICs of a rank may share: 1 when a control message has
  // come, or a doorbell bit of some completion queue has been set.
  std::uint64_t attention_offset;
  alignas(kCacheLineBytes) AtomicWord<std::uint32_t> control_waiting;  // 1: some bit below is set
  alignas(kCacheLineBytes)
      AtomicWord<std::uint64_t> mailbox_words[1];  // [(job size + 63) / 64], bit per sender
};

}  // namespace viaduct::via::shm
