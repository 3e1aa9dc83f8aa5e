#pragma once
// The messages of Split-C: one side of the exchange of two processes over one channel of
// via/channel. Layouts, credits and counters: docs/splitc.md.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "splitc/src/stage.hpp"
#include "viaduct/splitc/store_counter.hpp"
#include "viaduct/via/channel/channel.hpp"

namespace viaduct::splitc::detail {

namespace wire_format {
enum class Op : std::uint8_t {
  read,
  write,
  store,
  block_read,
  block_write,
  block_store,
  pull,
  modify,
  call,
  run,         // a function whose result is dropped
  slot_words,  // of a collective's slot that is too long for one message; sent before `slot`
  slot,
  waits,  // the sender waits in this collective call for a slot of the receiver
  chunk,  // asks for the chunk around an address of the receiver, and for its key
  value,  // replies
  done,
};

inline constexpr unsigned kEpochShift = 5;
inline constexpr unsigned kIndexShift = 6;
inline constexpr unsigned kTicketShift = 16;
inline constexpr std::uint32_t kMaxIndex = 1023;
inline constexpr unsigned kUsedBits = kTicketShift + 16;
/// In the index of call and run: the arguments begin with the address of an object, which the owner
/// looks for first. The bits below are the length of a call's result.
inline constexpr std::uint32_t kNamesObject = 0x40;

[[nodiscard]] constexpr std::uint64_t make(Op op, std::uint32_t index = 0, std::uint32_t epoch = 0,
                                           std::uint64_t ticket = 0) noexcept {
  return static_cast<std::uint64_t>(op) | std::uint64_t{epoch} << kEpochShift |
         std::uint64_t{index} << kIndexShift | (ticket & 0xffff) << kTicketShift;
}
/// A store that is counted at place @p count of the target's table of counts: by its sender's epoch
/// (0 or 1), or on a store_counter. The place lies in the bits of epoch and index, which the owner
/// of a block_store does not need.
[[nodiscard]] constexpr std::uint64_t make_store(Op op, std::uint32_t count) noexcept {
  return static_cast<std::uint64_t>(op) | std::uint64_t{count} << kEpochShift;
}
[[nodiscard]] constexpr Op op(std::uint64_t client) noexcept {
  return static_cast<Op>(client & 0x1f);
}
[[nodiscard]] constexpr std::uint32_t epoch(std::uint64_t client) noexcept {
  return static_cast<std::uint32_t>(client >> kEpochShift) & 1;
}
/// Of a store. The bits of any other message give a valid place of the table, too.
[[nodiscard]] constexpr std::uint32_t count_place(std::uint64_t client) noexcept {
  return static_cast<std::uint32_t>(client >> kEpochShift) & (kCountPlaces - 1);
}
[[nodiscard]] constexpr std::uint32_t index(std::uint64_t client) noexcept {
  return static_cast<std::uint32_t>(client >> kIndexShift) & kMaxIndex;
}
[[nodiscard]] constexpr bool names_object(std::uint64_t client) noexcept {
  return (index(client) & kNamesObject) != 0;
}
[[nodiscard]] constexpr std::uint64_t ticket(std::uint64_t client) noexcept {
  return (client >> kTicketShift) & 0xffff;
}
}  // namespace wire_format

/// Data that travel in a line with an address before them.
inline constexpr std::size_t kInlineData = 48;
/// To another host blocks of up to this length go in two such lines, since RDMA takes longer to
/// begin than a second line takes.
inline constexpr std::size_t kFarInlineData = 2 * kInlineData;
struct Channel {
  std::unique_ptr<via::channel::Channel> channel;
  // Requester. Requests are numbered from 1 (tickets). Each takes a slot, and so does each reply: a
  // count of requests would be one more store for each message of a stream, whose rate is bounded
  // by the stores that a processor holds until the slots' lines have come.
  [[nodiscard]] std::uint64_t sent() const noexcept { return channel->slots_sent() - replies; }
  /// The request up to which the credits are back. The owner counts a request before this side has
  /// taken the reply, which holds a line of the ring until then. Falls with a request that a reply
  /// is to answer.
  [[nodiscard]] std::uint64_t returned() const noexcept {
    return replied < last_get ? replied : handled;
  }
  std::uint64_t replies = 0;   // that we have sent
  std::uint64_t limit = 0;     // slots_sent() may rise to it without a look at any counter: credits
  std::uint64_t handled = 0;   // requests that the owner is known to have carried out
  std::uint64_t replied = 0;   // the request that the last reply answered
  std::uint64_t last_get = 0;  // the last request that a reply answers
  std::uint64_t last_put = 0;  // the last request that is complete once handled
  std::uint64_t others = 0;    // of the requests: all but stores of up to 48 bytes
  bool open = false;           // in Machine::Impl::open
  bool open_store = false;     // in Machine::Impl::open_stores
  bool fetched = false;        // the line of the owner's counters is on its way to this core
  // Owner.
  bool dirty = false;   // in Machine::Impl::dirty
  bool urgent = false;  // the peer waits for counts that are not published
  std::uint64_t served = 0;
  std::uint64_t published = 0;
  // Of a collective's slot that comes in two messages.
  std::uint64_t slot_words[7] = {};
  // Cool.
  struct Counted {               // in kRequests
    std::uint64_t requests = 0;  // of sent()
    std::uint64_t others = 0;
  } counted;
  std::uint32_t process = 0;
  std::uint16_t index = 0;
  bool connected = false;
  bool ended = false;  // the peer is gone or has finished
  struct Break {
    bool is_there = false;  // the peer is gone and has not said so
    bool garbled = false;   // since one side has received nonsense from the other
  } broken;
  std::uint64_t counter = 0;        // the owner's, as last read
  std::uint64_t last_transfer = 0;  // of the link, that sync() has not seen complete; 0: none
};

}  // namespace viaduct::splitc::detail
