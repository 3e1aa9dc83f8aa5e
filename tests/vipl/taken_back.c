/* Memory that its owner has taken back is not written any more, however the peer's writes and sends
   lie in time: after VipDeregisterMem, after VipSetMemAttributes without the right, and after
   VipDisconnect, with receives that come back flushed. The first two processes of the job: one owns
   the memory, the other one writes into it without a pause. */
#define _POSIX_C_SOURCE 199506L
#include <time.h>

#include "tests/vipl/rig.h"

#define ROUNDS 8
#define RECEIVES 16
#define PART 4096 /* of a receive */

typedef enum { DEREGISTER, RIGHTS, DISCONNECT, RECEIVE, ACTIONS } Action;

static Rig rig;
static int owns;
static VIP_VI_HANDLE vi;
static AddressRoom mine, theirs;
static struct {
  void* address;
  VIP_MEM_HANDLE handle;
} place;

static void sleep_ms(long ms) {
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = ms * 1000000L;
  (void)nanosleep(&time, NULL);
}

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  (void)error;
}

static void find_addresses(void) {
  static char kOwner[] = "rank0", kWriter[] = "rank1";
  WANT(VIP_SUCCESS, VipNSInit(rig.nic, NULL));
  WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kOwner, &theirs.address, 0));
  owns = memcmp(theirs.room + 4, rig.attributes.LocalNicAddress, rig.attributes.NicAddressLen) == 0;
  if (owns) WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kWriter, &theirs.address, 0));
  mine.address.HostAddressLen = rig.attributes.NicAddressLen;
  memcpy(mine.room + 4, rig.attributes.LocalNicAddress, rig.attributes.NicAddressLen);
  WANT(VIP_SUCCESS, VipNSShutdown(rig.nic));
}

static void connect_peers(void) {
  VIP_VI_ATTRIBUTES remote;
  WANT(VIP_SUCCESS, VipConnectPeerRequest(vi, &mine.address, &theirs.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerWait(vi, &remote));
}

static VIP_RETURN wait_send(VIP_DESCRIPTOR* d) {
  VIP_DESCRIPTOR* done = NULL;
  const VIP_RETURN posted = VipPostSend(vi, d, rig.rooms_handle);
  return posted != VIP_SUCCESS ? posted : VipSendWait(vi, LIMIT_MS, &done);
}

/* Until the owner has taken its memory back. */
static void write_on(Action action) {
  VIP_DESCRIPTOR* d = NULL;
  WANT(VIP_SUCCESS, VipRecvWait(vi, LIMIT_MS, &d));
  memcpy(&place, rig.there, sizeof place);
  memset(rig.bytes, 1, BYTES);
  d = &rig.rooms[1].d;
  if (action == RECEIVE) { /* then, without a call of VIPL in between, when the owner has parted */
    WANT(VIP_SUCCESS, wait_send(fill(d, rig.bytes, PART, rig.bytes_handle)));
    sleep_ms(10);
  }
  do {
    if (action == RECEIVE)
      (void)fill(d, rig.bytes, PART, rig.bytes_handle);
    else
      (void)fill_rdma(d, VIP_CONTROL_OP_RDMAWRITE, rig.bytes, BYTES, rig.bytes_handle,
                      place.address, place.handle);
  } while (wait_send(d) == VIP_SUCCESS);
}

static void take_back(Action action, VIP_MEM_HANDLE block, unsigned char* bytes) {
  VIP_MEM_ATTRIBUTES without = rig.memory;
  VIP_DESCRIPTOR* d = NULL;
  int i;
  place.address = bytes;
  place.handle = block;
  memcpy(rig.bytes, &place, sizeof place);
  for (i = 0; action == RECEIVE && i < RECEIVES; ++i)
    WANT(VIP_SUCCESS, VipPostRecv(vi, fill(&rig.rooms[2 + i].d, bytes + i * PART, PART, block),
                                  rig.rooms_handle));
  WANT(VIP_SUCCESS, wait_send(fill(&rig.rooms[1].d, rig.bytes, sizeof place, rig.bytes_handle)));
  if (action == RECEIVE)
    WANT(VIP_SUCCESS, VipRecvWait(vi, LIMIT_MS, &d));
  else
    sleep_ms(2);
  without.EnableRdmaWrite = VIP_FALSE;
  if (action == DEREGISTER) WANT(VIP_SUCCESS, VipDeregisterMem(rig.nic, bytes, block));
  if (action == RIGHTS) WANT(VIP_SUCCESS, VipSetMemAttributes(rig.nic, bytes, block, &without));
  if (action >= DISCONNECT) WANT(VIP_SUCCESS, VipDisconnect(vi));
}

static void round_of(Action action) {
  VIP_MEM_HANDLE block = 0;
  static unsigned char* bytes = NULL; /* the owner's, in all rounds */
  VIP_DESCRIPTOR* d = NULL;
  int i, written = 0;
  if (bytes == NULL) bytes = (unsigned char*)aligned(BYTES);
  vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  if (!owns)
    WANT(VIP_SUCCESS, VipPostRecv(vi, fill(&rig.rooms[0].d, rig.there, BYTES, rig.there_handle),
                                  rig.rooms_handle));
  connect_peers();
  if (!owns) {
    write_on(action);
  } else {
    WANT(VIP_SUCCESS, VipRegisterMem(rig.nic, bytes, BYTES, &rig.memory, &block));
    take_back(action, block, bytes);
    memset(bytes, 9, BYTES);
    sleep_ms(action == RECEIVE ? 30 : 10);
    for (i = 0; i < BYTES; ++i) written += bytes[i] != 9;
    CHECK(written == 0);
  }
  WANT(VIP_SUCCESS, VipDisconnect(vi));
  while (VipRecvDone(vi, &d) != VIP_NOT_DONE && d != NULL) {
  }
  WANT(VIP_SUCCESS, VipDestroyVi(vi));
  if (owns && action != DEREGISTER) WANT(VIP_SUCCESS, VipDeregisterMem(rig.nic, bytes, block));
}

int main(void) {
  int action, i;
  open_rig(&rig);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, NULL, on_error));
  find_addresses();
  for (action = 0; action < ACTIONS && failures == 0; ++action)
    for (i = 0; i < ROUNDS && failures == 0; ++i) round_of((Action)action);
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  printf("%s: %d failures\n", owns ? "owner" : "writer", failures);
  return failures == 0 ? 0 : 1;
}
