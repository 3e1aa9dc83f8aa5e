#pragma once
/// @file
/// Addresses of the hub, written tcp://HOST:PORT.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/src/link.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

struct Address {
  std::string host;  ///< name or number, without brackets
  std::string port;
};

/// Reads tcp://HOST:PORT, where HOST may be [v6].  Nothing when it is something else.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);
[[nodiscard]] std::string to_string(const Address& address);

/// A listening socket at @p address; port 0 takes a free one.  Throws Error: not an address of this
/// host, in use, unknown name.
[[nodiscard]] FileDescriptor listen_at(const Address& address);
/// At any address of this host, or at 127.0.0.1 alone.
[[nodiscard]] FileDescriptor listen_anywhere(bool loopback_only);
[[nodiscard]] std::uint16_t port_of(int socket);

/// tcp://... of every address that this host has, the loopback's last.
[[nodiscard]] std::vector<std::string> own_addresses(std::uint16_t port, bool loopback_only);

/// Connects to the first of @p addresses that answers; tries again until @p limit, since the hub
/// may come later. None when none has. Throws Error for a name that is not known.
[[nodiscard]] FileDescriptor connect_to(const std::vector<Address>& addresses,
                                        link::Clock::time_point limit, std::string& last_problem);

/// No waiting for small frames, and the end of a vanished peer's connection is noticed.
void prepare_connection(int socket) noexcept;

/// Separated by commas; throws Error naming the part that is no address.
[[nodiscard]] std::vector<Address> parse_addresses(std::string_view list);

}  // namespace viaduct
