/// The name service: names of the job's processes.

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "via/vipl/src/address.hpp"
#include "via/vipl/src/library.hpp"

namespace viaduct::via::vipl {
namespace {

constexpr std::string_view kRank = "rank";

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view without_domain(std::string_view host) { return host.substr(0, host.find('.')); }

/// Host names are equal when their first parts are and one of them has no more.
bool same_host_name(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const bool short_one =
      a.find('.') == std::string_view::npos || b.find('.') == std::string_view::npos;
  return short_one && without_domain(a) == without_domain(b);
}

bool is_named(Port& port, Rank rank, std::string_view name) {
  if (name == "localhost" || name == "127.0.0.1") return port.job().same_host(rank);
  const Port::Names names = port.names_of(rank);
  return (!names.own.empty() && names.own == name) || same_host_name(names.host, name);
}

/// The @p nth process of that name; none.
std::optional<Rank> find_name(Port& port, std::string_view name, VIP_ULONG nth) {
  const std::uint32_t ranks = port.job().size();
  if (name.starts_with(kRank)) {
    const auto number = number_in(name.substr(kRank.size()));
    if (number && *number < ranks && nth == 0) return Rank{*number};
  }
  if (const std::size_t mark = name.rfind('#'); mark != std::string_view::npos && nth == 0) {
    const auto number = number_in(name.substr(mark + 1));
    if (number) return find_name(port, name.substr(0, mark), *number);
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (is_named(port, Rank{rank}, name) && nth-- == 0) return Rank{rank};
  return std::nullopt;
}

/// A name that leads back to @p rank with index 0.
std::string name_of(Port& port, Rank rank) {
  const Port::Names names = port.names_of(rank);
  if (!names.own.empty() && find_name(port, names.own, 0) == rank) return names.own;
  if (find_name(port, names.host, 0) == rank) return names.host;
  for (std::uint32_t nth = 1; nth < port.job().size(); ++nth)
    if (find_name(port, names.host, nth) == rank) return names.host + '#' + std::to_string(nth);
  return std::string(kRank) + std::to_string(index(rank));
}

VIP_RETURN discover(Port& port, VIP_AUTODISCOVERY_LIST& list) {
  const std::uint32_t ranks = port.job().size();
  const bool fits = list.NumAdAddrs >= ranks;
  if (fits) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (list.ADAddrArray == nullptr || list.ADAddrArray[rank] == nullptr)
        return VIP_INVALID_PARAMETER;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      write_address(*list.ADAddrArray[rank], Rank{rank}, Discriminator{});
    list.NumberOfHops = 1;
  }
  list.NumAdAddrs = ranks;
  return fits ? VIP_SUCCESS : VIP_ERROR_RESOURCE;
}

}  // namespace
extern "C" {

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType,
                                        VIP_PVOID SysManInfo) {
  return call([&](Port& port) {
    if (find<Nic>(NicHandle) == nullptr || SysManInfo == nullptr) return VIP_INVALID_PARAMETER;
    if (InfoType != VIP_SMI_AUTODISCOVERY) return VIP_ERROR_NOT_SUPPORTED;
    return discover(port, *static_cast<VIP_AUTODISCOVERY_LIST*>(SysManInfo));
  });
}

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID /*NSInitInfo*/) {
  return call([&](Port&) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    nic->names = true;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Out,
                              VIP_ULONG NameIndex) {
  return call([&](Port& port) {
    const Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr || Name == nullptr || Out == nullptr) return VIP_INVALID_PARAMETER;
    if (!nic->names) return VIP_ERROR_NAMESERVICE;
    const std::optional<Rank> rank = find_name(port, Name, NameIndex);
    if (!rank) return VIP_ERROR_NAMESERVICE;
    write_address(*Out, *rank, Discriminator{});
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* In, VIP_CHAR* Name,
                              VIP_ULONG* NameLen) {
  return call([&](Port& port) {
    const Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr || In == nullptr || Name == nullptr || NameLen == nullptr)
      return VIP_INVALID_PARAMETER;
    if (!nic->names) return VIP_ERROR_NAMESERVICE;
    Address address;
    const VIP_RETURN read = read_address(*In, port.job().size(), address);
    if (read == VIP_INVALID_PARAMETER) return read;
    if (read != VIP_SUCCESS || !address.has_host) return VIP_ERROR_NAMESERVICE;
    const std::string name = name_of(port, address.host);
    const bool fits = *NameLen > name.size();
    *NameLen = name.size() + 1;
    if (!fits) return VIP_ERROR_RESOURCE;
    std::memcpy(Name, name.c_str(), name.size() + 1);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle) {
  return call([&](Port&) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    if (!nic->names) return VIP_ERROR_NAMESERVICE;
    nic->names = false;
    return VIP_SUCCESS;
  });
}

}  // extern "C"

}  // namespace viaduct::via::vipl
