/* Processes in a ring, each connected to both neighbours peer to peer, with one completion queue
 * for all: a token of data goes round, each process adds its part, and its neighbour's memory is
 * written directly.
 *
 * usage: ring MY_NUMBER HOST_0 HOST_1 ...   (the hosts' names, by which the name service knows
 * them)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vipl.h>

#define WORDS 1000
#define LAPS 20
#define LEFT 0
#define RIGHT 1

#define CHECK(call)                                                    \
  do {                                                                 \
    VIP_RETURN rc_ = call;                                             \
    if (rc_ != VIP_SUCCESS) {                                          \
      fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, (int)rc_); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)

/* What is registered, as a whole. */
typedef struct {
  VIP_DESCRIPTOR send, recv[2];
  char pad[64];
  struct {
    VIP_UINT64 address;
    VIP_UINT32 handle;
    VIP_UINT32 lap;
  } hello[2], heard[2];
  int words[WORDS];
  int window[WORDS];
} Area;

static VIP_NIC_HANDLE nic;
static VIP_NIC_ATTRIBUTES nic_attrs;
static VIP_PROTECTION_HANDLE ptag;
static VIP_CQ_HANDLE cq;
static VIP_VI_HANDLE vi[2];
static VIP_MEM_HANDLE mem;
static Area* area;

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  /* A neighbour that has finished hangs up. */
  if (error->ErrorCode != VIP_ERROR_CONN_LOST) {
    fprintf(stderr, "error %d of resource %d\n", (int)error->ErrorCode, (int)error->ResourceCode);
    exit(1);
  }
}

/* The address of a link: the host, and a discriminator that names the link's ends. */
static VIP_NET_ADDRESS* address_of(char* host, int nth, int from, int to) {
  VIP_NET_ADDRESS* address = (VIP_NET_ADDRESS*)calloc(
      1, sizeof(VIP_NET_ADDRESS) + nic_attrs.NicAddressLen + nic_attrs.MaxDiscriminatorLen);
  int discriminator[2];
  if (host != NULL) {
    CHECK(VipNSGetHostByName(nic, host, address, (VIP_ULONG)nth));
  } else {
    address->HostAddressLen = nic_attrs.NicAddressLen;
    memcpy(address->HostAddress, nic_attrs.LocalNicAddress, nic_attrs.NicAddressLen);
  }
  discriminator[0] = from;
  discriminator[1] = to;
  address->DiscriminatorLen = sizeof discriminator;
  memcpy(address->HostAddress + address->HostAddressLen, discriminator, sizeof discriminator);
  return address;
}

static void post_receive(int side, void* data, VIP_UINT32 bytes) {
  VIP_DESCRIPTOR* d = &area->recv[side];
  memset(d, 0, sizeof *d);
  d->CS.SegCount = 1;
  d->CS.Length = bytes;
  d->DS[0].Local.Data.Address = data;
  d->DS[0].Local.Handle = mem;
  d->DS[0].Local.Length = bytes;
  CHECK(VipPostRecv(vi[side], d, mem));
}

static void send_and_wait(int side, void* data, VIP_UINT32 bytes) {
  VIP_DESCRIPTOR* d = &area->send;
  memset(d, 0, sizeof *d);
  d->CS.SegCount = 1;
  d->CS.Control = VIP_CONTROL_OP_SENDRECV;
  d->CS.Length = bytes;
  d->DS[0].Local.Data.Address = data;
  d->DS[0].Local.Handle = mem;
  d->DS[0].Local.Length = bytes;
  CHECK(VipPostSend(vi[side], d, mem));
  CHECK(VipSendWait(vi[side], VIP_INFINITE, &d));
  if (d != &area->send || (d->CS.Status & VIP_STATUS_ERROR_MASK) != 0) exit(1);
}

/* The next message of either neighbour. */
static VIP_DESCRIPTOR* receive(int* side) {
  VIP_VI_HANDLE from;
  VIP_BOOLEAN is_receive;
  VIP_DESCRIPTOR* d;
  CHECK(VipCQWait(cq, 10000, &from, &is_receive));
  if (!is_receive) exit(1);
  *side = from == vi[LEFT] ? LEFT : RIGHT;
  CHECK(VipRecvDone(from, &d));
  return d;
}

int main(int argc, char** argv) {
  int me, n, i, side, lap, sum = 0;
  void* memory;
  VIP_MEM_ATTRIBUTES mem_attrs;
  VIP_VI_ATTRIBUTES vi_attrs, remote;
  VIP_NET_ADDRESS *local[2], *peer[2];
  VIP_DESCRIPTOR* d;
  VIP_UINT64 their_window;
  VIP_UINT32 their_handle;

  if (argc < 3) return 2;
  me = atoi(argv[1]);
  n = argc - 2;
  CHECK(VipOpenNic("nic0", &nic));
  CHECK(VipQueryNic(nic, &nic_attrs));
  CHECK(VipErrorCallback(nic, NULL, on_error));
  CHECK(VipNSInit(nic, NULL));
  CHECK(VipCreatePtag(nic, &ptag));
  memory = malloc(sizeof(Area) + 64);
  area = (Area*)(((VIP_ULONG)memory + 63) & ~(VIP_ULONG)63);
  mem_attrs.Ptag = ptag;
  mem_attrs.EnableRdmaWrite = VIP_TRUE;
  mem_attrs.EnableRdmaRead = VIP_FALSE;
  CHECK(VipRegisterMem(nic, area, sizeof(Area), &mem_attrs, &mem));
  CHECK(VipCreateCQ(nic, 16, &cq));
  memset(&vi_attrs, 0, sizeof vi_attrs);
  vi_attrs.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  vi_attrs.MaxTransferSize = 32 * 1024;
  vi_attrs.Ptag = ptag;
  vi_attrs.EnableRdmaWrite = VIP_TRUE;
  for (side = LEFT; side <= RIGHT; ++side) {
    CHECK(VipCreateVi(nic, &vi_attrs, NULL, cq, &vi[side]));
    post_receive(side, &area->heard[side], sizeof area->heard[side]);
  }

  /* The link from I to I + 1 has the discriminator I, I + 1 at its left end, and the reverse at its
     right end. */
  for (side = LEFT; side <= RIGHT; ++side) {
    int other = side == LEFT ? (me + n - 1) % n : (me + 1) % n;
    int nth = 0;
    for (i = 0; i < other; ++i) nth += strcmp(argv[2 + i], argv[2 + other]) == 0;
    local[side] = address_of(NULL, 0, side == RIGHT ? me : me + 1000, other);
    peer[side] = address_of(argv[2 + other], nth, side == RIGHT ? other + 1000 : other, me);
    CHECK(VipConnectPeerRequest(vi[side], local[side], peer[side], 10000));
  }
  for (side = LEFT; side <= RIGHT; ++side) {
    VIP_RETURN rc;
    do rc = VipConnectPeerDone(vi[side], &remote);
    while (rc == VIP_NOT_DONE);
    CHECK(rc);
    if (remote.ReliabilityLevel != vi_attrs.ReliabilityLevel) exit(1);
  }

  /* Each tells its left neighbour where that one may write. */
  area->hello[LEFT].address = (VIP_UINT64)(VIP_ULONG)area->window;
  area->hello[LEFT].handle = mem;
  send_and_wait(LEFT, &area->hello[LEFT], sizeof area->hello[LEFT]);
  d = receive(&side);
  if (side != RIGHT || d->CS.Length != sizeof area->heard[RIGHT]) exit(1);
  their_window = area->heard[RIGHT].address;
  their_handle = area->heard[RIGHT].handle;

  /* The data go to the right, with the lap as immediate data, which consumes a receive there. */
  for (lap = 0; lap < LAPS; ++lap) {
    if (me != 0 || lap > 0) {
      d = receive(&side);
      if (side != LEFT || d != &area->recv[LEFT]) exit(1);
      if ((d->CS.Status & VIP_STATUS_IMMEDIATE) == 0 ||
          (d->CS.Status & VIP_STATUS_OP_MASK) != VIP_STATUS_OP_REMOTE_RDMA_WRITE)
        exit(1);
      if (d->CS.ImmediateData != (VIP_UINT32)(me == 0 ? lap - 1 : lap)) exit(1);
      post_receive(LEFT, &area->heard[LEFT], sizeof area->heard[LEFT]);
      memcpy(area->words, area->window, sizeof area->words);
    }
    for (i = 0; i < WORDS; ++i) area->words[i] += me + 1;
    d = &area->send;
    memset(d, 0, sizeof *d);
    d->CS.SegCount = 2;
    d->CS.Control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;
    d->CS.ImmediateData = (VIP_UINT32)lap;
    d->CS.Length = sizeof area->words;
    d->DS[0].Remote.Data.AddressBits = their_window;
    d->DS[0].Remote.Handle = their_handle;
    d->DS[1].Local.Data.Address = area->words;
    d->DS[1].Local.Handle = mem;
    d->DS[1].Local.Length = sizeof area->words;
    CHECK(VipPostSend(vi[RIGHT], d, mem));
    CHECK(VipSendWait(vi[RIGHT], VIP_INFINITE, &d));
  }
  if (me == 0) {
    d = receive(&side);
    sum = area->window[WORDS - 1];
    printf("%d laps of %d processes: %d, which is %s\n", LAPS, n, sum,
           sum == LAPS * n * (n + 1) / 2 ? "right" : "wrong");
  }
  for (side = LEFT; side <= RIGHT; ++side) {
    CHECK(VipDisconnect(vi[side]));
    while (VipRecvDone(vi[side], &d) == VIP_DESCRIPTOR_ERROR && d != NULL)
      if ((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) == 0) exit(1);
    CHECK(VipDestroyVi(vi[side]));
    free(local[side]);
    free(peer[side]);
  }
  CHECK(VipDestroyCQ(cq));
  CHECK(VipDeregisterMem(nic, area, mem));
  CHECK(VipDestroyPtag(nic, ptag));
  CHECK(VipNSShutdown(nic));
  CHECK(VipCloseNic(nic));
  free(memory);
  return me == 0 && sum != LAPS * n * (n + 1) / 2;
}
