#pragma once
/// @file
/// Provider verbs: InfiniBand, RoCE and Soft-RoCE by libibverbs' reliable connections. The library
/// is loaded when a NIC is opened: a program runs where it is missing.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "viaduct/via/nic.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::verbs {

/// Opens a NIC on @p device ("": VIADUCT_VERBS_DEVICE). Collective.  Throws Error: the library is
/// missing, there is no device or it cannot be opened, no port of it is up, too little memory may
/// be locked, ranks are on Ethernet and on InfiniBand, or of other builds, or this build is without
/// the provider.
[[nodiscard]] std::unique_ptr<via::Nic> open(Job& job, std::string_view device = {});

/// The same as a transport of channels (via/transport.hpp).  Collective. Throws Error as
/// open().
[[nodiscard]] std::unique_ptr<via::Transport> open_transport(Job& job,
                                                             std::string_view device = {});

/// A port of an RDMA device, as viaduct-info shows it.
struct PortInfo {
  std::string device;
  std::uint32_t port = 0;
  bool active = false;
  bool ethernet = false;        ///< RoCE; else InfiniBand
  std::uint32_t mtu_bytes = 0;  ///< of packets
  double gigabits_per_second = 0;
  std::int32_t gid_index = -1;        ///< that would be used, -1: none
  std::string gid;                    ///< as text
  std::string gid_type;               ///< "InfiniBand", "RoCE v1", "RoCE v2"
  std::uint32_t max_queue_pairs = 0;  ///< of the device, as are the following
  std::uint32_t max_queue_depth = 0;
  std::uint32_t max_regions = 0;
  std::uint32_t max_shared_receives = 0;
};

struct Found {
  std::string problem;  ///< why there are no ports, with the remedy; or empty
  std::vector<PortInfo> ports;
  std::int32_t chosen = -1;  ///< which of them a NIC would take, -1: none
};

/// Looks at the machine; chooses as open() does with @p device, after @p turn ranks of this host.
/// Throws nothing.
/// Cost: loads the library and opens every device.
[[nodiscard]] Found find_ports(std::string_view device = {}, std::uint32_t turn = 0);

}  // namespace viaduct::via::verbs
