#pragma once
/// @file
/// What travels between two contexts: one header of 64 bytes, and up to a path MTU of payload.

#include <cstddef>
#include <cstdint>

namespace soft_verbs {

enum class Kind : std::uint8_t {
  request,    ///< of a reliable connection
  answer,     ///< acknowledgement or refusal of requests
  data,       ///< answer to a read: one packet of the bytes
  old_value,  ///< answer to an atomic operation
  datagram,
  ping,  ///< asks whether all packets before it have been handled; never lost
  pong,  ///< answer to it, behind all answers to those packets; never lost
  look,  ///< the control file has changed; from soft-verbs-control
};

enum class Operation : std::uint8_t { send, write, read, compare_swap, fetch_add };

/// What an answer says.
enum class Verdict : std::uint8_t {
  acknowledged,
  not_ready,  ///< no receive is posted; Packet::length has the code of the time to wait
  sequence,   ///< a packet before this one is missing
  invalid_request,
  access,
  operation,  ///< the receive that is posted cannot be used
};

struct Packet {
  static constexpr std::uint32_t kMagic = 0x53565031;
  static constexpr std::uint8_t kFirst = 1;
  static constexpr std::uint8_t kLast = 2;
  static constexpr std::uint8_t kSolicited = 4;
  static constexpr std::uint8_t kImmediate = 8;

  std::uint32_t magic = kMagic;
  Kind kind{};
  Operation operation{};
  std::uint8_t flags = 0;
  Verdict verdict{};
  std::uint32_t from_pair = 0;
  std::uint32_t to_pair = 0;
  std::uint32_t number = 0;     ///< of the packet (PSN), 24 bits; of a ping
  std::uint32_t immediate = 0;  ///< as the program gave it
  std::uint32_t key = 0;        ///< of the region (RKey), or of the queue pair for datagrams (QKey)
  std::uint32_t length = 0;     ///< of the whole message
  std::uint64_t address = 0;
  std::uint64_t operand = 0;  ///< added, or swapped in; in the answer the old value
  std::uint64_t compare = 0;
  std::uint16_t from_device = 0;
  std::uint8_t from_port = 0;
  std::uint8_t to_port = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Packet) == 64);

constexpr std::size_t kMaxPayload = 4096;

// Numbers of packets have 24 bits and wrap round.
constexpr std::uint32_t kNumberMask = 0xffffff;
constexpr std::uint32_t following(std::uint32_t number, std::uint32_t by) noexcept {
  return (number + by) & kNumberMask;
}
/// How far @p a is behind @p b's place, negative when it comes before.
constexpr std::int32_t distance(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

}  // namespace soft_verbs
