/// NICs, protection tags, memory.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/errors/codes.hpp"
#include "via/fault/provider.hpp"
#include "via/vipl/src/library.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/version.hpp"

namespace viaduct::via::vipl {
namespace {

/// Whether @p name is a provider's, with or without a device behind a colon.
bool is_provider(std::string_view name, std::string_view provider) {
  return name == provider || (name.starts_with(provider) && name.size() > provider.size() + 1 &&
                              name[provider.size()] == ':');
}

/// Whether programs of the time would have called a device so: /dev/via_eth0, nic0, VINIC, clanvi0,
/// ServerNet II, \\.\clan0.
bool is_device_of_the_time(std::string_view name) {
  constexpr std::array<std::string_view, 13> kStems{"vi",    "nic",  "clan",   "gm",        "myri",
                                                    "eth",   "lo",   "sn",     "servernet", "bvia",
                                                    "lanai", "fnic", "default"};
  for (const std::string_view folder : {"/dev/", R"(\\.\)"})
    if (name.starts_with(folder)) name.remove_prefix(folder.size());
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kStems.begin(), kStems.end(),
                     [&](std::string_view stem) { return lower.starts_with(stem); });
}

bool is_listed(std::string_view name, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// The provider that a device name means, "" for the default one; false: the name means no device.
bool provider_of(std::string_view device, std::string& provider) {
  if (is_provider(device, "shm") || is_provider(device, "verbs") || fault::is_fault(device)) {
    provider = device;
    return true;
  }
  Settings settings;
  config::load(&settings, options());
  return is_device_of_the_time(device) || is_listed(device, settings.devices);
}

/// The tag of memory attributes, and whether they make sense here.
VIP_RETURN check(Port& port, const Nic& nic, const VIP_MEM_ATTRIBUTES& attributes, Ptag*& tag) {
  tag = find<Ptag>(attributes.Ptag);
  if (tag == nullptr || tag->nic != &nic) return VIP_INVALID_PTAG;
  if (attributes.EnableRdmaRead != VIP_FALSE && !port.nic().attributes().rdma_read)
    return VIP_INVALID_RDMAREAD;
  return VIP_SUCCESS;
}

Rights rights_of(const VIP_MEM_ATTRIBUTES& attributes) noexcept {
  return (attributes.EnableRdmaWrite != VIP_FALSE ? Rights::rdma_write : Rights::none) |
         (attributes.EnableRdmaRead != VIP_FALSE ? Rights::rdma_read : Rights::none);
}

/// The region that @p handle names and that begins at @p address, or null.
Region* find_region(Port& port, const Nic& nic, const void* address, VIP_MEM_HANDLE handle) {
  Region* const found = port.regions.find(handle);
  return found != nullptr && found->nic == &nic && found->region.address() == address ? found
                                                                                      : nullptr;
}

/// Makes the VIs forget the region if it was that of their last descriptor.
void forget_region(Port& port, VIP_MEM_HANDLE handle) noexcept {
  for (const auto& vi : port.vis)
    if (vi->region_handle == handle) vi->region_bytes = 0;
}

VIP_RELIABILITY_LEVEL levels_of(const NicAttributes& a) noexcept {
  return static_cast<VIP_RELIABILITY_LEVEL>(
      (a.unreliable ? VIP_SERVICE_UNRELIABLE : 0) |
      (a.reliable_delivery ? VIP_SERVICE_RELIABLE_DELIVERY : 0) |
      (a.reliable_reception ? VIP_SERVICE_RELIABLE_RECEPTION : 0));
}

/// Ends all objects of a NIC, for VipCloseNic.
void close(Port& port, Nic& nic) noexcept {
  for (std::size_t i = port.connections.size(); i-- > 0;)
    if (port.connections[i]->nic == &nic) reject(port, *port.connections[i]);
  for (std::size_t i = port.vis.size(); i-- > 0;) {
    if (port.vis[i]->nic != &nic) continue;
    disconnect(port, *port.vis[i]);
    destroy(port, *port.vis[i]);
  }
  for (std::size_t i = port.queues.size(); i-- > 0;)
    if (port.queues[i]->nic == &nic) destroy(port, *port.queues[i]);
  port.regions.remove_all_of(nic);
  for (std::size_t i = port.tags.size(); i-- > 0;) {
    if (port.tags[i]->nic != &nic) continue;
    try {
      port.nic().destroy_tag(port.tags[i]->tag);
    } catch (const std::exception& e) {
      port.job().log().write(LogLevel::error, e.what());
    }
    remove(port.tags, *port.tags[i]);
  }
  remove(port.nics, nic);
}

}  // namespace
extern "C" {

VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle) {
  if (DeviceName == nullptr || *DeviceName == '\0' || NicHandle == nullptr)
    return VIP_INVALID_PARAMETER;
  const Guard guard;
  if (guard->ended) return VIP_ERROR_RESOURCE;
  try {
    std::string provider;
    if (!provider_of(DeviceName, provider)) return VIP_INVALID_PARAMETER;
    if (guard->port == nullptr) guard->port = std::make_unique<Port>(provider);
    Port& port = *guard->port;
    if (!provider.empty() && provider != port.provider())
      throw Error(errors::one_provider, std::errc::device_or_resource_busy,
                  "VipOpenNic(\"" + std::string(DeviceName) + "\"): this process has opened \"" +
                      port.provider() + "\" before, and a process has one provider");
    auto nic = std::make_unique<Nic>();
    nic->handle = guard->handles.add(HandleKind::nic, nic.get());
    *NicHandle = nic->handle;
    port.nics.push_back(std::move(nic));
    return VIP_SUCCESS;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "viaduct: %s\n", e.what());
    return VIP_ERROR_RESOURCE;
  }
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    close(port, *nic);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs) {
  return call([&](Port& port) {
    if (find<Nic>(NicHandle) == nullptr || NicAttribs == nullptr) return VIP_INVALID_PARAMETER;
    const NicAttributes& a = port.nic().attributes();
    constexpr VIP_ULONG kNoLimit = std::numeric_limits<VIP_ULONG>::max() >> 1;
    constexpr VIP_ULONG kMaxVis = 65535;
    VIP_NIC_ATTRIBUTES out{};
    std::strncpy(out.Name, a.name.c_str(), sizeof out.Name - 1);
    out.HardwareVersion = 0x10000;
    out.ProviderVersion =
        static_cast<VIP_ULONG>(kVersionMajor << 16 | kVersionMinor << 8 | kVersionPatch);
    out.NicAddressLen = kHostAddressBytes;
    out.LocalNicAddress = port.address().data();
    out.ThreadSafe = VIP_TRUE;
    out.MaxDiscriminatorLen = Discriminator::kMaxBytes;
    out.MaxRegisterBytes = out.MaxRegisterBlockBytes = kNoLimit;
    out.MaxRegisterRegions = a.max_regions;
    out.MaxVI = out.MaxCQ = kMaxVis;
    out.MaxDescriptorsPerQueue = port.depth();
    out.MaxSegmentsPerDesc = a.max_segments;
    out.MaxCQEntries = a.max_completion_queue;
    out.MaxTransferSize = out.NativeMTU = port.max_transfer();
    out.MaxPtags = 4094;  // the provider has one more, which the library uses itself
    out.ReliabilityLevelSupport = levels_of(a);
    if (a.rdma_read) out.RDMAReadSupport = out.ReliabilityLevelSupport;
    *NicAttribs = out;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context, ErrorHandler Handler) {
  return call([&](Port&) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    nic->on_error = Handler;
    nic->error_context = Context;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* Out) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr || Out == nullptr) return VIP_INVALID_PARAMETER;
    auto tag = std::make_unique<Ptag>();
    tag->nic = nic;
    port.tags.reserve(port.tags.size() + 1);
    tag->handle = library().handles.add(HandleKind::ptag, tag.get());
    try {
      tag->tag = port.nic().create_tag();
    } catch (...) {
      library().handles.remove(tag->handle);
      throw;
    }
    *Out = tag->handle;
    port.tags.push_back(std::move(tag));
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Handle) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    Ptag* const tag = find<Ptag>(Handle);
    if (tag == nullptr || tag->nic != nic) return VIP_INVALID_PTAG;
    if (tag->uses != 0) return VIP_ERROR_RESOURCE;
    port.nic().destroy_tag(tag->tag);
    remove(port.tags, *tag);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                          VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr || VirtualAddress == nullptr || Length == 0 || MemAttribs == nullptr ||
        MemoryHandle == nullptr)
      return VIP_INVALID_PARAMETER;
    Ptag* tag = nullptr;
    if (const VIP_RETURN wrong = check(port, *nic, *MemAttribs, tag); wrong != VIP_SUCCESS)
      return wrong;
    Region region;
    region.nic = nic;
    region.tag = tag;
    region.rdma_write = MemAttribs->EnableRdmaWrite != VIP_FALSE;
    region.rdma_read = MemAttribs->EnableRdmaRead != VIP_FALSE;
    try {
      region.region = port.nic().register_memory(tag->tag, static_cast<std::byte*>(VirtualAddress),
                                                 Length, rights_of(*MemAttribs));
    } catch (const Error& e) {
      if (e.code() == std::errc::invalid_argument || e.code() == std::errc::bad_address)
        return VIP_INVALID_PARAMETER;
      throw;
    }
    const auto handle = static_cast<VIP_MEM_HANDLE>(region.region.handle());
    port.regions.add(handle, std::move(region));
    ++tag->uses;
    *MemoryHandle = handle;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress,
                            VIP_MEM_HANDLE MemoryHandle) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    const Region* const region =
        nic == nullptr ? nullptr : find_region(port, *nic, VirtualAddress, MemoryHandle);
    if (region == nullptr) return VIP_INVALID_PARAMETER;
    forget_region(port, MemoryHandle);
    --region->tag->uses;
    port.regions.remove(MemoryHandle);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                       VIP_MEM_ATTRIBUTES* MemAttribs) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    const Region* const region =
        nic == nullptr ? nullptr : find_region(port, *nic, Address, MemHandle);
    if (region == nullptr || MemAttribs == nullptr) return VIP_INVALID_PARAMETER;
    MemAttribs->Ptag = region->tag->handle;
    MemAttribs->EnableRdmaWrite = region->rdma_write ? VIP_TRUE : VIP_FALSE;
    MemAttribs->EnableRdmaRead = region->rdma_read ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
                               VIP_MEM_HANDLE MemHandle, VIP_MEM_ATTRIBUTES* MemAttribs) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    Region* const region = nic == nullptr ? nullptr : find_region(port, *nic, Address, MemHandle);
    if (region == nullptr || MemAttribs == nullptr) return VIP_INVALID_PARAMETER;
    Ptag* tag = nullptr;
    if (const VIP_RETURN wrong = check(port, *nic, *MemAttribs, tag); wrong != VIP_SUCCESS)
      return wrong;
    if (!port.nic().change_memory(region->region.handle(), tag->tag, rights_of(*MemAttribs)))
      return VIP_ERROR_NOT_SUPPORTED;
    forget_region(port, MemHandle);
    --region->tag->uses;
    region->tag = tag;
    ++tag->uses;
    region->rdma_write = MemAttribs->EnableRdmaWrite != VIP_FALSE;
    region->rdma_read = MemAttribs->EnableRdmaRead != VIP_FALSE;
    return VIP_SUCCESS;
  });
}

}  // extern "C"

}  // namespace viaduct::via::vipl
