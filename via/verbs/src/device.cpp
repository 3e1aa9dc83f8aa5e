#include "via/verbs/src/device.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {

/// A candidate: a port, and the best address that it has.
struct Candidate {
  ibv_device* device;
  PortInfo info;
};

/// The devices there are; freed with the list.
class DeviceList {
 public:
  DeviceList() : list_(library().get_device_list(&count_)) {
    if (list_ == nullptr && errno != ENOSYS)  // without RDMA in the kernel there is no device
      throw Error(errors::rdma_device, errno, "libibverbs cannot list the RDMA devices");
  }
  ~DeviceList() {
    if (list_ != nullptr) library().free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  [[nodiscard]] ibv_device** begin() const noexcept { return list_; }
  [[nodiscard]] ibv_device** end() const noexcept { return list_ + count_; }

 private:
  int count_ = 0;
  ibv_device** list_;
};

std::string text_of(const ibv_gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, gid.raw, text.data(), text.size());
  return text.data();
}

const char* text_of_type(std::uint32_t type) noexcept {
  switch (type) {
    case IBV_GID_TYPE_IB:
      return "InfiniBand";
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    default:
      return "RoCE v2";
  }
}

bool is_link_local(const ibv_gid& gid) noexcept {
  return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}
bool is_ipv4(const ibv_gid& gid) noexcept {
  static constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

/// How good an address is: routed ones of RoCE v2 first, those of IPv4 before others, then
/// those for one link only. Zero: not to be used.
int merit(const ibv_gid_entry& entry, bool ethernet) noexcept {
  static constexpr ibv_gid kNone{};
  if (std::memcmp(entry.gid.raw, kNone.raw, sizeof kNone.raw) == 0) return 0;
  if (!ethernet) return entry.gid_index == 0 ? 2 : 1;
  const int routed = is_link_local(entry.gid) ? 0 : is_ipv4(entry.gid) ? 2 : 1;
  return (entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 4 : 1) + routed;
}

std::optional<ibv_gid_entry> gid_at(ibv_context* context, std::uint32_t port, std::uint32_t at) {
  ibv_gid_entry entry{};
  if (library().query_gid_ex(context, port, at, &entry, 0, sizeof entry) != 0) return std::nullopt;
  return entry;
}

std::optional<ibv_gid_entry> best_gid(ibv_context* context, std::uint32_t port,
                                      const ibv_port_attr& attributes) {
  const bool ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  std::optional<ibv_gid_entry> best;
  for (int i = 0; i < attributes.gid_tbl_len; ++i) {
    const auto entry = gid_at(context, port, static_cast<std::uint32_t>(i));
    if (entry && merit(*entry, ethernet) > (best ? merit(*best, ethernet) : 0)) best = entry;
  }
  return best;
}

double speed_of(const ibv_port_attr& attributes) noexcept {
  double lane = 2.5;
  switch (attributes.active_speed) {
    case 2:
      lane = 5;
      break;
    case 4:
    case 8:
      lane = 10;
      break;
    case 16:
      lane = 14;
      break;
    case 32:
      lane = 25;
      break;
    case 64:
      lane = 50;
      break;
    case 128:
      lane = 100;
      break;
    default:
      break;
  }
  switch (attributes.active_width) {
    case 2:
      return 4 * lane;
    case 4:
      return 8 * lane;
    case 8:
      return 12 * lane;
    case 16:
      return 2 * lane;
    default:
      return lane;
  }
}

PortInfo describe(ibv_context* context, std::uint8_t port, std::string name,
                  const ibv_device_attr& limits) {
  PortInfo info;
  info.device = std::move(name);
  info.port = port;
  info.max_queue_pairs = static_cast<std::uint32_t>(limits.max_qp);
  info.max_queue_depth = static_cast<std::uint32_t>(limits.max_qp_wr);
  info.max_regions = static_cast<std::uint32_t>(limits.max_mr);
  info.max_shared_receives = static_cast<std::uint32_t>(limits.max_srq_wr);
  ibv_port_attr attributes{};
  if (query_port(context, port, attributes) != 0) return info;
  info.active = attributes.state == IBV_PORT_ACTIVE;
  info.ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  info.mtu_bytes = 128U << static_cast<unsigned>(attributes.active_mtu);
  info.gigabits_per_second = speed_of(attributes);
  if (const auto gid = best_gid(context, port, attributes)) {
    info.gid_index = static_cast<std::int32_t>(gid->gid_index);
    info.gid = text_of(gid->gid);
    info.gid_type = text_of_type(gid->gid_type);
  }
  return info;
}

/// What there is on this machine.
struct Look {
  std::vector<Candidate> ports;
  std::string closed;  // devices that cannot be looked at, each with the reason
};

Look look(const DeviceList& list) {
  Look all;
  for (ibv_device* device : list) {
    const OwnedContext context(library().open_device(device));
    ibv_device_attr limits{};
    const int problem = context == nullptr ? errno : library().query_device(context.get(), &limits);
    const char* const name = library().get_device_name(device);
    if (problem != 0) {
      all.closed += (all.closed.empty() ? "" : ", ") + std::string(name) +
                    " (cannot be opened: " + std::strerror(problem) + ")";
      continue;
    }
    for (std::uint8_t port = 1; port <= limits.phys_port_cnt; ++port)
      all.ports.push_back({device, describe(context.get(), port, name, limits)});
  }
  return all;
}

bool usable(const PortInfo& info) noexcept { return info.active && info.gid_index >= 0; }

/// The fastest port that is up; the first of equals.
std::int32_t choose(const std::vector<Candidate>& all) noexcept {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PortInfo& info = all[i].info;
    if (usable(info) &&
        (best < 0 ||
         info.gigabits_per_second > all[static_cast<std::size_t>(best)].info.gigabits_per_second))
      best = static_cast<std::int32_t>(i);
  }
  return best;
}

/// One device of a list: NAME, NAME:PORT or NAME:PORT:GID-INDEX.
struct Wish {
  std::string source;  // what names it, for people
  std::string name;    // empty: the best
  std::int32_t port = -1;
  std::int32_t gid_index = -1;
};

Wish parse(std::string_view entry, const std::string& source) {
  const auto next_field = [&entry] {
    const std::string_view field = entry.substr(0, entry.find(':'));
    entry.remove_prefix(field.size());
    return field;
  };
  Wish wish{source, std::string(next_field())};
  bool good = !wish.name.empty();
  for (std::int32_t* const number : {&wish.port, &wish.gid_index}) {
    if (entry.empty()) break;
    entry.remove_prefix(1);  // the colon
    const std::string_view digits = next_field();
    const char* const digits_end = digits.data() + digits.size();
    const auto [end, bad] = std::from_chars(digits.data(), digits_end, *number);
    good = good && bad == std::errc() && end == digits_end && *number >= 0;
  }
  if (!good || !entry.empty())
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                source +
                    ": a device is NAME, NAME:PORT or NAME:PORT:GID-INDEX, for example "
                    "mlx5_0:1:3");
  return wish;
}

/// Of @p device, that of a provider's name, else of the setting; both may be lists.
Wish wish_of(std::string_view device, const Settings& settings, std::uint32_t turn) {
  const std::string list(device.empty() ? std::string_view(settings.device) : device);
  const std::string source = (device.empty() ? "VIADUCT_VERBS_DEVICE=" : "provider verbs:") + list;
  if (list.empty() || list == "auto") return {source, {}};
  std::vector<Wish> all;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    all.push_back(parse(std::string_view(list).substr(begin, end - begin), source));
    begin = end + 1;
  }
  return all[turn % all.size()];
}

/// Which of them @p wish means: the port named, or the first usable one of the device named;
/// without a name the best. -1: none.
std::int32_t select(const std::vector<Candidate>& all, const Wish& wish) {
  if (wish.name.empty()) return choose(all);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Candidate& c) {
    return c.info.device == wish.name &&
           (wish.port < 0 ? usable(c.info) : c.info.port == static_cast<std::uint32_t>(wish.port));
  });
  return found == all.end() ? -1 : static_cast<std::int32_t>(found - all.begin());
}

std::string list_of(const Look& all) {
  std::string text = all.closed;
  for (const Candidate& c : all.ports)
    text += (text.empty() ? "" : ", ") + c.info.device + ":" + std::to_string(c.info.port) +
            (c.info.active ? "" : " (down)");
  return text.empty() ? "none" : text;
}

std::string nothing_selected(const Look& all, const Wish& wish) {
  return wish.name.empty()
             ? "no port of an RDMA device is up and has an address; there are: " + list_of(all)
             : "there is no RDMA device '" + wish.name + "' with such a port that is up (" +
                   wish.source + "); there are: " + list_of(all);
}

}  // namespace

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& out) noexcept {
  // Does the same as the header's macro, without an extension of the language.
  verbs_context* const extended = verbs_get_ctx(context);
  const bool offered = extended != nullptr &&
                       extended->sz >= sizeof *extended - offsetof(verbs_context, query_port) &&
                       extended->query_port != nullptr;
  return offered ? extended->query_port(context, port, &out, sizeof out) : ENOSYS;
}

Device::Device(const Settings& settings, std::string_view device, std::uint32_t turn)
    : settings_(settings) {
  const DeviceList list;
  const Look all = look(list);
  if (all.ports.empty() && all.closed.empty())
    throw Error(errors::rdma_device, std::errc::no_such_device,
                "provider verbs finds no RDMA device (ibv_devices lists them): load the device's "
                "driver, for Soft-RoCE 'rdma link add rxe0 type rxe netdev eth0', or, with all "
                "ranks on one host, use provider shm");
  const Wish wish = wish_of(device, settings, turn);
  const std::int32_t at = select(all.ports, wish);
  if (at < 0)
    throw Error(errors::rdma_device, std::errc::no_such_device, nothing_selected(all, wish));
  const Candidate& chosen = all.ports[static_cast<std::size_t>(at)];
  name_ = chosen.info.device;
  port_ = static_cast<std::uint8_t>(chosen.info.port);
  const std::int32_t gid = wish.gid_index >= 0 ? wish.gid_index : chosen.info.gid_index;
  context_.reset(library().open_device(chosen.device));
  if (context_ == nullptr)
    throw Error(errors::rdma_device, errno,
                "cannot open RDMA device " + name_ +
                    ": may this user read and write /dev/infiniband/uverbs*?");
  const auto entry = gid_at(context(), port_, static_cast<std::uint32_t>(std::max(gid, 0)));
  if (gid < 0 || !entry || library().query_device(context(), &limits_) != 0 ||
      query_port(context(), port_, port_attributes_) != 0) {
    throw Error(errors::rdma_device, std::errc::no_such_device,
                "port " + std::to_string(port_) + " of RDMA device " + name_ +
                    " has no address of index " + std::to_string(gid) + " (" + wish.source + ")");
  }
  gid_ = entry->gid;
  gid_index_ = static_cast<std::uint8_t>(gid);
}

std::size_t Device::most_request_bytes() const noexcept {
  constexpr std::uint32_t kSoftRoceVendor = 0xffffff;
  constexpr std::size_t kPackets = 8;
  if (limits_.vendor_id != kSoftRoceVendor) return port_attributes_.max_msg_sz;
  return kPackets * (std::size_t{128} << port_attributes_.active_mtu);
}

bool Device::port_is_active() const noexcept {
  ibv_port_attr now{};
  return query_port(context(), port_, now) == 0 && now.state == IBV_PORT_ACTIVE;
}

void Device::fill(Address& address) const noexcept {
  address.magic = Address::kMagic;
  address.lid = port_attributes_.lid;
  address.ethernet = port_attributes_.link_layer == IBV_LINK_LAYER_ETHERNET ? 1 : 0;
  address.mtu = static_cast<std::uint8_t>(port_attributes_.active_mtu);
  std::memcpy(address.gid, gid_.raw, sizeof address.gid);
}

/// Within a subnet of InfiniBand the LID is enough; a global header is for RoCE and for routers.
ibv_ah_attr Device::route_to(const Address& peer) const noexcept {
  ibv_ah_attr route{};
  constexpr std::size_t kPrefixBytes = 8;
  const bool same_subnet = std::memcmp(peer.gid, gid_.raw, kPrefixBytes) == 0;
  route.dlid = peer.lid;
  route.sl = static_cast<std::uint8_t>(settings_.service_level);
  route.port_num = port_;
  if (peer.ethernet != 0 || peer.lid == 0 || !same_subnet) {
    route.is_global = 1;
    std::memcpy(route.grh.dgid.raw, peer.gid, sizeof peer.gid);
    route.grh.sgid_index = gid_index_;
    route.grh.hop_limit = 64;
    route.grh.traffic_class = static_cast<std::uint8_t>(settings_.traffic_class);
  }
  return route;
}

Found find_ports(std::string_view device, std::uint32_t turn) {
  Found found;
  try {
    const DeviceList list;
    const Look all = look(list);
    for (const Candidate& c : all.ports) found.ports.push_back(c.info);
    Settings settings;
    if (device.empty()) config::load(&settings, options());
    const Wish wish = wish_of(device, settings, turn);
    found.chosen = select(all.ports, wish);
    if (all.ports.empty() && all.closed.empty())
      found.problem =
          "there is no RDMA device: load the device's driver, for Soft-RoCE 'rdma link add rxe0 "
          "type rxe netdev eth0'";
    else if (found.chosen < 0)
      found.problem = nothing_selected(all, wish);
  } catch (const std::exception& e) {
    found.problem = e.what();
  }
  return found;
}

}  // namespace viaduct::via::verbs
