#pragma once
/// @file
/// Descriptors [work requests]: the binary layout is VIPL's, so that the C interface can share
/// them.
///
///     0  control segment, 32 bytes
///    32  RDMA and atomics: one address segment, 16 bytes (remote address and handle)
///        atomics: one operand segment, 16 bytes (fetch_add: addend; compare_swap: expected,
///                 desired)
///     .. data segments, 16 bytes each: the gather list of a send, the scatter list of a receive
///                 or read
///
/// A descriptor belongs to the VI from post to completion; its memory must stay in place and
/// unchanged.

#include <cstddef>
#include <cstdint>

#include "viaduct/via/types.hpp"

namespace viaduct::via {

struct Descriptor;

/// Flag bits of ControlSegment::control; the low two bits are the operation for send, RDMA write
/// and RDMA read.
namespace control_bits {
inline constexpr std::uint16_t operation_mask = 0x3;
inline constexpr std::uint16_t immediate = 0x4;
/// Start only when earlier RDMA reads of the VI are done.
inline constexpr std::uint16_t queue_fence = 0x8;
/// With operation 3: fetch_add, else compare_swap.
inline constexpr std::uint16_t atomic_add = 0x10;
inline constexpr std::uint16_t known = 0x1F;
}  // namespace control_bits

struct ControlSegment {
  Descriptor* next;  ///< used by the queue while the descriptor is posted
  std::uint32_t next_handle;
  std::uint16_t segment_count;  ///< address, operand and data segments together
  std::uint16_t control;
  std::uint32_t immediate_high;  ///< upper half of a 64-bit immediate (reserved in VIPL)
  std::uint32_t immediate_low;
  std::uint32_t length;  ///< in: bytes to send (sum of the segments); out: bytes transferred
  std::uint32_t status;
};
static_assert(sizeof(ControlSegment) == 32);
static_assert(offsetof(ControlSegment, segment_count) == 12 &&
              offsetof(ControlSegment, length) == 24);

struct LocalSegment {
  std::byte* address;
  MemoryHandle handle;
  std::uint32_t length;
};
struct AddressSegment {
  std::uint64_t address;  ///< in the peer's address space
  MemoryHandle handle;
  std::uint32_t reserved;
};
struct OperandSegment {
  std::uint64_t operand;  ///< the addend, or the value expected
  std::uint64_t desired;  ///< compare_swap only
};
union DataSegment {
  LocalSegment local;
  AddressSegment remote;
  OperandSegment operands;
};
static_assert(sizeof(DataSegment) == 16);

struct alignas(64) Descriptor {
  ControlSegment control;
  DataSegment segment[2];  ///< the first two; more follow in memory in DescriptorWith<N>

  /// @return whether the descriptor has completed: it is the program's again.
  [[nodiscard]] bool is_done() const noexcept {
    return (control.status & descriptor_status::done) != 0;
  }
  /// @return whether it has completed with an error.  Precondition: is_done().
  [[nodiscard]] bool failed() const noexcept {
    return (control.status & descriptor_status::error_mask) != 0;
  }
  /// @return the immediate value that came with a message.  Precondition: has_immediate().
  [[nodiscard]] std::uint64_t immediate() const noexcept {
    return (std::uint64_t{control.immediate_high} << 32) | control.immediate_low;
  }
  /// @return whether the message that a receive has taken brought an immediate value.
  [[nodiscard]] bool has_immediate() const noexcept {
    return (control.status & descriptor_status::immediate_present) != 0;
  }
  /// @return which operation has completed.  Precondition: is_done().
  [[nodiscard]] CompletedOperation completed_operation() const noexcept {
    return static_cast<CompletedOperation>((control.status & descriptor_status::operation_mask) >>
                                           descriptor_status::operation_shift);
  }
  /// @return the first segment; control.segment_count of them follow one another.
  [[nodiscard]] DataSegment* segments() noexcept { return segment; }
  /// @return the first segment; control.segment_count of them follow one another.
  [[nodiscard]] const DataSegment* segments() const noexcept { return segment; }
};
static_assert(sizeof(Descriptor) == 64);

/// A descriptor with room for @p N segments in all.
template <std::size_t N>
struct DescriptorWith : Descriptor {
  static_assert(N >= 2 && N <= kMaxSegments + 2);
  DataSegment more[N - 2 + (N == 2)];
};

// Fillers: they set every field of the control segment, so that a descriptor can be used again.
// The bytes themselves are neither read nor written before the descriptor is posted.

/// A send of @p bytes at @p from, within the region @p handle.  Never blocks.  Precondition: @p d
/// is not posted.
void make_send(Descriptor& d, std::byte* from, std::uint32_t bytes, MemoryHandle handle) noexcept;
/// A receive of up to @p bytes into memory at @p into, within the region @p handle.  Never blocks.
/// Precondition: @p d is not posted.
void make_receive(Descriptor& d, std::byte* into, std::uint32_t bytes,
                  MemoryHandle handle) noexcept;
/// A write of @p bytes at @p from to @p remote_address of the peer, within its region
/// @p remote_handle.  Never blocks.  Precondition: @p d is not posted.
void make_rdma_write(Descriptor& d, std::byte* from, std::uint32_t bytes, MemoryHandle handle,
                     std::uint64_t remote_address, MemoryHandle remote_handle) noexcept;
/// A read of @p bytes at @p remote_address of the peer, within its region @p remote_handle, into
/// memory at @p into.  Never blocks.  Precondition: @p d is not posted.
void make_rdma_read(Descriptor& d, std::byte* into, std::uint32_t bytes, MemoryHandle handle,
                    std::uint64_t remote_address, MemoryHandle remote_handle) noexcept;
/// Adds @p addend to the 8 bytes at @p remote_address; the 8 bytes at @p old_value receive what was
/// there.  Never blocks.  Precondition: @p d is not posted.
void make_fetch_add(DescriptorWith<3>& d, std::byte* old_value, MemoryHandle handle,
                    std::uint64_t remote_address, MemoryHandle remote_handle,
                    std::uint64_t addend) noexcept;
/// Stores @p desired into the 8 bytes at @p remote_address where they are @p expected; the 8 bytes
/// at @p old_value receive what was there.  Never blocks.  Precondition: @p d is not posted.
void make_compare_swap(DescriptorWith<3>& d, std::byte* old_value, MemoryHandle handle,
                       std::uint64_t remote_address, MemoryHandle remote_handle,
                       std::uint64_t expected, std::uint64_t desired) noexcept;
/// Gather list of a send, or scatter list of a receive, of @p count segments.  Never blocks.
/// Precondition: @p d has room for them (DescriptorWith) and is not posted.
void make_list(Descriptor& d, const LocalSegment* list, std::uint16_t count) noexcept;
/// Adds an immediate value to a send or an RDMA write that has been filled.  Never blocks.
void add_immediate(Descriptor& d, std::uint64_t value) noexcept;

}  // namespace viaduct::via
