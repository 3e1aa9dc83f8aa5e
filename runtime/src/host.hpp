#pragma once
/// @file
/// Which processes can share memory: those on one host.

#include <string>

namespace viaduct {

inline constexpr std::size_t kMaxHostKeyBytes = 63;

/// The same for all processes that can share memory and name each other's: this kernel's boot, and
/// the namespaces of network and processes. VIADUCT_HOST_KEY replaces it.  Throws Error when that
/// is empty or too long.
[[nodiscard]] std::string host_key();

/// The name of the host, for messages.
[[nodiscard]] std::string host_name();

}  // namespace viaduct
