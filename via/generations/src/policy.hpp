#pragma once
/// @file
/// The interface of the three generations: each is a policy of the class template Map (map.hpp),
/// which calls the functions that each policy has.
///
///     start(), connected()   connect the policy's VIs with those of the peer's MAP
///     send()                 sends a message of at most kLargest bytes; false: no room now
///     sent(), received()     take a completion of the policy's VIs
///     give_credits()         tells the peer what has been taken, if that is due; false: no room
///     quiet()                whether no send is under way
///     rdma_vi()              the VI that RDMA transfers and writes of the halves go by
///     written()              an RDMA write has been posted: later messages are taken after its
///                            bytes

#include <cstdint>

#include "via/generations/src/message.hpp"

namespace viaduct::via::generations {

/// Descriptors of a MAP's own that may be posted at once, which its completion queues have room
/// for.
struct Depths {
  std::uint32_t sends;
  std::uint32_t receives;
};

/// Messages that a MAP must be able to have on their way, however seldom its peer polls: as many as
/// the channel above sends before it must hear of the peer.
struct Room {
  std::uint32_t messages;
};

/// RDMA transfers of a MAP that may be under way.
inline constexpr std::uint32_t kTransferDepth = 4;

/// RDMA writes of a MAP's halves without a notification that may be under way.
inline constexpr std::uint32_t kWriteDepth = 16;

/// The sends that a MAP posts besides its policy's messages.
inline constexpr std::uint32_t kOtherSends = kTransferDepth + kWriteDepth;

/// Where the peer of a v2 MAP writes.
struct RingName {
  std::uint64_t address = 0;
  std::uint32_t handle = 0;
};

/// Takes the messages of a MAP, in the order in which the peer has sent them.
class Receiver {
 public:
  /// @return false: the message makes no sense, and the link is to end.  Never blocks.
  [[nodiscard]] virtual bool apply(const Incoming& message) noexcept = 0;
  [[nodiscard]] virtual std::size_t half_bytes() const noexcept = 0;

 protected:
  Receiver() = default;
  ~Receiver() = default;
};

}  // namespace viaduct::via::generations
