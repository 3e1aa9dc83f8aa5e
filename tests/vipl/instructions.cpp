// Short messages between two VIs of this process, and what goes with them, so many times: by VIPL
// in C, and by the C++ interface. Callgrind counts what each takes (tests/scripts/beside_cxx.sh).
// In blocks, so that a block's calls name one VI, as those of a program with one do.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "via/vipl/underneath.hpp"
#include "via/vipl/vipl.h"
#include "viaduct/via/nic.hpp"

namespace via = viaduct::via;
using viaduct::Status;

namespace {

constexpr int kBlock = 16;
constexpr std::uint32_t kBytes = 16;
constexpr std::uint32_t kDepth = 64;

// What is registered.
struct Memory {
  std::array<VIP_DESCRIPTOR, kBlock> sends, receives;
  std::array<via::Descriptor, kBlock> sends_in_cxx, receives_in_cxx;
  std::array<std::byte, kBlock * kBytes> from, to;
};
alignas(64) Memory memory;

#define WANT(call)                              \
  do {                                          \
    if ((call) != VIP_SUCCESS) {                \
      std::printf("%d: %s\n", __LINE__, #call); \
      std::exit(1);                             \
    }                                           \
  } while (0)

// --- by VIPL ------------------------------------------------------------------------------------

VIP_NIC_HANDLE nic;
VIP_MEM_ATTRIBUTES rights;
VIP_MEM_HANDLE region;

struct {
  VIP_VI_HANDLE from = nullptr, to = nullptr;
  VIP_CQ_HANDLE queue = nullptr;
} in_c;

void fill(VIP_DESCRIPTOR& d, std::byte* data) {
  d.CS = {};
  d.CS.SegCount = 1;
  d.CS.Length = kBytes;
  d.DS[0].Local.Data.Address = data;
  d.DS[0].Local.Handle = region;
  d.DS[0].Local.Length = kBytes;
}

void open_in_c() {
  WANT(VipOpenNic("shm", &nic));
  WANT(VipCreatePtag(nic, &rights.Ptag));
  WANT(VipRegisterMem(nic, &memory, sizeof memory, &rights, &region));
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    fill(memory.sends[i], memory.from.data() + i * kBytes);
    fill(memory.receives[i], memory.to.data() + i * kBytes);
  }
}

union AddressRoom {
  VIP_NET_ADDRESS address;
  std::array<std::uint8_t, sizeof(VIP_NET_ADDRESS) + 16> room;
};

void connect_in_c(bool with_queue) {
  if (with_queue) WANT(VipCreateCQ(nic, 100, &in_c.queue));
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  attributes.Ptag = rights.Ptag;
  WANT(VipCreateVi(nic, &attributes, in_c.queue, nullptr, &in_c.from));
  WANT(VipCreateVi(nic, &attributes, nullptr, in_c.queue, &in_c.to));
  AddressRoom left{}, right{};
  WANT(VipNSInit(nic, nullptr));
  char name[] = "localhost";
  for (AddressRoom* room : {&left, &right}) {
    WANT(VipNSGetHostByName(nic, name, &room->address, 0));
    room->address.DiscriminatorLen = 1;
    room->room[offsetof(VIP_NET_ADDRESS, HostAddress) + room->address.HostAddressLen] =
        room == &left ? 1 : 2;
  }
  VIP_VI_ATTRIBUTES remote{};
  WANT(VipConnectPeerRequest(in_c.from, &left.address, &right.address, 1000));
  WANT(VipConnectPeerRequest(in_c.to, &right.address, &left.address, 1000));
  WANT(VipConnectPeerWait(in_c.from, &remote));
  WANT(VipConnectPeerWait(in_c.to, &remote));
  for (VIP_DESCRIPTOR& d : memory.receives) WANT(VipPostRecv(in_c.to, &d, region));
}

// --- by C++ -------------------------------------------------------------------------------------

struct Pair {
  via::MemoryRegion region;
  std::unique_ptr<via::CompletionQueue> sent, received, none;
  std::unique_ptr<via::Vi> from, to;  // end before their queues
} in_cxx;

void connect_in_cxx(via::Nic& n) {
  via::ViAttributes attributes;
  attributes.tag = n.create_tag();
  attributes.send_depth = attributes.receive_depth = kDepth;
  in_cxx.region = n.register_memory(attributes.tag, reinterpret_cast<std::byte*>(&memory),
                                    sizeof memory, via::Rights::none);
  in_cxx.sent = n.create_completion_queue(kDepth);
  in_cxx.received = n.create_completion_queue(kDepth);
  in_cxx.none = n.create_completion_queue(2 * kDepth);
  attributes.send_queue = in_cxx.sent.get();
  attributes.receive_queue = in_cxx.none.get();
  in_cxx.from = n.create_vi(attributes);
  attributes.send_queue = in_cxx.none.get();
  attributes.receive_queue = in_cxx.received.get();
  in_cxx.to = n.create_vi(attributes);
  bool right = in_cxx.from->connect_peer_start(viaduct::Rank{0}, 1) == Status::ok &&
               in_cxx.to->connect_peer_start(viaduct::Rank{0}, 1) == Status::ok &&
               in_cxx.from->connect_peer_wait(-1) == via::ConnectResult::connected &&
               in_cxx.to->connect_peer_wait(-1) == via::ConnectResult::connected;
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    via::make_send(memory.sends_in_cxx[i], memory.from.data() + i * kBytes, kBytes,
                   in_cxx.region.handle());
    via::make_receive(memory.receives_in_cxx[i], memory.to.data() + i * kBytes, kBytes,
                      in_cxx.region.handle());
    right = right && in_cxx.to->post_receive(memory.receives_in_cxx[i]) == Status::ok;
  }
  if (!right) std::exit(1);
}

}  // namespace

// A message: posted, its send taken, its receive taken and posted again.

extern "C" [[gnu::noinline]] void viaduct_messages_in_c(int n) {
  VIP_DESCRIPTOR* d = nullptr;
  for (int done = 0; done < n; done += kBlock) {
    for (VIP_DESCRIPTOR& send : memory.sends) WANT(VipPostSend(in_c.from, &send, region));
    for (int i = 0; i < kBlock; ++i) WANT(VipSendDone(in_c.from, &d));
    std::array<VIP_DESCRIPTOR*, kBlock> got{};
    for (VIP_DESCRIPTOR*& one : got) WANT(VipRecvDone(in_c.to, &one));
    for (VIP_DESCRIPTOR* one : got) WANT(VipPostRecv(in_c.to, one, region));
  }
}

// The same with a completion queue, which is asked before each of the two.
extern "C" [[gnu::noinline]] void viaduct_queue_in_c(int n) {
  VIP_VI_HANDLE of = nullptr;
  VIP_BOOLEAN receive = VIP_FALSE;
  VIP_DESCRIPTOR* d = nullptr;
  for (int done = 0; done < n; done += kBlock) {
    for (VIP_DESCRIPTOR& send : memory.sends) WANT(VipPostSend(in_c.from, &send, region));
    for (int i = 0; i < kBlock; ++i) {
      WANT(VipCQDone(in_c.queue, &of, &receive));
      if (receive != VIP_FALSE) std::exit(1);
      WANT(VipSendDone(of, &d));
    }
    std::array<VIP_DESCRIPTOR*, kBlock> got{};
    for (VIP_DESCRIPTOR*& one : got) {
      WANT(VipCQDone(in_c.queue, &of, &receive));
      if (receive == VIP_FALSE) std::exit(1);
      WANT(VipRecvDone(of, &one));
    }
    for (VIP_DESCRIPTOR* one : got) WANT(VipPostRecv(in_c.to, one, region));
  }
}

[[gnu::always_inline]] static inline void messages_in_cxx(int n) {
  via::Completion c;
  for (int done = 0; done < n; done += kBlock) {
    for (via::Descriptor& send : memory.sends_in_cxx)
      if (in_cxx.from->post_send(send) != Status::ok) std::exit(1);
    for (int i = 0; i < kBlock; ++i)
      if (in_cxx.sent->poll(c) != Status::ok || c.descriptor->failed()) std::exit(1);
    std::array<via::Descriptor*, kBlock> got{};
    for (via::Descriptor*& one : got) {
      if (in_cxx.received->poll(c) != Status::ok || c.descriptor->failed()) std::exit(1);
      one = c.descriptor;
    }
    for (via::Descriptor* one : got)
      if (in_cxx.to->post_receive(*one) != Status::ok) std::exit(1);
  }
}
extern "C" [[gnu::noinline]] void viaduct_messages_in_cxx(int n) { messages_in_cxx(n); }
// One poll of a completion queue tells all that VIPL tells by two calls.
extern "C" [[gnu::noinline]] void viaduct_queue_in_cxx(int n) { messages_in_cxx(n); }

// A look in vain.

extern "C" [[gnu::noinline]] void viaduct_looks_in_c(int n) {
  VIP_DESCRIPTOR* d = nullptr;
  for (int i = 0; i < n; ++i)
    if (VipRecvDone(in_c.to, &d) != VIP_NOT_DONE) std::exit(1);
}
extern "C" [[gnu::noinline]] void viaduct_looks_in_cxx(int n) {
  via::Completion c;
  for (int i = 0; i < n; ++i)
    if (in_cxx.received->poll(c) != Status::retry) std::exit(1);
}

// A registration and its end.

extern "C" [[gnu::noinline]] void viaduct_registrations_in_c(int n) {
  VIP_MEM_HANDLE handle = 0;
  for (int i = 0; i < n; ++i) {
    WANT(VipRegisterMem(nic, &memory, sizeof memory, &rights, &handle));
    WANT(VipDeregisterMem(nic, &memory, handle));
  }
}
extern "C" [[gnu::noinline]] void viaduct_registrations_in_cxx(via::Nic& n, via::ProtectionTag tag,
                                                               int count) {
  for (int i = 0; i < count; ++i) {
    const via::MemoryRegion one = n.register_memory(tag, reinterpret_cast<std::byte*>(&memory),
                                                    sizeof memory, via::Rights::none);
    if (one.handle() == via::MemoryHandle::none) std::exit(1);
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10000;
  open_in_c();
  connect_in_c(false);
  viaduct_messages_in_c(n);
  viaduct_looks_in_c(n);
  VIP_DESCRIPTOR* d = nullptr;
  WANT(VipDisconnect(in_c.from));
  WANT(VipDisconnect(in_c.to));
  while ((void)VipRecvDone(in_c.to, &d), d != nullptr) {
  }
  connect_in_c(true);
  viaduct_queue_in_c(n);
  viaduct_registrations_in_c(n);
  {
    const auto [job, provider] = via::vipl::underneath();
    connect_in_cxx(*provider);
    viaduct_messages_in_cxx(n);
    viaduct_queue_in_cxx(n);
    viaduct_looks_in_cxx(n);
    viaduct_registrations_in_cxx(*provider, provider->create_tag(), n);
    in_cxx.from.reset();
    in_cxx.to.reset();
    in_cxx = {};
  }
  WANT(VipCloseNic(nic));
  std::puts("right");
  return 0;
}
