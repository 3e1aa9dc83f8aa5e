#pragma once
/// @file
/// An open RDMA device with the port and the address on it that a rank uses.

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "via/verbs/provider.hpp"
#include "via/verbs/settings.hpp"
#include "via/verbs/src/library.hpp"
#include "via/verbs/src/owned.hpp"

namespace viaduct::via::verbs {

/// The address of a rank's NIC; travels in the bootstrap.
struct Address {
  static constexpr std::uint32_t kMagic = 0x56425332;  // "VBS2"
  std::uint32_t magic = 0;
  std::uint32_t control_queue = 0;  // number of the queue pair for control messages
  std::uint32_t control_key = 0;    // its key: tells this job's control messages from others'
  std::uint16_t lid = 0;            // InfiniBand
  std::uint8_t ethernet = 0;
  std::uint8_t mtu = 0;  // enum ibv_mtu
  std::uint8_t gid[16] = {};
};

class Device {
 public:
  /// @p device: "auto", or a list as VIADUCT_VERBS_DEVICE takes it, of which entry @p turn is used;
  /// "": the list of @p settings.  Throws Error that names the ports that there are.
  Device(const Settings& settings, std::string_view device, std::uint32_t turn);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] ibv_context* context() const noexcept { return context_.get(); }
  [[nodiscard]] const ibv_device_attr& limits() const noexcept { return limits_; }
  [[nodiscard]] const ibv_port_attr& port_attributes() const noexcept { return port_attributes_; }
  [[nodiscard]] std::uint8_t port() const noexcept { return port_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] bool port_is_active() const noexcept;
  /// Bytes that a bulk request should carry at most. Soft-RoCE counts the repetitions of a whole
  /// message together, so that long ones do not arrive on a link that loses packets.
  [[nodiscard]] std::size_t most_request_bytes() const noexcept;

  /// Fills in the fields that this class knows.
  void fill(Address& address) const noexcept;
  /// The route to @p peer.
  [[nodiscard]] ibv_ah_attr route_to(const Address& peer) const noexcept;

 private:
  Settings settings_;
  std::string name_;
  OwnedContext context_;
  ibv_device_attr limits_{};
  ibv_port_attr port_attributes_{};
  ibv_gid gid_{};
  std::uint8_t port_ = 0;
  std::uint8_t gid_index_ = 0;
};

/// As ibv_query_port().
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& out) noexcept;

}  // namespace viaduct::via::verbs
