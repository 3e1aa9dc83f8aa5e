#pragma once
/// @file
/// The meaning of a descriptor's fields, for providers.

#include <cstdint>

#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via::rules {

/// @return the bits of the status of a descriptor that has completed without error.
[[nodiscard]] constexpr std::uint32_t status_of(CompletedOperation operation) noexcept {
  return descriptor_status::done |
         (static_cast<std::uint32_t>(operation) << descriptor_status::operation_shift);
}

/// @return the operation of a descriptor of a send queue.
[[nodiscard]] inline Operation operation_of(const Descriptor& d) noexcept {
  const auto type = static_cast<Operation>(d.control.control & control_bits::operation_mask);
  if (type != Operation::compare_swap) return type;
  return (d.control.control & control_bits::atomic_add) != 0 ? Operation::fetch_add
                                                             : Operation::compare_swap;
}

/// @return the index of the first data segment: behind the address and, for atomics, the operands.
[[nodiscard]] constexpr std::uint32_t first_data(Operation operation) noexcept {
  switch (operation) {
    case Operation::send:
      return 0;
    case Operation::rdma_write:
    case Operation::rdma_read:
      return 1;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return 2;
  }
  return 0;
}

/// @return what the status of a descriptor calls @p operation once it has completed.
[[nodiscard]] constexpr CompletedOperation completed_as(Operation operation) noexcept {
  switch (operation) {
    case Operation::send:
      return CompletedOperation::send;
    case Operation::rdma_write:
      return CompletedOperation::rdma_write;
    case Operation::rdma_read:
      return CompletedOperation::rdma_read;
    default:
      return CompletedOperation::atomic;
  }
}

/// @return whether a descriptor for a send queue makes sense: else its status is *format*.
[[nodiscard]] inline bool well_formed(const Descriptor& d, std::uint32_t max_segments) noexcept {
  const ControlSegment& c = d.control;
  if ((c.control & ~control_bits::known) != 0) return false;
  const Operation operation = operation_of(d);
  const std::uint32_t first = first_data(operation);
  if (c.segment_count < first || c.segment_count - first > max_segments) return false;
  if ((c.control & control_bits::immediate) != 0 && operation != Operation::send &&
      operation != Operation::rdma_write)
    return false;
  if (first == 2 && (c.segment_count != 3 || d.segments()[2].local.length != 8)) return false;
  std::uint64_t total = 0;
  for (std::uint32_t i = first; i < c.segment_count; ++i) total += d.segments()[i].local.length;
  return total == c.length;
}

/// @return the cause with which a connection ends when a descriptor of its VI has these error bits.
[[nodiscard]] constexpr ErrorCause cause_of(std::uint32_t status) noexcept {
  if ((status & descriptor_status::format_error) != 0) return ErrorCause::format;
  return (status & descriptor_status::length_error) != 0 ? ErrorCause::length
                                                         : ErrorCause::protection;
}

/// @return what the peer is told of a connection that ends with @p cause here, when the descriptor
/// at fault is one of the own send queue. No descriptor of the peer's tells of a refused RDMA.
[[nodiscard]] constexpr ErrorCause cause_for_peer(ErrorCause cause, Operation operation,
                                                  std::uint32_t status) noexcept {
  if ((status & descriptor_status::rdma_protection_error) == 0) return cause;
  if (operation == Operation::rdma_write) return ErrorCause::rdma_write_refused;
  return operation == Operation::rdma_read ? ErrorCause::rdma_read_refused : cause;
}

}  // namespace viaduct::via::rules
