#pragma once
/// @file
/// Ends of connections, and what two ranks say to each other about them (via/connector.hpp).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/types.hpp"
#include "via/types.hpp"

namespace viaduct::via {

/// The number of an end in its rank, which gives it to no other end: the counter comes round after
/// 2^32 ends. Late messages to an end that is no more, or about one, fit no other.
enum class EndNumber : std::uint32_t { none = 0 };

/// What two Connectors say to each other. A control path delivers each message once and in its
/// sender's order, or tells its Connector that the rank is lost.
struct ControlMessage {
  enum class Kind : std::uint8_t {
    none,
    request,         ///< of `from`, which connects to an end that asks in the same way
    client_request,  ///< of `from`, which connects to an end that accepts
    accept,          ///< `from` has taken the client's request of `to`
    reject,          ///< nobody takes the request of `to`
    final,           ///< `from` has written its last; nobody here reads the half of `to` any more
  };
  Kind kind = Kind::none;
  EndNumber from = EndNumber::none;  ///< of the sender; final: none when it speaks of no end
  EndNumber to = EndNumber::none;    ///< of the receiver; a final without it takes a request back
  std::uint32_t shape = 0;           ///< request, accept: both ends must have the same
  std::uint64_t discriminator = 0;   ///< request: the name of the connection between both ranks
  ConnectResult result{};            ///< reject
  std::uint64_t reason = 0;          ///< reject: the client's own
  ErrorCause cause{};                ///< final
  /// Request, accept: what the peer needs to attach; final: what the owner has to say at last.
  std::vector<std::byte> data;

  friend bool operator==(const ControlMessage&, const ControlMessage&) = default;
};

/// The word of a message whose meaning depends on its kind, for layouts that have one place for it:
/// shape, result or cause. Never waits.
[[nodiscard]] std::uint32_t detail_of(const ControlMessage& message) noexcept;
/// Sets that word; a result or a cause that there is not becomes `rejected` or `transport`. Never
/// waits.
void set_detail(ControlMessage& message, std::uint32_t detail) noexcept;

/// An end of this rank, for the calls of its owner.
struct EndName {
  Rank peer{};
  std::uint64_t discriminator = 0;
  EndNumber number = EndNumber::none;

  friend auto operator<=>(const EndName&, const EndName&) = default;
};

/// What an end is made of.
struct EndWish {
  Rank peer{};
  std::uint64_t discriminator = 0;
  std::uint32_t shape = 0;
  std::uint64_t half = 0;  ///< the owner's word for the memory, for Connector::Action::release
  void* owner = nullptr;   ///< the owner, for Connector::owner_of()
  std::vector<std::byte> offer;
};

}  // namespace viaduct::via
