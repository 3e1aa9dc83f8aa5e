#include "via/generations/src/message.hpp"

#include <cstring>

#include "via/copy.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::via::generations {
namespace {

bool read_memory_message(std::span<const std::byte> from, Incoming& in) noexcept {
  constexpr std::size_t kStart = sizeof(Head) + sizeof(MemoryPlace);
  if (from.size() < kStart || in.head.flags != flag::memory || in.head.pieces != 0) return false;
  std::memcpy(&in.memory, from.data() + sizeof(Head), sizeof in.memory);
  in.bytes = from.data() + kStart;
  return from.size() == kStart + in.memory.bytes;
}

}  // namespace

std::uint32_t write_message(std::byte* to, Head head, const Outgoing& out) noexcept {
  VIADUCT_PART(build);
  head.notification = out.notification;
  head.flags = out.flags;
  head.pieces = static_cast<std::uint8_t>(out.pieces.size());
  std::memcpy(to, &head, sizeof head);
  std::byte* place = to + sizeof head;
  if ((out.flags & flag::memory) != 0) {
    std::memcpy(place, &out.memory, sizeof out.memory);
    copy_bytes(place + sizeof out.memory, out.half, out.bytes);
    return static_cast<std::uint32_t>(sizeof head + sizeof out.memory + out.bytes);
  }
  std::byte* bytes = place + out.pieces.size() * sizeof(Link::Piece);
  for (const Link::Piece& piece : out.pieces) {
    std::memcpy(place, &piece, sizeof piece);
    place += sizeof piece;
    if (piece.bytes != 0) copy_bytes(bytes, out.half + piece.offset, piece.bytes);
    bytes += piece.bytes;
  }
  return static_cast<std::uint32_t>(bytes - to);
}

bool read_message(std::span<const std::byte> from, std::size_t half_bytes, Incoming& in) noexcept {
  if (from.size() < sizeof(Head)) return false;
  std::memcpy(&in.head, from.data(), sizeof(Head));
  if ((in.head.flags & flag::memory) != 0) return read_memory_message(from, in);
  const std::size_t pieces = in.head.pieces;
  const std::size_t start = sizeof(Head) + pieces * sizeof(Link::Piece);
  if (pieces > Link::kMaxPieces || (in.head.flags & ~flag::known) != 0 || from.size() < start)
    return false;
  std::memcpy(in.pieces, from.data() + sizeof(Head), pieces * sizeof(Link::Piece));
  std::size_t sum = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const Link::Piece& piece = in.pieces[i];
    if (piece.offset > half_bytes || piece.bytes > half_bytes - piece.offset) return false;
    sum += piece.bytes;
  }
  in.bytes = from.data() + start;
  return from.size() == start + sum;
}

}  // namespace viaduct::via::generations
