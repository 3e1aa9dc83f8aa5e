#pragma once
/// @file
/// The attributes and messages that the two sides of an attempt to connect exchange.

#include "via/vipl/src/library.hpp"

namespace viaduct::via::vipl {

/// The attributes of a VI that the other side needs.
[[nodiscard]] inline RemoteAttributes attributes_of(const Vi& vi) noexcept {
  return {vi.max_transfer, static_cast<std::uint8_t>(vi.attributes.ReliabilityLevel),
          static_cast<std::uint8_t>(vi.attributes.EnableRdmaWrite != VIP_FALSE),
          static_cast<std::uint8_t>(vi.attributes.EnableRdmaRead != VIP_FALSE)};
}

/// The same as the program sees them.
inline void show(const RemoteAttributes& from, VIP_VI_ATTRIBUTES& to) noexcept {
  to = VIP_VI_ATTRIBUTES{};
  to.ReliabilityLevel = from.reliability;
  to.MaxTransferSize = from.max_transfer;
  to.EnableRdmaWrite = from.rdma_write;
  to.EnableRdmaRead = from.rdma_read;
}

/// Whether two VIs can be connected.
[[nodiscard]] inline VIP_RETURN compare(const RemoteAttributes& a,
                                        const RemoteAttributes& b) noexcept {
  if (a.reliability != b.reliability) return VIP_INVALID_RELIABILITY_LEVEL;
  return a.max_transfer != b.max_transfer ? VIP_INVALID_MTU : VIP_SUCCESS;
}

[[nodiscard]] inline Message message_of(MessageKind kind, std::uint64_t id,
                                        std::uint64_t other = 0) noexcept {
  Message message;
  message.kind = kind;
  message.id = id;
  message.other = other;
  return message;
}

}  // namespace viaduct::via::vipl
