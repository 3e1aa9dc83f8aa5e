#pragma once
/// @file
/// The messages of a MAP: a head, up to three places in a half, then the bytes that go there. All
/// three generations have the same layout (docs/generations.md).

#include <cstddef>
#include <cstdint>
#include <span>

#include "viaduct/via/transport.hpp"

namespace viaduct::via::generations {

/// The flags of a message.
namespace flag {
inline constexpr std::uint8_t tell = 1;     ///< the peer's poll answers the notification
inline constexpr std::uint8_t back = 2;     ///< the bytes go into the half that the receiver owns
inline constexpr std::uint8_t credits = 4;  ///< the counts of the head alone: no bytes, no number
inline constexpr std::uint8_t memory = 8;   ///< the bytes go into registered memory: MemoryPlace
inline constexpr std::uint8_t known = 15;
}  // namespace flag

/// The counts that a head returns, one for each kind of credit.
inline constexpr std::uint32_t kKinds = 3;

struct Head {
  std::uint32_t notification;
  std::uint16_t number;  ///< of v1: the place in the MAP's order, modulo 2^16
  std::uint8_t flags;
  std::uint8_t pieces;
  std::uint16_t taken[kKinds];  ///< messages of each kind that the writer has taken, modulo 2^16
  std::uint16_t reserved;
};
static_assert(sizeof(Head) == 16);

/// The place for bytes of a message that are no piece of a half. It stands in place of the pieces.
struct MemoryPlace {
  std::uint64_t address;
  std::uint32_t key;
  std::uint32_t bytes;
};

/// A head and all places that a message can have.
inline constexpr std::uint32_t kHeadBytes = sizeof(Head) + Link::kMaxPieces * sizeof(Link::Piece);

/// A message that is to be sent: @p pieces of the half at @p half, or with flag::memory the bytes
/// at @p half.
struct Outgoing {
  std::span<const Link::Piece> pieces;
  const std::byte* half;
  std::uint32_t bytes;  ///< of all pieces
  std::uint32_t notification;
  std::uint8_t flags;
  MemoryPlace memory = {};
};

/// Writes @p head, the places and the bytes of @p out to @p to.  @return the length of the message.
/// Precondition: there is room for kHeadBytes and the bytes.  Never blocks.
[[nodiscard]] std::uint32_t write_message(std::byte* to, Head head, const Outgoing& out) noexcept;

/// A message that has come, after its places have been compared with the half.
struct Incoming {
  Head head;
  Link::Piece pieces[Link::kMaxPieces];
  MemoryPlace memory;
  const std::byte* bytes;
};

/// Reads the message at @p from.  @return whether it is one that write_message() writes, with
/// places within @p half_bytes.  Never blocks.
[[nodiscard]] bool read_message(std::span<const std::byte> from, std::size_t half_bytes,
                                Incoming& in) noexcept;

}  // namespace viaduct::via::generations
