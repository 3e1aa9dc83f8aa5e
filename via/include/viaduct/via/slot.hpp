#pragma once
/// @file
/// A slot: 64 bytes, which hold a message of up to seven words. A longer message takes up to three
/// slots. Slots lie in rings, one for each direction of a connection (docs/channel.md).
///
/// A ring lies behind a ChannelHead, in memory of its sender's:
///
///     0     ReceiverLine   128 bytes   written by the receiver: slots it has freed, its counters
///     128   NotifyLine     128 bytes   written by the receiver when it goes to sleep or puts the
///                                      ring aside
///     256   Slot[n]        64 n bytes  written by the sender: one message a slot, header last
///
/// Slot: seven words of payload, then the header, whose phase bit is the slot's own "full" mark: a
/// message is one cache line and its publication one release store. Slot i of lap l (message i + n
/// l) is full when the phase bit is (l + 1) & 1, so that zeroed memory is empty.
///
///     bit  0      phase
///     bits 1-3    kind (MessageKind)
///     bits 4-5    continuation slots that follow, already written (0 to 2)
///     bit  6      an immediate value is in word 6
///     bit  7      remote RDMA write (status of the receive says so)
///     bits 8-15   payload bytes in this slot and its continuations (0 to 168)
///     bits 16-63  client word: 48 bits for the layer above, at no cost

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::via {

inline constexpr std::uint32_t kWordsPerSlot = 7;
inline constexpr std::uint32_t kInlineBytes = 8 * kWordsPerSlot;
inline constexpr std::uint32_t kMaxLines = 3;  // of one inline message

struct alignas(kCacheLineBytes) Slot {
  std::uint64_t words[kWordsPerSlot];
  AtomicWord<std::uint64_t> header;

  /// Stores one word at a time. A compiler that is free to do so makes vectors of several words. A
  /// vector that was written to memory in parts a moment ago is read back only after all stores
  /// before it, and a stream of messages stops for each slot.  Cost: one store.
  void put(std::uint32_t i, std::uint64_t value) noexcept { store_word(words[i], value, kRelaxed); }
  /// All @p values from word 0 on, each by a store of its own. A loop over three or more of them
  /// made the compiler keep them in memory first, and copy them from there.  Cost: N stores.
  template <std::size_t N>
  [[gnu::always_inline]] void put(const std::array<std::uint64_t, N>& values) noexcept {
    put_each(values, std::make_index_sequence<N>());
  }
  /// Words 0 and 1 by one store. Both are taken from registers: see put().  Cost: one store.
  [[gnu::always_inline]] void put_pair(std::uint64_t first, std::uint64_t second) noexcept {
#if defined(__SANITIZE_THREAD__)
    put(0, first);
    put(1, second);
#else
    using Pair [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
    asm("" : "+r"(first), "+r"(second));
    *reinterpret_cast<Pair*>(words) = Pair{first, second};
#endif
  }
  /// @return word @p i.  Cost: one load.
  [[nodiscard]] std::uint64_t get(std::uint32_t i) noexcept {
    return load_word(words[i], kRelaxed);
  }
  /// All seven words at @p from, each by a store of its own.  Cost: seven loads and stores.
  void put_line(const std::uint64_t* from) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (put(I, from[I]), ...); }
    (std::make_index_sequence<kWordsPerSlot>());
  }
  /// Copies all seven words to @p to.  Cost: four loads and stores; no call.
  void get_line(std::uint64_t* to) const noexcept { std::memcpy(to, words, kInlineBytes); }

 private:
  template <std::size_t N, std::size_t... I>
  [[gnu::always_inline]] void put_each(const std::array<std::uint64_t, N>& values,
                                       std::index_sequence<I...>) noexcept {
    (put(I, values[I]), ...);
  }
};
static_assert(sizeof(Slot) == kCacheLineBytes && offsetof(Slot, header) == 56);

enum class MessageKind : std::uint8_t {
  none,
  inline_data,   // the payload is in the slot(s)
  delivered,     // the payload is already in the posted receive; word 0: its length
  staged,        // word 0: length, word 1: offset of a StagedBlock in the sender's window
  too_long,      // word 0: length; too long for the posted receive, or that one is refused
  continuation,  // further slot of an inline message
};

namespace header {
inline constexpr std::uint64_t phase_bit = 1;
inline constexpr unsigned kind_shift = 1;
inline constexpr std::uint64_t kind_mask = 0x7ULL << kind_shift;
inline constexpr unsigned lines_shift = 4;
inline constexpr std::uint64_t lines_mask = 0x3ULL << lines_shift;
inline constexpr std::uint64_t immediate_bit = 0x40;
inline constexpr std::uint64_t rdma_bit = 0x80;
inline constexpr unsigned length_shift = 8;
inline constexpr unsigned client_shift = 16;

/// @return a header without phase, extra slots and flags.  Precondition: @p length is below 256,
/// @p client below 2^48.
[[nodiscard]] constexpr std::uint64_t make(MessageKind kind, std::uint32_t length,
                                           std::uint64_t client) noexcept {
  return (client << client_shift) | (std::uint64_t{length} << length_shift) |
         (std::uint64_t{static_cast<std::uint8_t>(kind)} << kind_shift);
}
/// @return the kind of message that the slot holds.
[[nodiscard]] constexpr MessageKind kind(std::uint64_t h) noexcept {
  return static_cast<MessageKind>((h & kind_mask) >> kind_shift);
}
/// @return the number of continuation slots.
[[nodiscard]] constexpr std::uint32_t extra_lines(std::uint64_t h) noexcept {
  return static_cast<std::uint32_t>(h >> lines_shift) & 0x3;
}
/// @return the payload bytes in this slot and its continuations.
[[nodiscard]] constexpr std::uint32_t length(std::uint64_t h) noexcept {
  return static_cast<std::uint32_t>(h >> length_shift) & 0xFF;
}
/// @return whether @p h is the header of an inline message, with any phase and number of slots.
[[nodiscard]] constexpr bool is_plain(std::uint64_t h) noexcept {
  return (h & (kind_mask | immediate_bit | rdma_bit)) == make(MessageKind::inline_data, 0, 0);
}
/// @return the 48 bits of the layer above.
[[nodiscard]] constexpr std::uint64_t client(std::uint64_t h) noexcept { return h >> client_shift; }
}  // namespace header

struct alignas(kDestructivePairBytes) ReceiverLine {
  // Messages the sender may write in all: slot i is free when i < posted.
  AtomicWord<std::uint64_t> posted;
  // Counters of the layer above, receiver to sender, at no message's cost.
  AtomicWord<std::uint64_t> client_counter[2];
  // Remote channels: those three with their check words, as a device writes them.
  AtomicWord<std::uint64_t> checked[3];
  // 1: the receiver's program has its receives back, or is about to. No sender writes into them.
  AtomicWord<std::uint64_t> closed;
};

/// Counters that the CPU may read while a device is still writing them. A device need not write a
/// word at once, nor its bytes in order (Soft-RoCE may copy byte by byte: 0x2fff on its way to
/// 0x3000 was read as 0x2f00). So a word holds the low half of the counter and a hash of that half:
/// when the two do not fit, the word is not whole. Bytes of the old word and of the new one fit by
/// chance alone (docs/decisions/012-half-written-words.md).
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
/// The counter that was @p before, moved on to the value in @p word; @p before if the word is not
/// whole, or older.  Precondition: it moves on by less than 2^31 between two looks.
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

struct ChannelHead {
  ReceiverLine receiver;
  NotifyLine notify;
  /// @return the first slot.
  Slot* slots() noexcept { return reinterpret_cast<Slot*>(this + 1); }
  /// @return the bytes of a head and @p slots slots.
  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t slots) noexcept {
    return 256 + slots * sizeof(Slot);
  }
};
static_assert(sizeof(ChannelHead) == 256);

}  // namespace viaduct::via
