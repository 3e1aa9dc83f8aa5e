#pragma once
/// @file
/// RDMA devices that are made up: what the library asks of them comes from tables, and what it
/// wants of their queue pairs is written down.

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "via/verbs/src/library.hpp"

namespace viaduct::via::verbs {

struct FakeGid {
  const char* address;  ///< as inet_pton takes it
  std::uint32_t type = IBV_GID_TYPE_ROCE_V2;
};

struct FakePort {
  bool active = true;
  bool ethernet = true;
  std::uint8_t speed = 32;  ///< lanes of 25 Gb/s
  std::uint8_t width = 2;   ///< four lanes
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint16_t lid = 0;
  std::vector<FakeGid> gids;
};

struct FakeDevice {
  std::string name;
  std::vector<FakePort> ports;
  std::uint32_t vendor = 0x2c9;
};

/// Stands in for libibverbs while it lives. One at a time.
class FakeLibrary {
 public:
  explicit FakeLibrary(std::vector<FakeDevice> devices) : real_(library()) {
    for (FakeDevice& device : devices) machine().emplace_back(std::move(device));
    auto& l = const_cast<Library&>(library());
    l.get_device_list = [](int* count) {
      auto** list = new ibv_device*[machine().size() + 1]();
      for (std::size_t i = 0; i < machine().size(); ++i) list[i] = &machine()[i].device;
      *count = static_cast<int>(machine().size());
      return list;
    };
    l.free_device_list = [](ibv_device** list) { delete[] list; };
    l.get_device_name = [](ibv_device* device) { return of(device).made_up.name.c_str(); };
    l.open_device = [](ibv_device* device) {
      ++opened();
      return &of(device).context.context;
    };
    l.close_device = [](ibv_context*) { return --opened(), 0; };
    l.query_device = [](ibv_context* context, ibv_device_attr* out) {
      *out = {};
      out->vendor_id = of(context->device).made_up.vendor;
      out->phys_port_cnt = static_cast<std::uint8_t>(of(context->device).made_up.ports.size());
      out->max_qp = 1000;
      out->max_qp_rd_atom = 128;
      out->max_qp_init_rd_atom = 4;
      return 0;
    };
    l.query_gid_ex = [](ibv_context* context, std::uint32_t port, std::uint32_t at,
                        ibv_gid_entry* out, std::uint32_t, std::size_t) {
      const auto& gids = of(context->device).made_up.ports.at(port - 1).gids;
      if (at >= gids.size()) return ENODATA;
      *out = {};
      out->gid_index = at;
      out->port_num = port;
      out->gid_type = gids[at].type;
      return inet_pton(AF_INET6, gids[at].address, out->gid.raw) == 1 ? 0 : EINVAL;
    };
    l.create_qp = [](ibv_pd*, ibv_qp_init_attr*) {
      auto* pair = new ibv_qp{};
      pair->qp_num = 77;
      pair->context = &machine().front().context.context;
      return pair;
    };
    l.destroy_qp = [](ibv_qp* pair) {
      delete pair;
      return 0;
    };
    l.modify_qp = [](ibv_qp*, ibv_qp_attr* attributes, int) {
      transitions().push_back(*attributes);
      return 0;
    };
    transitions().clear();
    posts() = 0;
  }
  ~FakeLibrary() {
    const_cast<Library&>(library()) = real_;
    machine().clear();
  }
  FakeLibrary(const FakeLibrary&) = delete;
  FakeLibrary& operator=(const FakeLibrary&) = delete;

  /// Devices that are open.
  static int& opened() {
    static int count = 0;
    return count;
  }
  /// What queue pairs were told, in order.
  static std::vector<ibv_qp_attr>& transitions() {
    static std::vector<ibv_qp_attr> all;
    return all;
  }
  /// Calls of ibv_post_send().
  static int& posts() {
    static int count = 0;
    return count;
  }

 private:
  struct Entry {
    explicit Entry(FakeDevice&& device_made_up) : made_up(std::move(device_made_up)) {
      context.sz = sizeof context;
      context.query_port = [](ibv_context* c, std::uint8_t port, ibv_port_attr* out, std::size_t) {
        const FakePort& p = of(c->device).made_up.ports.at(port - 1U);
        *out = {};
        out->state = p.active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
        out->link_layer = p.ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
        out->active_mtu = p.mtu;
        out->active_speed = p.speed;
        out->active_width = p.width;
        out->lid = p.lid;
        out->max_msg_sz = 1U << 31;
        out->gid_tbl_len = static_cast<int>(p.gids.size());
        return 0;
      };
      context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
      context.context.device = &device;
      context.context.ops.post_send = [](ibv_qp*, ibv_send_wr*, ibv_send_wr**) {
        return ++posts(), 0;
      };
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    FakeDevice made_up;
    ibv_device device{};
    verbs_context context{};
  };
  static std::deque<Entry>& machine() {
    static std::deque<Entry> all;
    return all;
  }
  static Entry& of(const ibv_device* device) {
    for (Entry& entry : machine())
      if (&entry.device == device) return entry;
    std::abort();
  }

  Library real_;
};

}  // namespace viaduct::via::verbs
