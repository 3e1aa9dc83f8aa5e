#pragma once
/// @file
/// The bytes of Active Messages in a line: the 48-bit client word of the slot header, and the words
/// before the arguments.
///
///     bits 0-15   handler (handler number; the receiver checks it against its table)
///     bits 16-17  kind: request, reply, returned request, returned reply
///     bits 18-19  operation: short, medium, bulk, get
///     bits 20-23  why it is returned (Undeliverable)
///     bit 24      medium reply: word 0 is the offset of the replier's OverflowBlock
///     bit 25      notice: no message of a client's, takes no credit; see detail::try_notice.
///     With
///                 arguments it is an inquiry: am/src/standstill.hpp
///     bit 26      medium: the data are in the message's own lines
///     bit 27      bulk: the receiver is to pull the data (MapBlock::Pull)
///     bits 28-47  zero
///
///     short   words 0..     arguments
///     medium  word 0        start in the medium ring (bits 0-31), length (32-63)
///             words 1..     arguments; with bit 26 the data from the next whole word on, and no
///                           start
///     bulk    words 0, 1    offset in the segment, length;  words 2..  arguments

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "viaduct/am/types.hpp"
#include "viaduct/runtime/atomic.hpp"

namespace viaduct::am::detail {

enum class Kind : std::uint8_t { request, reply, returned_request, returned_reply };

namespace wire_format {
inline constexpr unsigned kind_shift = 16;
inline constexpr unsigned operation_shift = 18;
inline constexpr unsigned status_shift = 20;
inline constexpr std::uint64_t handler_mask = 0xffff;
inline constexpr std::uint64_t kind_mask = 0x3ULL << kind_shift;
inline constexpr std::uint64_t operation_mask = 0x3ULL << operation_shift;
/// Medium reply: word 0 is the overflow block's offset.
inline constexpr std::uint64_t overflow_bit = 1ULL << 24;
inline constexpr std::uint64_t notice_bit = 1ULL << 25;
/// Medium: the data follow the arguments, in the message's own lines.
inline constexpr std::uint64_t in_lines_bit = 1ULL << 26;
/// Bulk: the sender shows its data in its MapBlock, and the receiver copies them.
inline constexpr std::uint64_t pull_bit = 1ULL << 27;
/// The first half of a medium payload is written, and the message with the second half follows: the
/// receiver may begin to fetch the half. Takes no credit, and means nothing else.
inline constexpr std::uint64_t half_bit = 1ULL << 28;
inline constexpr unsigned used_bits = 29;
[[nodiscard]] constexpr std::uint64_t make(Kind kind, Operation operation,
                                           std::uint16_t handler) noexcept {
  return handler | (static_cast<std::uint64_t>(kind) << kind_shift) |
         (static_cast<std::uint64_t>(operation) << operation_shift);
}
[[nodiscard]] constexpr std::uint16_t handler(std::uint64_t c) noexcept {
  return static_cast<std::uint16_t>(c);
}
[[nodiscard]] constexpr Kind kind(std::uint64_t c) noexcept {
  return static_cast<Kind>((c & kind_mask) >> kind_shift);
}
[[nodiscard]] constexpr Operation operation(std::uint64_t c) noexcept {
  return static_cast<Operation>((c & operation_mask) >> operation_shift);
}
/// Whether the message has its data in the medium ring.
[[nodiscard]] constexpr bool is_in_medium_ring(std::uint64_t c) noexcept {
  return operation(c) == Operation::medium && (c & (overflow_bit | in_lines_bit)) == 0;
}
[[nodiscard]] constexpr Undeliverable status(std::uint64_t c) noexcept {
  return static_cast<Undeliverable>((c >> status_shift) & 0xf);
}
/// A message's data, as the words before its arguments describe them.
struct Data {
  std::size_t bytes = 0;
  std::size_t offset = 0;
};
[[nodiscard]] constexpr Data data(std::uint64_t c, const std::uint64_t* words) noexcept {
  switch (operation(c)) {
    case Operation::medium:
      return {(c & overflow_bit) != 0 ? 0 : words[0] >> 32, 0};
    case Operation::bulk:
      return {words[1], words[0]};
    case Operation::short_message:
    case Operation::get:
      break;
  }
  return {};
}
/// Whether a message is a notice that is handled at once.
[[nodiscard]] constexpr bool is_inquiry(std::uint64_t c, std::size_t arg_bytes) noexcept {
  return (c & notice_bit) != 0 && arg_bytes != 0;
}
/// Words of a medium message with @p arg_words words of arguments and @p data_bytes bytes of data,
/// when its data are in its lines.
[[nodiscard]] constexpr std::uint64_t words_with_data(std::uint64_t arg_words,
                                                      std::uint64_t data_bytes) noexcept {
  return 1 + arg_words + data_bytes / 8 + (data_bytes % 8 != 0 ? 1 : 0);
}
/// Words before the arguments.
[[nodiscard]] constexpr std::uint32_t prefix_words(Operation operation) noexcept {
  return operation == Operation::short_message ? 0 : operation == Operation::medium ? 1 : 2;
}
}  // namespace wire_format

/// Whether an endpoint of tag @p own accepts messages from a sender that names @p presented.
[[nodiscard]] constexpr bool hears(Tag own, Tag presented) noexcept {
  return own == kTagAll || (own != kTagNone && own == presented);
}

/// The part of an endpoint that its peers read; it lies in the window of the endpoint's rank.
struct alignas(64) EndpointPage {
  AtomicWord<std::uint64_t> segment_address;
  AtomicWord<std::uint64_t> segment_bytes;  // 0: none
  AtomicWord<std::uint32_t> segment_handle;
  std::uint32_t protection_tag;
  AtomicWord<std::uint64_t> check_word;  // in a MapBlock: see check_word_of()
  AtomicWord<std::uint64_t> tag;         // the endpoint's, for peers of its host
  AtomicWord<std::uint32_t> read_only;   // in a MapBlock: 1 where the segment's memory is
};

/// The check word of the segment's four words in @p page. The CPU may read a page while a device is
/// still writing it; the words belong together only when they fit the check word.
[[nodiscard]] inline std::uint64_t check_word_of(const EndpointPage& page) noexcept {
  std::uint64_t h = 0x5ea1;
  for (const std::uint64_t word :
       {page.segment_address.load(kRelaxed), page.segment_bytes.load(kRelaxed),
        std::uint64_t{page.segment_handle.load(kRelaxed)},
        std::uint64_t{page.read_only.load(kRelaxed)}}) {
    h = (h ^ word) * 0x9e3779b97f4a7c15;  // odd: none of its bits is lost
    h ^= h >> 32;
  }
  return h;
}
/// Copies the description of the segment in @p arrived when all of it has arrived; else @p page
/// stays as it was.
inline void take_page(EndpointPage& page, const EndpointPage& arrived) noexcept {
  const std::uint64_t check_word = arrived.check_word.load(kAcquire);
  EndpointPage now{};
  now.segment_address.store(arrived.segment_address.load(kAcquire));
  now.segment_bytes.store(arrived.segment_bytes.load(kAcquire));
  now.segment_handle.store(arrived.segment_handle.load(kAcquire));
  now.read_only.store(arrived.read_only.load(kAcquire));
  if (check_word != check_word_of(now)) return;
  page.segment_address.store(now.segment_address.load());
  page.segment_bytes.store(now.segment_bytes.load());
  page.segment_handle.store(now.segment_handle.load());
  page.read_only.store(now.read_only.load());
}

/// One per MAP and direction, in the sender's window, found through the client data of the
/// connection request; the medium ring follows, and on a remote channel an overflow block. Remote
/// channels take all of it to a copy at the peer.
struct alignas(128) MapBlock {
  static constexpr std::uint32_t kMagic = 0x4d415032;  // "MAP2"
  /// The data of a bulk message that its receiver is to pull. Both sides write the state:
  ///
  ///     sender:    none -> shown, then it sends the message
  ///     receiver:  shown -> pulling -> pulled;   sender: pulled -> none, and returns
  ///     sender, when the receiver does not come:  shown -> pushing -> pushed
  ///     receiver:  pushed -> none, then it runs the handler
  ///     sender, when it cannot:  pushing -> failed
  ///     receiver:  failed -> none, and it sends the message back
  enum class PullState : std::uint32_t { none, shown, pulling, pulled, pushing, pushed, failed };
  struct Pull {
    AtomicWord<std::uint64_t> source;  // shm::Nic::source_of(); failed: the Undeliverable
    AtomicWord<PullState> state;
  };
  std::uint32_t magic;
  std::uint32_t slots;
  std::uint32_t credits;
  std::uint32_t medium_bytes;
  AtomicWord<std::uint64_t> tag;  // that the sender names for the other endpoint
  std::uint64_t endpoint_page;    // the sender's own
  Pull pull;
  // Remote channels: a copy of the sender's page, with the transport's key as handle.
  EndpointPage page;
  [[nodiscard]] std::byte* medium() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(MapBlock) == 128);

/// Carries a medium reply for which the ring has no room: one per endpoint, so that a reply never
/// waits for a message that a handler holds.
struct alignas(64) OverflowBlock {
  AtomicWord<std::uint32_t> use;  // number of the last reply in it; the replier's
  std::uint32_t length;
  // That number, when the requester's handler has returned; the requester's. A device that writes
  // it twice says the same twice.
  AtomicWord<std::uint32_t> returned;
  /// Replies in it that the requester has not taken: 0 or 1.
  [[nodiscard]] std::uint32_t held() const noexcept {
    return use.load(kRelaxed) - returned.load(kAcquire);
  }
  [[nodiscard]] bool is_free() const noexcept { return held() == 0; }
  /// Without the requester, which will not.
  void take_back() noexcept { returned.store(use.load()); }
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

}  // namespace viaduct::am::detail
