#pragma once
/// @file
/// The medium ring of a MAP: payloads of up to half its size, each contiguous and 64-byte aligned,
/// in message order.
///
/// Positions count bytes for ever; a payload that would cross the end starts at the next lap
/// instead. Both sides compute the same positions, so only the start travels, as a check. The
/// receiver holds a payload until its handler has returned, and gives bytes back in order:
/// `released` in the receiver's counter 1.

#include <array>
#include <cstddef>
#include <cstdint>

#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/runtime/ring_queue.hpp"

namespace viaduct::am::detail {

/// Between ranks that share memory a gap lies behind payloads of up to kShortPayload bytes. A
/// processor that reads a payload line by line fetches some lines more. Without the gap these are
/// the first lines of the next payload, which its sender then has to fetch back.
inline constexpr std::uint64_t kShortPayload = 1024;
inline constexpr std::uint32_t kGapBytes = 512;

/// What both sides know alike.
struct MediumArea {
  std::byte* ring = nullptr;
  std::uint32_t size = 0;
  std::uint32_t gap = 0;

  /// The bytes that a payload of @p length bytes takes.
  [[nodiscard]] std::uint64_t room(std::uint64_t length) const noexcept {
    const std::uint64_t lines = (length + 63) & ~std::uint64_t{63};
    return length - 1 < kShortPayload ? lines + gap : lines;
  }
  /// Where a payload that takes @p bytes bytes lies that comes behind position @p head.
  [[nodiscard]] std::uint64_t start(std::uint64_t head, std::uint64_t bytes) const noexcept {
    const std::uint64_t at = head & (size - 1);
    return at + bytes > size ? head + (size - at) : head;
  }
};

/// Sender's side.
struct MediumSend : MediumArea {
  std::uint64_t head = 0;
  std::uint64_t released = 0;  // as last read from the receiver's counter
  bool hands_over = false;     // whether the lines of the last payload were handed over

  /// Position for @p length bytes, or false when there is no room as far as is known.
  [[nodiscard]] bool fits(std::uint32_t length, std::uint64_t& at) const noexcept {
    at = start(head, room(length));
    return at + room(length) - released <= size;
  }
  /// After a payload of @p length bytes: begins to fetch the lines of the next one, which the
  /// receiver has read in the lap before. They come while the sender waits for an answer. Longer
  /// payloads came later with this than without.
  void claim_next(std::uint64_t length) const noexcept {
    std::uint64_t at = 0;
    if (length > kShortPayload || gap == 0 || !fits(static_cast<std::uint32_t>(length), at)) return;
    const std::byte* const next = ring + (at & (size - 1));
    for (std::uint64_t i = 0; i < length; i += 64) prefetch_to_write(next + i);
  }
};

/// Receiver's side.
struct MediumReceive : MediumArea {
  std::uint64_t next = 0;   // the next payload is expected here
  std::uint64_t freed = 0;  // all payloads up to here are freed
  std::uint32_t last_length = 0;
  struct {
    std::uint32_t place = 0;
    std::uint32_t length = 0;
  } to_hand_back;

  struct Held {
    std::uint64_t end;
    bool done;
  };
  RingQueue<Held> held;     // payloads not yet freed, oldest first
  std::uint64_t first = 0;  // number of held.front()

  /// Enters an arrived payload; answers its number. The start the sender named must be the
  /// one expected, and the payload must not lie on one that is still held.
  [[nodiscard]] bool arrive(std::uint32_t place, std::uint32_t length, std::uint64_t& number) {
    const std::uint64_t bytes = room(length);
    const std::uint64_t at = start(next, bytes);
    if ((at & (size - 1)) != place || bytes > size || at + bytes - freed > size) return false;
    next = at + bytes;
    last_length = length;
    to_hand_back = {place, length};
    number = first + held.size();
    held.push({next, false});
    return true;
  }
  /// Begins to fetch the next payload, as if it were as long as the last one, where that is a short
  /// one.
  void fetch_next() const noexcept {
    if (last_length > kShortPayload) return;
    const std::byte* const at = ring + (start(next, room(last_length)) & (size - 1));
    for (std::uint32_t i = 0; i < last_length; i += 64) prefetch_line(at + i);
  }
  /// Hands the lines of the last payload back, once, if it has at most @p most bytes: its sender
  /// writes them again in the next lap.
  void hand_back(std::size_t most) noexcept {
    if (to_hand_back.length <= most)
      for (std::uint32_t i = 0; i < to_hand_back.length; i += 64)
        demote_line(ring + to_hand_back.place + i);
    to_hand_back.length = 0;
  }
  /// The handler has returned: answers how far the ring is free now (0: no change).
  [[nodiscard]] std::uint64_t done(std::uint64_t number) noexcept {
    held[number - first].done = true;
    std::uint64_t free = 0;
    while (!held.is_empty() && held.front().done) {
      free = freed = held.front().end;
      held.pop();
      ++first;
    }
    return free;
  }
};

}  // namespace viaduct::am::detail
