#pragma once
/// @file
/// Ends of connections, and the control messages of two ranks about them (via/connector.hpp).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "viaduct/runtime/types.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

/// The number of an end in its rank, which gives it to no other end: the counter comes round after
/// 2^32 ends. Late messages to an end that is no more, or about one, fit no other.
enum class EndNumber : std::uint32_t { none = 0 };

/// A message from one Connector to another. A control path delivers each message once and in its
/// sender's order, or tells its Connector that the rank is lost.
struct ControlMessage {
  enum class Kind : std::uint8_t {
    none,
    request,         ///< of `from`, which connects to an end that asks in the same way
    client_request,  ///< of `from`, which connects to an end that accepts
    accept,          ///< `from` has taken the client's request of `to`
    reject,          ///< the request of `to` is not taken
    final,           ///< `from` has written its last; its rank reads the half of `to` no more
    ready,           ///< `from` takes what `to` sends; between providers, not for a Connector
  };
  Kind kind = Kind::none;
  EndNumber from = EndNumber::none;  ///< of the sender; final: none when it speaks of no end
  EndNumber to = EndNumber::none;    ///< of the receiver; a final without it takes a request back
  std::uint32_t shape = 0;           ///< request, accept: both ends must have the same
  std::uint64_t discriminator = 0;   ///< request: the name of the connection between both ranks
  ConnectResult result{};            ///< reject
  std::uint64_t reason = 0;          ///< reject: the client's own
  ErrorCause cause{};                ///< final
  /// Request, accept: the data that the peer needs to attach; final: the owner's last data.
  std::vector<std::byte> data;

  friend bool operator==(const ControlMessage&, const ControlMessage&) = default;
};

/// The word of a message whose meaning depends on its kind, for layouts that have one place for it:
/// shape, result or cause. Never waits.
[[nodiscard]] std::uint32_t detail_of(const ControlMessage& message) noexcept;
/// Sets that word; an unknown result or cause becomes `rejected` or `transport`. Never waits.
void set_detail(ControlMessage& message, std::uint32_t detail) noexcept;

/// The head of a control message in shared memory and in datagrams; `bytes` bytes of data follow.
struct ControlHead {
  std::uint16_t kind = 0;
  std::uint16_t bytes = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t detail = 0;  // detail_of()
  std::uint64_t word = 0;    // reject: the reason; else the discriminator
};
static_assert(sizeof(ControlHead) == 24);

/// Writes head and data of @p message to @p to.  Never waits.  Precondition: they fit.
/// @return the bytes written.
std::size_t encode(const ControlMessage& message, std::span<std::byte> to) noexcept;
/// Reads what encode() has written; bytes behind it are passed over.  Throws std::bad_alloc.
/// @return false: the bytes are no control message.
[[nodiscard]] bool decode(std::span<const std::byte> from, ControlMessage& message);

/// @return the bytes of @p value, for ControlMessage::data.  Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::vector<std::byte> data_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}
/// Reads what data_of() has made.  Never waits.
/// @return false, and @p value as before: the data have another size.
template <class T>
[[nodiscard]] bool read_data(const std::vector<std::byte>& data, T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  if (data.size() != sizeof value) return false;
  std::memcpy(static_cast<void*>(&value), data.data(), sizeof value);
  return true;
}

/// An end of this rank, for the calls of its owner.
struct EndName {
  Rank peer{};
  std::uint64_t discriminator = 0;
  EndNumber number = EndNumber::none;

  friend auto operator<=>(const EndName&, const EndName&) = default;
};

/// The data that an end is made of.
struct EndWish {
  Rank peer{};
  std::uint64_t discriminator = 0;
  std::uint32_t shape = 0;
  std::uint64_t half = 0;  ///< the owner's word for the memory, for Connector::Action::release
  void* owner = nullptr;   ///< the owner, for Connector::owner_of()
  std::vector<std::byte> offer;
};

}  // namespace viaduct::via
