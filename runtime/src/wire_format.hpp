#pragma once
/// @file
/// The messages between a rank and its launcher: one datagram a message on a SOCK_SEQPACKET pair,
/// so that a message is whole or absent. Both ends run on one host, from one build: host byte
/// order.
///
/// A message is Header, key, value. A rank has at most one question open; put and share_fd have no
/// answer.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::wire_format {

inline constexpr std::uint32_t kMagic = 0x31424956;  // "VIB1"
inline constexpr std::size_t kMaxKeyBytes = 255;
inline constexpr std::size_t kMaxValueBytes = 64 * 1024;

enum class Kind : std::uint16_t {
  // rank to launcher
  put = 1,          // key, value
  fence = 2,        // answered by released or lost
  fence_survivors,  // answered by released
  get,              // rank, key; answered by value or nothing
  share_fd,         // with one descriptor
  fetch_fd,         // rank; answered by descriptor or nothing
  fence_failed,     // answered by released, but the rank may end before
  barrier,          // value: the ticket, 32 bits; told in jobs on several hosts
  ending,           // its Job's destructor waits; the same
  port_down,        // a port of its network devices is down; the same
  port_up,          // and that one is up again
  join,             // rank; answered by descriptor, the job page's: to an agent, once
  failing,          // its process will end with a failure, and waits for no fence
  // launcher to rank
  released = 64,
  lost,  // rank: the lost one
  value,
  nothing,
  descriptor,  // with one descriptor
  refused,     // key: why the rank may not join; the connection ends
};

struct Header {
  std::uint32_t magic;
  Kind kind;
  std::uint16_t key_bytes;
  std::uint32_t rank;
  std::uint32_t value_bytes;
};
static_assert(sizeof(Header) == 16);

inline constexpr std::size_t kMaxMessageBytes = sizeof(Header) + kMaxKeyBytes + kMaxValueBytes;

struct Message {
  Kind kind;
  std::uint32_t rank = 0;
  std::string_view key = {};
  std::span<const std::byte> value = {};
};

/// The message's bytes.  Precondition: key and value within the limits above.
[[nodiscard]] std::vector<std::byte> encode(const Message& message);

/// Reads one datagram; key and value point into @p bytes. On malformed bytes empty, and @p problem
/// says what is wrong.
[[nodiscard]] std::optional<Message> decode(std::span<const std::byte> bytes, std::string& problem);

/// A datagram as received: its bytes and the descriptor that came with it (further ones are
/// closed).
struct Datagram {
  std::vector<std::byte> bytes;
  FileDescriptor fd;
  bool truncated = false;
  bool end_of_stream = false;
};

/// Sends one datagram, with @p fd attached unless -1. Returns 0 or an errno value. @p flags as for
/// sendmsg.
int send(int socket, std::span<const std::byte> bytes, int fd, int flags) noexcept;

/// Receives one datagram of at most kMaxMessageBytes. Returns 0 or an errno value.
int receive(int socket, Datagram& datagram, int flags);

/// Whether something can be received, or the other end is closed, before @p limit is over.
[[nodiscard]] bool readable_within(int socket, std::chrono::milliseconds limit) noexcept;

}  // namespace viaduct::wire_format
