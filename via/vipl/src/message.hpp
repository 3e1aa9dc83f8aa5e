#pragma once
/// @file
/// The messages that processes send each other about connections.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace viaduct::via::vipl {

/// The bytes that tell apart the endpoints of one host address.
struct Discriminator {
  static constexpr std::size_t kMaxBytes = 64;
  std::uint16_t bytes = 0;
  std::array<std::uint8_t, kMaxBytes> value{};

  friend bool operator==(const Discriminator& a, const Discriminator& b) noexcept {
    return a.bytes == b.bytes && std::memcmp(a.value.data(), b.value.data(), a.bytes) == 0;
  }
};

/// The attributes of a VI that the other side must know.
struct RemoteAttributes {
  std::uint64_t max_transfer = 0;
  std::uint8_t reliability = 0;
  std::uint8_t rdma_write = 0;
  std::uint8_t rdma_read = 0;
};

enum class MessageKind : std::uint8_t {
  ack,           // nothing but `acks`
  request,       // client to server; id: the requester's
  waits,         // server to client: no thread waits with that discriminator now
  offered,       // server to client: a VipConnectWait has taken the request
  accept,        // server to client
  reject,        // server to client
  cancel,        // client to server, or peer to peer: the request `id` is taken back
  peer_request,  // the higher rank to the lower one
  peer_match,    // the lower rank to the higher one: `id` matches the request `other` of the sender
  peer_no_more,  // the higher rank to the lower one: `id` is gone, which `other` has been matched
                 // with
};
constexpr auto kLastMessageKind = MessageKind::peer_no_more;

struct Message {
  std::uint64_t id = 0;
  std::uint64_t other = 0;
  RemoteAttributes attributes{};
  std::uint32_t acks = 0;  // messages of the receiver's that the sender has handled
  MessageKind kind = MessageKind::ack;
  std::uint8_t result = 0;  // peer_match: a VIP_RETURN
  Discriminator local;      // the sender's
  Discriminator remote;     // the receiver's
};

}  // namespace viaduct::via::vipl
