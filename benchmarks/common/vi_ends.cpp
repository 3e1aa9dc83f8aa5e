#include "benchmarks/common/vi_ends.hpp"

#include <unistd.h>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kDiscriminator = 0x7669656e6400;  // "viend"

// For values that ranks exchange(): a double must hold them exactly.
double exact(std::uint64_t value) {
  if (value >> 53 != 0) throw std::logic_error("an address beyond 2^53 cannot be told");
  return static_cast<double>(value);
}

/// An address of VIPL's with room for the host's bytes and one byte of discriminator.
union AddressRoom {
  VIP_NET_ADDRESS address;
  std::array<std::uint8_t, sizeof(VIP_NET_ADDRESS) + 64> room;

  void set_discriminator(std::uint8_t value) noexcept {
    address.DiscriminatorLen = 1;
    room[offsetof(VIP_NET_ADDRESS, HostAddress) + address.HostAddressLen] = value;
  }
};

}  // namespace

void FreeMemory::operator()(std::byte* memory) const noexcept { std::free(memory); }

OwnMemory own_memory(std::size_t bytes) {
  const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kPageBytes, whole));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, whole);
  return OwnMemory(memory);
}

RemoteMemory exchange_memory(Pair& pair, const std::byte* memory, std::uint32_t handle) {
  RemoteMemory theirs;
  theirs.address =
      static_cast<std::uint64_t>(pair.exchange(exact(reinterpret_cast<std::uint64_t>(memory))));
  theirs.handle = static_cast<std::uint32_t>(pair.exchange(exact(handle)));
  return theirs;
}

CxxEnd::CxxEnd(via::Nic& nic, Pair& pair, Rank peer, std::byte* memory, std::size_t bytes,
               std::uint32_t depth, std::uint8_t discriminator)
    : depth_(depth),
      block_(own_memory(2 * std::size_t{depth} * sizeof(Descriptor))),
      descriptors_(reinterpret_cast<Descriptor*>(block_.get())) {
  via::ViAttributes attributes;
  attributes.tag = nic.create_tag();
  const via::Rights read = nic.attributes().rdma_read ? via::Rights::rdma_read : via::Rights::none;
  region_ = nic.register_memory(attributes.tag, memory, bytes, via::Rights::rdma_write | read);
  sends_ = nic.create_completion_queue(depth);
  receives_ = nic.create_completion_queue(depth);
  attributes.send_queue = sends_.get();
  attributes.receive_queue = receives_.get();
  attributes.send_depth = attributes.receive_depth = depth;
  vi_ = nic.create_vi(attributes);
  require(vi_->connect_peer_start(peer, kDiscriminator + discriminator), "connect_peer_start");
  constexpr std::int64_t kLimitNs = 10'000'000'000;
  if (const auto result = vi_->connect_peer_wait(kLimitNs); result != via::ConnectResult::connected)
    throw Error(std::errc::not_connected,
                std::string("the VI to the other rank: ") + to_string(result));
  pair.meet();
}

void CxxEnd::make_rdma(Descriptor& d, bool write, std::byte* local, std::uint32_t bytes,
                       const RemoteMemory& remote) noexcept {
  const auto make = write ? via::make_rdma_write : via::make_rdma_read;
  make(d, local, bytes, region_.handle(), remote.address,
       static_cast<via::MemoryHandle>(remote.handle));
}

void CxxEnd::refuse(Status status, const char* what) {
  throw std::runtime_error(std::string(what) + ": " + to_string(status));
}

void CxxEnd::refuse(const Descriptor& d) {
  throw std::runtime_error(fmt::format("a descriptor failed: status {:#x}", d.control.status));
}

ViplEnd::ViplEnd(VIP_NIC_HANDLE nic, Pair& pair, Rank peer, std::byte* memory, std::size_t bytes,
                 std::uint32_t depth, std::uint8_t discriminator, bool with_queue)
    : nic_(nic),
      depth_(depth),
      block_(own_memory(2 * std::size_t{depth} * sizeof(Descriptor))),
      descriptors_(reinterpret_cast<Descriptor*>(block_.get())),
      memory_(memory) {
  VIP_NIC_ATTRIBUTES nic_attributes{};
  require(VipQueryNic(nic, &nic_attributes), "VipQueryNic");
  require(VipCreatePtag(nic, &tag_), "VipCreatePtag");
  register_memory(memory, bytes);
  if (with_queue) require(VipCreateCQ(nic, 2 * VIP_ULONG{depth}, &queue_), "VipCreateCQ");
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  attributes.Ptag = tag_;
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = nic_attributes.RDMAReadSupport != 0 ? VIP_TRUE : VIP_FALSE;
  require(VipCreateVi(nic, &attributes, queue_, queue_, &vi_), "VipCreateVi");
  connect(pair, peer, discriminator);
}

ViplEnd::~ViplEnd() {
  (void)VipDisconnect(vi_);
  while (VipRecvDone(vi_, &out_), out_ != nullptr) {
  }
  (void)VipDestroyVi(vi_);
  if (queue_ != nullptr) (void)VipDestroyCQ(queue_);
  (void)VipDeregisterMem(nic_, memory_, data_handle_);
  (void)VipDeregisterMem(nic_, descriptors_, descriptors_handle_);
  (void)VipDestroyPtag(nic_, tag_);
}

void ViplEnd::register_memory(std::byte* memory, std::size_t bytes) {
  VIP_NIC_ATTRIBUTES nic_attributes{};
  require(VipQueryNic(nic_, &nic_attributes), "VipQueryNic");
  VIP_MEM_ATTRIBUTES rights{};
  rights.Ptag = tag_;
  require(VipRegisterMem(nic_, descriptors_, 2 * std::size_t{depth_} * sizeof(Descriptor), &rights,
                         &descriptors_handle_),
          "VipRegisterMem");
  rights.EnableRdmaWrite = VIP_TRUE;
  rights.EnableRdmaRead = nic_attributes.RDMAReadSupport != 0 ? VIP_TRUE : VIP_FALSE;
  require(VipRegisterMem(nic_, memory, bytes, &rights, &data_handle_), "VipRegisterMem");
}

void ViplEnd::connect(Pair& pair, Rank peer, std::uint8_t discriminator) {
  constexpr VIP_ULONG kLimitMs = 10'000;
  AddressRoom here{}, there{};
  std::string name = fmt::format("rank{}", index(peer));
  require(VipNSInit(nic_, nullptr), "VipNSInit");
  require(VipNSGetHostByName(nic_, name.data(), &there.address, 0), "VipNSGetHostByName");
  // A local address without a host's bytes is this host.
  here.set_discriminator(discriminator);
  there.set_discriminator(discriminator);
  VIP_VI_ATTRIBUTES theirs{};
  require(VipConnectPeerRequest(vi_, &here.address, &there.address, kLimitMs),
          "VipConnectPeerRequest");
  require(VipConnectPeerWait(vi_, &theirs), "VipConnectPeerWait");
  pair.meet();
}

void ViplEnd::make_local(Descriptor& d, std::byte* data, std::uint32_t bytes) noexcept {
  d.CS = {};
  d.CS.SegCount = 1;
  d.CS.Length = bytes;
  d.DS[0].Local.Data.Address = data;
  d.DS[0].Local.Handle = data_handle_;
  d.DS[0].Local.Length = bytes;
}

void ViplEnd::make_rdma(Descriptor& d, bool write, std::byte* local, std::uint32_t bytes,
                        const RemoteMemory& remote) noexcept {
  d.CS = {};
  d.CS.SegCount = 2;
  d.CS.Control = write ? VIP_CONTROL_OP_RDMAWRITE : VIP_CONTROL_OP_RDMAREAD;
  d.CS.Length = bytes;
  d.DS[0].Remote.Data.AddressBits = remote.address;
  d.DS[0].Remote.Handle = remote.handle;
  d.DS[0].Remote.Reserved = 0;
  d.DS[1].Local.Data.Address = local;
  d.DS[1].Local.Handle = data_handle_;
  d.DS[1].Local.Length = bytes;
}

VIP_DESCRIPTOR* ViplEnd::take_queued(bool receive) {
  if (ready_[receive ? 1 : 0] == 0) {
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN of_receives = VIP_FALSE;
    const VIP_RETURN result = VipCQDone(queue_, &vi, &of_receives);
    if (result == VIP_NOT_DONE) return nullptr;
    require(result, "VipCQDone");
    ++ready_[of_receives != VIP_FALSE ? 1 : 0];
    if (ready_[receive ? 1 : 0] == 0) return nullptr;
  }
  --ready_[receive ? 1 : 0];
  return receive ? answer(VipRecvDone(vi_, &out_), "VipRecvDone")
                 : answer(VipSendDone(vi_, &out_), "VipSendDone");
}

void ViplEnd::refuse(VIP_RETURN result, const char* what) {
  throw std::runtime_error(fmt::format("{} answers {}", what, static_cast<int>(result)));
}

}  // namespace viaduct::bench
