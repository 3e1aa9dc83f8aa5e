/* A user's program in C: a message from one VI to another, in whatever job it runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vipl.h>

typedef union {
  VIP_NET_ADDRESS address;
  unsigned char room[80];
} Address;

static void* memory;

static VIP_DESCRIPTOR* descriptor(int i) {
  const size_t at = ((size_t)memory + 63) / 64 * 64;
  return (VIP_DESCRIPTOR*)(void*)((char*)memory + (at - (size_t)memory) + 64 * i);
}

static VIP_DESCRIPTOR* of(int i, char* data, VIP_MEM_HANDLE handle) {
  VIP_DESCRIPTOR* const d = descriptor(i);
  memset(d, 0, sizeof *d);
  d->CS.SegCount = 1;
  d->CS.Length = 32;
  d->DS[0].Local.Data.Address = data;
  d->DS[0].Local.Handle = handle;
  d->DS[0].Local.Length = 32;
  return d;
}

int main(void) {
  VIP_NIC_HANDLE nic;
  VIP_NIC_ATTRIBUTES attributes;
  VIP_MEM_ATTRIBUTES rights;
  VIP_VI_ATTRIBUTES wanted, remote;
  VIP_MEM_HANDLE handle;
  VIP_VI_HANDLE a, b;
  VIP_DESCRIPTOR* d;
  Address here;
  char* data;
  memory = calloc(1, 4096);
  if (memory == NULL || VipOpenNic("VINIC", &nic) != VIP_SUCCESS) return 1;
  if (VipQueryNic(nic, &attributes) != VIP_SUCCESS) return 2;
  memset(&rights, 0, sizeof rights);
  memset(&wanted, 0, sizeof wanted);
  if (VipCreatePtag(nic, &rights.Ptag) != VIP_SUCCESS) return 3;
  if (VipRegisterMem(nic, memory, 4096, &rights, &handle) != VIP_SUCCESS) return 4;
  wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  wanted.MaxTransferSize = attributes.MaxTransferSize;
  wanted.Ptag = rights.Ptag;
  if (VipCreateVi(nic, &wanted, NULL, NULL, &a) != VIP_SUCCESS) return 5;
  if (VipCreateVi(nic, &wanted, NULL, NULL, &b) != VIP_SUCCESS) return 6;
  memset(&here, 0, sizeof here);
  here.address.HostAddressLen = attributes.NicAddressLen;
  here.address.DiscriminatorLen = 1;
  memcpy(here.room + 4, attributes.LocalNicAddress, attributes.NicAddressLen);
  if (VipConnectPeerRequest(a, &here.address, &here.address, VIP_INFINITE) != VIP_SUCCESS) return 7;
  if (VipConnectPeerRequest(b, &here.address, &here.address, VIP_INFINITE) != VIP_SUCCESS) return 8;
  if (VipConnectPeerWait(a, &remote) != VIP_SUCCESS ||
      VipConnectPeerWait(b, &remote) != VIP_SUCCESS)
    return 9;
  data = (char*)memory + 2048;
  strcpy(data, "by way of a virtual interface");
  if (VipPostRecv(b, of(0, data + 100, handle), handle) != VIP_SUCCESS) return 10;
  if (VipPostSend(a, of(1, data, handle), handle) != VIP_SUCCESS) return 11;
  if (VipRecvWait(b, 10000, &d) != VIP_SUCCESS || VipSendWait(a, 10000, &d) != VIP_SUCCESS)
    return 12;
  puts(data + 100);
  return VipCloseNic(nic) == VIP_SUCCESS && strcmp(data, data + 100) == 0 ? 0 : 13;
}
