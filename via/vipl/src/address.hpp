#pragma once
/// @file
/// VIP_NET_ADDRESS: its two parts.

#include <cstring>

#include "via/vipl/src/library.hpp"

namespace viaduct::via::vipl {

/// Host and discriminator of an address of the program's.
struct Address {
  bool has_host = false;
  Rank host{};
  Discriminator discriminator;
};

/// VIP_SUCCESS; VIP_INVALID_PARAMETER: the lengths make no sense; VIP_NOT_REACHABLE: no such host
/// in this job.
inline VIP_RETURN read_address(const VIP_NET_ADDRESS& from, std::uint32_t ranks,
                               Address& to) noexcept {
  const std::uint8_t* const bytes = from.HostAddress;
  if ((from.HostAddressLen != 0 && from.HostAddressLen != kHostAddressBytes) ||
      from.DiscriminatorLen > Discriminator::kMaxBytes)
    return VIP_INVALID_PARAMETER;
  to.discriminator.bytes = from.DiscriminatorLen;
  std::memcpy(to.discriminator.value.data(), bytes + from.HostAddressLen, from.DiscriminatorLen);
  to.has_host = from.HostAddressLen != 0;
  if (!to.has_host) return VIP_SUCCESS;
  const std::uint32_t rank = std::uint32_t{bytes[2]} << 24 | std::uint32_t{bytes[3]} << 16 |
                             std::uint32_t{bytes[4]} << 8 | std::uint32_t{bytes[5]};
  if (bytes[0] != 'V' || bytes[1] != 'I' || rank >= ranks) return VIP_NOT_REACHABLE;
  to.host = Rank{rank};
  return VIP_SUCCESS;
}

/// Into memory of the program's, which is large enough for both parts.
inline void write_address(VIP_NET_ADDRESS& to, Rank host,
                          const Discriminator& discriminator) noexcept {
  const HostAddress address = host_address(host);
  to.HostAddressLen = kHostAddressBytes;
  to.DiscriminatorLen = discriminator.bytes;
  std::uint8_t* const bytes = to.HostAddress;
  std::memcpy(bytes, address.data(), address.size());
  std::memcpy(bytes + address.size(), discriminator.value.data(), discriminator.bytes);
}

}  // namespace viaduct::via::vipl
