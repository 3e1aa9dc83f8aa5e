/* What the tests of VIPL share: checks that say where, a NIC with registered memory, connected VIs.
 */
#ifndef VIADUCT_TESTS_VIPL_RIG_H
#define VIADUCT_TESTS_VIPL_RIG_H

#include <vipl.h>

#include "tests/c/checks.h"

#define LIMIT_MS 20000UL
#define DESCRIPTORS 64
#define SEGMENTS 18
#define BYTES 65536

/* A descriptor with room for SEGMENTS segments. */
typedef union {
  VIP_DESCRIPTOR d;
  struct {
    VIP_CONTROL_SEGMENT control;
    VIP_DESCRIPTOR_SEGMENT segments[SEGMENTS];
  } room;
  unsigned char bytes[(32 + SEGMENTS * 16 + 63) / 64 * 64];
} Room;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_NIC_ATTRIBUTES attributes;
  VIP_PROTECTION_HANDLE tag;
  VIP_MEM_ATTRIBUTES memory;
  Room* rooms; /* DESCRIPTORS of them */
  VIP_MEM_HANDLE rooms_handle;
  unsigned char* bytes; /* BYTES of them, for data that is sent */
  unsigned char* there; /* and that is received */
  VIP_MEM_HANDLE bytes_handle, there_handle;
} Rig;

typedef union {
  VIP_NET_ADDRESS address;
  unsigned char room[4 + 6 + 64];
} AddressRoom;

HELPER void* aligned(size_t bytes) {
  void* const raw = calloc(1, bytes + VIP_DESCRIPTOR_ALIGNMENT);
  size_t at;
  if (raw == NULL) exit(2);
  at = (size_t)raw;
  at = (at + VIP_DESCRIPTOR_ALIGNMENT - 1) / VIP_DESCRIPTOR_ALIGNMENT * VIP_DESCRIPTOR_ALIGNMENT;
  return (char*)raw + (at - (size_t)raw);
}

HELPER void open_rig(Rig* rig) {
  const char* device = getenv("VIPL_TEST_DEVICE");
  memset(rig, 0, sizeof *rig);
  if (VipOpenNic(device == NULL ? "nic0" : device, &rig->nic) != VIP_SUCCESS) {
    printf("no NIC\n");
    exit(2);
  }
  WANT(VIP_SUCCESS, VipQueryNic(rig->nic, &rig->attributes));
  WANT(VIP_SUCCESS, VipCreatePtag(rig->nic, &rig->tag));
  rig->memory.Ptag = rig->tag;
  rig->memory.EnableRdmaWrite = VIP_TRUE;
  rig->memory.EnableRdmaRead = rig->attributes.RDMAReadSupport != 0 ? VIP_TRUE : VIP_FALSE;
  rig->rooms = (Room*)aligned(DESCRIPTORS * sizeof(Room));
  rig->bytes = (unsigned char*)aligned(BYTES);
  rig->there = (unsigned char*)aligned(BYTES);
  WANT(VIP_SUCCESS, VipRegisterMem(rig->nic, rig->rooms, DESCRIPTORS * sizeof(Room), &rig->memory,
                                   &rig->rooms_handle));
  WANT(VIP_SUCCESS, VipRegisterMem(rig->nic, rig->bytes, BYTES, &rig->memory, &rig->bytes_handle));
  WANT(VIP_SUCCESS, VipRegisterMem(rig->nic, rig->there, BYTES, &rig->memory, &rig->there_handle));
}

/* Whether provider shm moves the data: also when provider fault stands around it. */
HELPER int moves_by_shm(const Rig* rig) {
  const char* name = (const char*)rig->attributes.Name;
  while (strncmp(name, "fault(", 6) == 0) name += 6;
  return strncmp(name, "shm", 3) == 0;
}

HELPER VIP_VI_ATTRIBUTES vi_attributes(const Rig* rig, int level) {
  VIP_VI_ATTRIBUTES a;
  memset(&a, 0, sizeof a);
  a.ReliabilityLevel = (VIP_RELIABILITY_LEVEL)level;
  a.MaxTransferSize = rig->attributes.MaxTransferSize;
  a.Ptag = rig->tag;
  a.EnableRdmaWrite = VIP_TRUE;
  a.EnableRdmaRead = rig->memory.EnableRdmaRead;
  return a;
}

HELPER VIP_VI_HANDLE make_vi(const Rig* rig, int level, VIP_CQ_HANDLE send, VIP_CQ_HANDLE receive) {
  VIP_VI_ATTRIBUTES a = vi_attributes(rig, level);
  VIP_VI_HANDLE vi = NULL;
  WANT(VIP_SUCCESS, VipCreateVi(rig->nic, &a, send, receive, &vi));
  return vi;
}

/* This process' address, with a text as the discriminator. */
HELPER VIP_NET_ADDRESS* here(const Rig* rig, AddressRoom* room, const char* discriminator) {
  VIP_NET_ADDRESS* const a = &room->address;
  const VIP_UINT16 length = (VIP_UINT16)strlen(discriminator);
  unsigned char* const bytes = room->room + 4;
  memset(room, 0, sizeof *room);
  a->HostAddressLen = rig->attributes.NicAddressLen;
  a->DiscriminatorLen = length;
  memcpy(bytes, rig->attributes.LocalNicAddress, rig->attributes.NicAddressLen);
  memcpy(bytes + rig->attributes.NicAddressLen, discriminator, length);
  return a;
}

/* Connects two VIs of this process. */
HELPER void connect_both(const Rig* rig, VIP_VI_HANDLE a, VIP_VI_HANDLE b) {
  AddressRoom left, right;
  VIP_VI_ATTRIBUTES remote;
  WANT(VIP_SUCCESS,
       VipConnectPeerRequest(a, here(rig, &left, "left"), here(rig, &right, "right"), LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerRequest(b, &right.address, &left.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerWait(a, &remote));
  WANT(VIP_SUCCESS, VipConnectPeerWait(b, &remote));
}

HELPER VIP_VI_STATE state_of(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state = VIP_STATE_ERROR;
  VIP_VI_ATTRIBUTES a;
  VIP_BOOLEAN send, receive;
  WANT(VIP_SUCCESS, VipQueryVi(vi, &state, &a, &send, &receive));
  return state;
}

/* A send or receive of one segment. */
HELPER VIP_DESCRIPTOR* fill(VIP_DESCRIPTOR* d, void* data, unsigned bytes, VIP_MEM_HANDLE handle) {
  memset(&d->CS, 0, sizeof d->CS);
  d->CS.SegCount = 1;
  d->CS.Control = VIP_CONTROL_OP_SENDRECV;
  d->CS.Length = bytes;
  d->DS[0].Local.Data.AddressBits = 0;
  d->DS[0].Local.Data.Address = data;
  d->DS[0].Local.Handle = handle;
  d->DS[0].Local.Length = bytes;
  return d;
}

/* An RDMA operation of one data segment. */
HELPER VIP_DESCRIPTOR* fill_rdma(VIP_DESCRIPTOR* d, int operation, void* data, unsigned bytes,
                                 VIP_MEM_HANDLE handle, void* remote,
                                 VIP_MEM_HANDLE remote_handle) {
  memset(&d->CS, 0, sizeof d->CS);
  d->CS.SegCount = 2;
  d->CS.Control = (VIP_UINT16)operation;
  d->CS.Length = bytes;
  d->DS[0].Remote.Data.AddressBits = 0;
  d->DS[0].Remote.Data.Address = remote;
  d->DS[0].Remote.Handle = remote_handle;
  d->DS[0].Remote.Reserved = 0;
  d->DS[1].Local.Data.AddressBits = 0;
  d->DS[1].Local.Data.Address = data;
  d->DS[1].Local.Handle = handle;
  d->DS[1].Local.Length = bytes;
  return d;
}

HELPER void close_vi(VIP_VI_HANDLE vi) {
  WANT(VIP_SUCCESS, VipDisconnect(vi));
  WANT(VIP_SUCCESS, VipDestroyVi(vi));
}

#endif
