/// Devices, ports and addresses.

#include <fcntl.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/soft-verbs/context.hpp"
#include "tests/soft-verbs/operations.hpp"

#undef ibv_query_port

namespace soft_verbs {

namespace {

constexpr std::uint32_t kVendor = 0x50f7;
constexpr int kMostRegions = 1 << 17;
constexpr int kPairsShown = 4000;

std::vector<std::unique_ptr<Device>> make_devices() {
  const char* setting = std::getenv("SOFT_VERBS_DEVICES");
  std::string_view list = setting != nullptr ? setting : kDefaultDevices;
  std::vector<std::unique_ptr<Device>> all;
  while (!list.empty()) {
    auto device = std::make_unique<Device>();
    constexpr std::size_t kMost = 32;
    if (!next_device(list, device->description) || all.size() == kMost) {
      std::fprintf(stderr,
                   "soft-verbs: SOFT_VERBS_DEVICES is '%s': a device is "
                   "NAME[:infiniband][:PORTS], separated by commas, at most 32\n",
                   setting);
      std::abort();
    }
    device->index = static_cast<std::uint16_t>(all.size());
    device->shown.node_type = IBV_NODE_CA;
    device->shown.transport_type = IBV_TRANSPORT_IB;
    const std::string& name = device->description.name;
    std::memcpy(device->shown.name, name.c_str(), name.size() + 1);
    std::memcpy(device->shown.dev_name, name.c_str(), name.size() + 1);
    all.push_back(std::move(device));
  }
  return all;
}

Control& make_control() {
  const char* file = std::getenv("SOFT_VERBS_CONTROL");
  Control* const made = open_control(file);
  const char* faults = std::getenv("SOFT_VERBS_FAULTS");
  std::string problem;
  if (made == nullptr)
    problem = std::string("cannot open SOFT_VERBS_CONTROL '") + file + "': " + std::strerror(errno);
  else if (faults != nullptr && *faults != '\0' && apply_faults(*made, faults, problem) &&
           made->announced.exchange(1) == 0)
    std::fprintf(stderr, "soft-verbs: faults %s\n", describe_faults(*made).c_str());
  if (!problem.empty()) {
    std::fprintf(stderr, "soft-verbs: %s\n", problem.c_str());
    std::abort();
  }
  return *made;
}

/// IPv4 10.77.PORT-1.DEVICE+1 in IPv6's form, or an address that is good on the link alone.
ibv_gid make_gid(Place place, bool link_local) {
  ibv_gid gid{};
  if (link_local) {
    gid.raw[0] = 0xfe;
    gid.raw[1] = 0x80;
    gid.raw[8] = 0x02;
    gid.raw[11] = 0xff;
    gid.raw[12] = 0xfe;
  } else {
    gid.raw[10] = gid.raw[11] = 0xff;
    gid.raw[12] = 10;
    gid.raw[13] = 77;
  }
  gid.raw[14] = static_cast<std::uint8_t>(place.port - 1);
  gid.raw[15] = static_cast<std::uint8_t>(place.device + 1);
  return gid;
}

template <class Use>
bool any_port(Use&& use) {
  for (const auto& device : devices())
    for (std::uint32_t port = 1; port <= device->description.ports; ++port)
      if (use(Place{device->index, static_cast<std::uint8_t>(port)})) return true;
  return false;
}

int query_port(ibv_context* shown, std::uint8_t port, ibv_port_attr* out, std::size_t bytes) {
  const Device& device = *context_of(shown).device;
  if (is_refused()) return errno;
  if (port == 0 || port > device.description.ports) return EINVAL;
  const Place place{device.index, port};
  ibv_port_attr all{};
  const bool infiniband = device.description.infiniband;
  const bool up = port_is_up(place);
  all.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  all.phys_state = up ? 5 : 3;  // link up, or disabled
  all.max_mtu = all.active_mtu = IBV_MTU_4096;
  all.gid_tbl_len = infiniband ? 1 : static_cast<int>(kGidsEthernet);
  all.max_msg_sz = 1U << 30;
  all.pkey_tbl_len = 1;
  all.lid = infiniband ? lid_of(place) : std::uint16_t{0};
  all.active_width = 1;
  all.active_speed = 32;
  all.link_layer = infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  std::memcpy(out, &all, std::min(bytes, sizeof all));
  return 0;
}

}  // namespace

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Both live as long as the process: a device may be used while it ends.
const std::vector<std::unique_ptr<Device>>& devices() {
  static const auto& kDevices = *new auto(make_devices());
  return kDevices;
}
Control& control() {
  static Control& page = make_control();
  return page;
}

bool is_refused() noexcept {
  if (!control().refuses_call()) return false;
  errno = ENOMEM;
  return true;
}

Context& context_of(ibv_context* shown) noexcept {
  static_assert(offsetof(Shown, verbs) == 0);
  return *reinterpret_cast<Shown*>(verbs_get_ctx(shown))->context;
}

std::uint16_t lid_of(Place place) noexcept {
  return static_cast<std::uint16_t>(16 * (place.device + 1) + place.port);
}

bool gid_entry(Place place, std::uint32_t at, ibv_gid_entry& out) {
  const bool infiniband = devices()[place.device]->description.infiniband;
  if (at >= (infiniband ? 1 : kGidsEthernet)) return false;
  out = {};
  out.gid = make_gid(place, at < 2);
  out.gid_index = at;
  out.port_num = place.port;
  out.gid_type = infiniband    ? IBV_GID_TYPE_IB
                 : at % 2 == 0 ? IBV_GID_TYPE_ROCE_V1
                               : IBV_GID_TYPE_ROCE_V2;
  return true;
}

bool find_gid(const ibv_gid& gid, Place& out) {
  return any_port([&](Place place) {
    for (const bool link_local : {false, true}) {
      const ibv_gid own = make_gid(place, link_local);
      out = place;
      if (std::memcmp(own.raw, gid.raw, sizeof own.raw) == 0) return true;
    }
    return false;
  });
}

bool find_lid(std::uint16_t lid, Place& out) {
  return any_port([&](Place place) {
    out = place;
    return devices()[place.device]->description.infiniband && lid_of(place) == lid;
  });
}

bool port_is_up(Place place) noexcept {
  const unsigned bit = Control::kPortsPerDevice * place.device + place.port - 1U;
  return (control().ports_down >> bit & 1) == 0 && (control().dead >> place.device & 1) == 0;
}

int resolve(const Context& context, const ibv_ah_attr& route, Place& out) {
  const DeviceDescription& own = context.device->description;
  if (route.port_num == 0 || route.port_num > own.ports) return EINVAL;
  if (!own.infiniband && route.is_global == 0) return EINVAL;
  ibv_gid_entry source;
  if (route.is_global != 0 &&
      !gid_entry({context.device->index, route.port_num}, route.grh.sgid_index, source))
    return EINVAL;
  const bool found =
      route.is_global != 0 ? find_gid(route.grh.dgid, out) : find_lid(route.dlid, out);
  if (!found || devices()[out.device]->description.infiniband != own.infiniband) return ENETUNREACH;
  return 0;
}

}  // namespace soft_verbs

using namespace soft_verbs;

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  if (is_refused()) return nullptr;
  const auto& all = devices();
  auto** const list = new ibv_device*[all.size() + 1]();
  for (std::size_t i = 0; i < all.size(); ++i) list[i] = &all[i]->shown;
  if (count != nullptr) *count = static_cast<int>(all.size());
  return list;
}

void ibv_free_device_list(ibv_device** list) { delete[] list; }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

int ibv_get_device_index(ibv_device* device) { return reinterpret_cast<Device*>(device)->index; }

__be64 ibv_get_device_guid(ibv_device* device) {
  ibv_gid_entry entry;
  (void)gid_entry({reinterpret_cast<Device*>(device)->index, 1}, 0, entry);
  return entry.gid.global.interface_id;
}

ibv_context* ibv_open_device(ibv_device* shown) {
  auto* const device = reinterpret_cast<Device*>(shown);
  if (is_refused()) return nullptr;
  if ((control().dead >> device->index & 1) != 0) {
    errno = EIO;
    return nullptr;
  }
  auto context = std::make_unique<Context>();
  context->device = device;
  context->random.seed(control().seed != 0 ? control().seed + device->index : now_ns());
  context->ports_down = control().ports_down;
  context->shown.context = context.get();
  verbs_context& verbs = context->shown.verbs;
  verbs.sz = sizeof verbs;
  verbs.query_port = query_port;
  verbs.context.device = shown;
  verbs.context.cmd_fd = -1;
  verbs.context.async_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (verbs.context.async_fd < 0) return nullptr;
  verbs.context.num_comp_vectors = 1;
  verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  verbs.context.ops.poll_cq = poll_queue;
  verbs.context.ops.req_notify_cq = arm_queue;
  verbs.context.ops.post_send = post_send;
  verbs.context.ops.post_recv = post_receive;
  verbs.context.ops.post_srq_recv = post_shared_receive;
  ++control().objects;
  return &context.release()->shown.verbs.context;
}

/// Refused, and said so, while there are objects of it, which libibverbs does not notice.
int ibv_close_device(ibv_context* shown) {
  Context& context = context_of(shown);
  {
    const std::lock_guard lock(context.mutex);
    if (context.objects != 0 && !context.forked) {
      std::fprintf(stderr, "soft-verbs: device %s is closed while %u objects of it are there\n",
                   context.device->shown.name, context.objects);
      return EBUSY;
    }
  }
  stop(context);
  close(shown->async_fd);
  --control().objects;
  delete &context;
  return 0;
}

int ibv_query_device(ibv_context* shown, ibv_device_attr* out) {
  if (is_refused()) return errno;
  *out = {};
  std::snprintf(out->fw_ver, sizeof out->fw_ver, "soft-verbs");
  out->node_guid = out->sys_image_guid = ibv_get_device_guid(shown->device);
  out->max_mr_size = ~0ULL;
  out->vendor_id = kVendor;
  out->max_qp = kPairsShown;
  out->max_qp_wr = static_cast<int>(kMostRequests);
  out->max_sge = static_cast<int>(kMostSegments);
  out->max_cq = 1 << 16;
  out->max_cqe = kMostEntries;
  out->max_mr = kMostRegions;
  out->max_pd = 1 << 16;
  out->max_qp_rd_atom = out->max_qp_init_rd_atom = static_cast<int>(kMostReads);
  out->atomic_cap = IBV_ATOMIC_GLOB;
  out->max_ah = 1 << 16;
  out->max_srq = 1 << 12;
  out->max_srq_wr = static_cast<int>(kMostRequests);
  out->max_srq_sge = static_cast<int>(kMostSegments);
  out->max_pkeys = 1;
  out->local_ca_ack_delay = 1;
  out->phys_port_cnt = static_cast<std::uint8_t>(context_of(shown).device->description.ports);
  return (control().dead >> context_of(shown).device->index & 1) != 0 ? EIO : 0;
}

int ibv_query_port(ibv_context* shown, uint8_t port, _compat_ibv_port_attr* out) {
  constexpr std::size_t kOldBytes = offsetof(ibv_port_attr, link_layer);
  return query_port(shown, port, reinterpret_cast<ibv_port_attr*>(out), kOldBytes);
}

int _ibv_query_gid_ex(ibv_context* shown, uint32_t port, uint32_t at, ibv_gid_entry* out,
                      uint32_t flags, size_t bytes) {
  const Device& device = *context_of(shown).device;
  ibv_gid_entry entry;
  if (is_refused()) return errno;
  if (flags != 0 || port == 0 || port > device.description.ports) return EINVAL;
  if (!gid_entry({device.index, static_cast<std::uint8_t>(port)}, at, entry)) return EINVAL;
  std::memcpy(out, &entry, std::min(bytes, sizeof entry));
  return 0;
}

int ibv_query_gid(ibv_context* shown, uint8_t port, int at, ibv_gid* out) {
  ibv_gid_entry entry;
  if (_ibv_query_gid_ex(shown, port, static_cast<std::uint32_t>(at), &entry, 0, sizeof entry) != 0)
    return -1;
  *out = entry.gid;
  return 0;
}

int ibv_query_pkey(ibv_context* shown, uint8_t port, int at, __be16* out) {
  if (port == 0 || port > context_of(shown).device->description.ports || at != 0) return -1;
  *out = 0xffff;
  return 0;
}

ibv_ah* ibv_create_ah(ibv_pd* domain, ibv_ah_attr* route) {
  Context& context = context_of(domain->context);
  if (is_refused()) return nullptr;
  Place to;
  if (const int error = resolve(context, *route, to); error != 0) {
    errno = error;
    return nullptr;
  }
  auto* const handle = new AddressHandle{};
  handle->context = domain->context;
  handle->pd = domain;
  handle->to = to;
  handle->from_port = route->port_num;
  const std::lock_guard lock(context.mutex);
  ++static_cast<Domain*>(domain)->uses;
  ++control().objects;
  return handle;
}

int ibv_destroy_ah(ibv_ah* shown) {
  const std::lock_guard lock(context_of(shown->context).mutex);
  --static_cast<Domain*>(shown->pd)->uses;
  --control().objects;
  delete static_cast<AddressHandle*>(shown);
  return 0;
}

}  // extern "C"
