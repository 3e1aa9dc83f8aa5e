#pragma once
/// @file
/// Names and numbers of the Virtual Interface Architecture that all providers share. InfiniBand's
/// names in brackets. Source: VI Architecture specification 1.0; Begel et al. 2001, section 3.1.

#include <cstddef>
#include <cstdint>

namespace viaduct::via {

/// Protection tag [PD]: ties VIs and memory regions together. Zero is no tag.
enum class ProtectionTag : std::uint32_t { none = 0 };

/// Handle of a registered memory region [lkey and rkey]. Zero is no handle.
enum class MemoryHandle : std::uint32_t { none = 0 };

/// The rights of remote VIs to a memory region. Sends need no right: they land where the receiver's
/// descriptor says.
enum class Rights : std::uint8_t { none = 0, rdma_write = 1, rdma_read = 2, atomic = 4, all = 7 };

/// @return the rights of both.
[[nodiscard]] constexpr Rights operator|(Rights a, Rights b) noexcept {
  return static_cast<Rights>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// @return whether @p have has every right of @p want.
[[nodiscard]] constexpr bool includes(Rights have, Rights want) noexcept {
  return (static_cast<unsigned>(have) & static_cast<unsigned>(want)) == static_cast<unsigned>(want);
}

/// Service levels. The numbers are VIPL's.
enum class Reliability : std::uint8_t {
  unreliable = 1,  ///< at most once; losses do not harm the VI
  delivery = 2,    ///< exactly once, in order; a send completes when its source may be changed
  reception = 4,   ///< as delivery, but a send completes when its data is in the target's memory
};

/// States of a VI [QP]. The order is VIPL's.
enum class ViState : std::uint8_t { idle, connected, connecting, error };

/// A descriptor's operation. The first three values are the control word's type field
/// (VIPL: mask 3).
enum class Operation : std::uint8_t {
  send = 0,  ///< consumes a receive at the peer; on a receive queue: receive
  rdma_write = 1,
  rdma_read = 2,
  compare_swap = 3,  ///< 8 bytes at the peer; ours, not in VIPL
  fetch_add = 4,     ///< 8 bytes at the peer; ours, not in VIPL
};

/// Status word of a descriptor: zero while it is in progress. The bits are VIPL's.
namespace descriptor_status {
inline constexpr std::uint32_t done = 0x1;
inline constexpr std::uint32_t format_error = 0x2;      ///< the descriptor itself is malformed
inline constexpr std::uint32_t protection_error = 0x4;  ///< a local segment's handle, tag, range
/// The message is longer than the receive, or the limit.
inline constexpr std::uint32_t length_error = 0x8;
inline constexpr std::uint32_t partial_error = 0x10;    ///< some of the packet was transferred
inline constexpr std::uint32_t flushed = 0x20;          ///< the VI was disconnected or failed first
inline constexpr std::uint32_t transport_error = 0x40;  ///< the connection failed
/// The peer's region: handle, tag, range, rights.
inline constexpr std::uint32_t rdma_protection_error = 0x80;
/// The peer's receive: none posted, or bad.
inline constexpr std::uint32_t remote_descriptor_error = 0x100;
inline constexpr std::uint32_t error_mask = 0x1FE;
inline constexpr std::uint32_t operation_shift = 16;
/// Which operation completed, see CompletedOperation.
inline constexpr std::uint32_t operation_mask = 0x70000;
inline constexpr std::uint32_t immediate_present = 0x80000;
}  // namespace descriptor_status

/// The operation field of a completed descriptor's status. The numbers are VIPL's; the last one is
/// ours.
enum class CompletedOperation : std::uint8_t {
  send,
  receive,
  rdma_write,
  remote_rdma_write,
  rdma_read,
  atomic
};

/// Why a connection attempt ended.
enum class ConnectResult : std::uint8_t {
  connected,
  timed_out,    ///< no answer came in time
  rejected,     ///< the other side said no
  mismatch,     ///< the reliability levels differ
  unreachable,  ///< the peer's process is gone
};

/// The cause of an asynchronous error [asynchronous event].
enum class ErrorCause : std::uint8_t {
  none,
  connection_lost,      ///< the peer's process is gone
  disconnected,         ///< the peer disconnected with receives still posted here
  receive_queue_empty,  ///< a message came and no receive was posted
  length,               ///< a message was longer than the posted receive
  protection,           ///< a local or remote protection check failed
  queue_overrun,        ///< a completion queue had no room
  format,               ///< a malformed descriptor or message
  transport,            ///< the provider could not move the data
  rdma_write_refused,   ///< at the target: a protection check refused an RDMA write of the peer's
  rdma_read_refused,    ///< the same for an RDMA read
};

/// @return the value in words, a literal.
[[nodiscard]] const char* to_string(ErrorCause cause) noexcept;
/// @return the value in words, a literal.
[[nodiscard]] const char* to_string(ViState state) noexcept;
/// @return the value in words, a literal.
[[nodiscard]] const char* to_string(ConnectResult result) noexcept;

inline constexpr std::uint32_t kMaxSegments = 16;

}  // namespace viaduct::via
