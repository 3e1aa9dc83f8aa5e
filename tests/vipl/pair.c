/* What VIPL does between two processes: names, both ways to connect, traffic of all kinds, the
   peer's end. The first two processes of the job take part; the second one asks. */

#define _POSIX_C_SOURCE 200112L
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "tests/vipl/rig.h"

static Rig rig;
static int is_server;
static VIP_VI_HANDLE vi;
static AddressRoom mine, theirs;
static volatile int errors;
static volatile VIP_ERROR_CODE heard;

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  CHECK(error->ViHandle == vi);
  heard = error->ErrorCode;
  ++errors;
}

/* Addresses of the two, with a discriminator of four bytes behind, as programs fill them in by
 * hand. */
static void find_addresses(void) {
  static char kServer[] = "rank0", kClient[] = "rank1";
  int i;
  WANT(VIP_SUCCESS, VipNSInit(rig.nic, NULL));
  WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kServer, &theirs.address, 0));
  is_server =
      memcmp(theirs.room + 4, rig.attributes.LocalNicAddress, rig.attributes.NicAddressLen) == 0;
  if (is_server) WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kClient, &theirs.address, 0));
  mine.address.HostAddressLen = rig.attributes.NicAddressLen;
  memcpy(mine.room + 4, rig.attributes.LocalNicAddress, rig.attributes.NicAddressLen);
  for (i = 0; i < 2; ++i) {
    AddressRoom* const room = i == 0 ? &mine : &theirs;
    const int number = (i == 0) == is_server ? 1000 : 2000;
    room->address.DiscriminatorLen = sizeof number;
    memcpy(room->room + 4 + room->address.HostAddressLen, &number, sizeof number);
  }
  WANT(VIP_SUCCESS, VipNSShutdown(rig.nic));
}

static VIP_CONN_HANDLE wait_for_client(VIP_VI_ATTRIBUTES* remote) {
  AddressRoom client;
  VIP_CONN_HANDLE connection = NULL;
  memset(&client, 0, sizeof client);
  WANT(VIP_SUCCESS,
       VipConnectWait(rig.nic, &mine.address, LIMIT_MS, &client.address, remote, &connection));
  CHECK(memcmp(client.room, theirs.room, 4 + 6 + 4) == 0);
  return connection;
}

static void connect_client_server(void) {
  VIP_VI_ATTRIBUTES remote;
  if (is_server) {
    WANT(VIP_SUCCESS, VipConnectAccept(wait_for_client(&remote), vi));
  } else {
    WANT(VIP_SUCCESS, VipConnectRequest(vi, &mine.address, &theirs.address, LIMIT_MS, &remote));
  }
  CHECK(remote.EnableRdmaWrite == VIP_TRUE &&
        remote.MaxTransferSize == rig.attributes.MaxTransferSize);
}

static void connect_peers(void) {
  VIP_VI_ATTRIBUTES remote;
  WANT(VIP_SUCCESS, VipConnectPeerRequest(vi, &mine.address, &theirs.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerWait(vi, &remote));
  CHECK(remote.EnableRdmaWrite == VIP_TRUE);
}

/* So many that none of the messages below meets an empty queue. */
#define RECEIVES 4

static void post(VIP_DESCRIPTOR* d) {
  WANT(VIP_SUCCESS, VipPostRecv(vi, fill(d, rig.there, BYTES, rig.there_handle), rig.rooms_handle));
}

/* All receives come back when the connection has ended. */
static void take_flushed(void) {
  VIP_DESCRIPTOR* d = NULL;
  int i;
  for (i = 0; i < RECEIVES; ++i) {
    WANT(VIP_DESCRIPTOR_ERROR, VipRecvWait(vi, LIMIT_MS, &d));
    CHECK(d != NULL && (d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  }
  WANT(VIP_DESCRIPTOR_ERROR, VipRecvWait(vi, LIMIT_MS, &d));
  CHECK(d == NULL);
}

/* The callback may come after the flushed receives. */
static void await_error(void) {
  VIP_DESCRIPTOR* d = NULL;
  const struct timespec moment = {0, 1000000};
  unsigned i;
  for (i = 0; i < LIMIT_MS && errors == 0; ++i) {
    (void)VipRecvDone(vi, &d);
    (void)nanosleep(&moment, NULL);
  }
}

static void send_from(int i, unsigned bytes) {
  VIP_DESCRIPTOR* d = NULL;
  WANT(VIP_SUCCESS, VipPostSend(vi, fill(&rig.rooms[i].d, rig.bytes, bytes, rig.bytes_handle),
                                rig.rooms_handle));
  WANT(VIP_SUCCESS, VipSendWait(vi, LIMIT_MS, &d));
}

/* The next message; what its descriptor says. Its receive is posted again. */
static VIP_CONTROL_SEGMENT received(void) {
  VIP_DESCRIPTOR* d = NULL;
  VIP_CONTROL_SEGMENT said;
  memset(&said, 0, sizeof said);
  WANT(VIP_SUCCESS, VipRecvWait(vi, LIMIT_MS, &d));
  if (d == NULL) return said;
  said = d->CS;
  post(d);
  return said;
}

/* Messages of growing size to and fro. */
static void ping_pong(void) {
  unsigned bytes, i;
  for (bytes = 1; bytes <= BYTES && failures == 0; bytes *= 4) {
    for (i = 0; i < 20; ++i) {
      if (!is_server) {
        memset(rig.bytes, (int)(i + 1), bytes);
        send_from(2, bytes);
      }
      CHECK(received().Length == bytes);
      CHECK(rig.there[0] == i + 1 && rig.there[bytes - 1] == i + 1);
      if (is_server) {
        memcpy(rig.bytes, rig.there, bytes);
        send_from(2, bytes);
      }
    }
  }
}

/* Each tells the other where it may write, and writes there. */
static void rdma(void) {
  struct {
    void* address;
    VIP_MEM_HANDLE handle;
  } place;
  VIP_DESCRIPTOR* d = NULL;
  place.address = rig.there + 4096;
  place.handle = rig.there_handle;
  memcpy(rig.bytes, &place, sizeof place);
  /* One after the other: the receives share a buffer, which the other side may still look at. */
  if (!is_server) send_from(2, sizeof place);
  (void)received();
  memcpy(&place, rig.there, sizeof place);
  if (is_server) send_from(2, sizeof place);
  memset(rig.bytes, is_server ? 0x51 : 0xc1, 20000);
  fill_rdma(&rig.rooms[3].d, VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE, rig.bytes, 20000,
            rig.bytes_handle, place.address, place.handle);
  rig.rooms[3].d.CS.ImmediateData = 4711;
  WANT(VIP_SUCCESS, VipPostSend(vi, &rig.rooms[3].d, rig.rooms_handle));
  WANT(VIP_SUCCESS, VipSendWait(vi, LIMIT_MS, &d));
  CHECK(received().ImmediateData == 4711);
  CHECK(rig.there[4096] == (is_server ? 0xc1 : 0x51) && rig.there[4096 + 19999] == rig.there[4096]);
  /* A read finds what the other has put there; the same bytes everywhere. */
  if ((rig.attributes.RDMAReadSupport & VIP_SERVICE_RELIABLE_DELIVERY) != 0) {
    memset(rig.bytes, 0, 20000);
    fill_rdma(&rig.rooms[3].d, VIP_CONTROL_OP_RDMAREAD, rig.bytes, 20000, rig.bytes_handle,
              place.address, place.handle);
    WANT(VIP_SUCCESS, VipPostSend(vi, &rig.rooms[3].d, rig.rooms_handle));
    WANT(VIP_SUCCESS, VipSendWait(vi, LIMIT_MS, &d));
    CHECK(rig.bytes[0] == (is_server ? 0x51 : 0xc1) && rig.bytes[19999] == rig.bytes[0]);
  }
}

/* One side's attempt is over before the other side asks: neither is connected, though the first
   one makes progress meanwhile. */
static void come_too_late(int server_first) {
  const struct timespec moment = {0, 20000000L};
  const VIP_VI_HANDLE late = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  VIP_VI_ATTRIBUTES remote;
  const int first = is_server == server_first;
  if (first) {
    WANT(VIP_SUCCESS, VipConnectPeerRequest(late, &mine.address, &theirs.address, 10));
    (void)nanosleep(&moment, NULL);
    send_from(2, 1);
    (void)received();
  } else {
    (void)received();
    WANT(VIP_SUCCESS, VipConnectPeerRequest(late, &mine.address, &theirs.address, 30));
  }
  WANT(VIP_TIMEOUT, VipConnectPeerWait(late, &remote));
  if (!first) send_from(2, 1);
  WANT(VIP_SUCCESS, VipDestroyVi(late));
}

/* The server leaves; the client hears of it. */
static void part(void) {
  if (is_server) {
    (void)received(); /* the client is ready */
    WANT(VIP_SUCCESS, VipDisconnect(vi));
    take_flushed();
    return;
  }
  errors = 0;
  send_from(2, 1);
  take_flushed();
  await_error();
  CHECK(state_of(vi) == VIP_STATE_ERROR && errors == 1 && heard == VIP_ERROR_CONN_LOST);
  WANT(VIP_SUCCESS, VipDisconnect(vi));
}

/* The client writes to memory that the server can only read, or where the provider registers none
   such, by a handle that is none. Each hears of it. */
static void write_where_none_may(void) {
  struct {
    void* address;
    VIP_MEM_HANDLE handle;
  } place;
  const int on_shm = moves_by_shm(&rig);
  VIP_DESCRIPTOR* d = NULL;
  errors = 0;
  if (is_server) {
    if (posix_memalign(&place.address, BYTES, BYTES) != 0) exit(2);
    memset(place.address, 5, BYTES);
    CHECK(mprotect(place.address, BYTES, PROT_READ) == 0);
    if (VipRegisterMem(rig.nic, place.address, BYTES, &rig.memory, &place.handle) != VIP_SUCCESS)
      place.handle = 0x7fff0;
    memcpy(rig.bytes, &place, sizeof place);
    send_from(2, sizeof place);
  } else {
    (void)received();
    memcpy(&place, rig.there, sizeof place);
    fill_rdma(&rig.rooms[3].d, VIP_CONTROL_OP_RDMAWRITE, rig.bytes, 20000, rig.bytes_handle,
              place.address, place.handle);
    WANT(VIP_SUCCESS, VipPostSend(vi, &rig.rooms[3].d, rig.rooms_handle));
    WANT(VIP_DESCRIPTOR_ERROR, VipSendWait(vi, LIMIT_MS, &d));
    CHECK((d->CS.Status & VIP_STATUS_ERROR_MASK) == VIP_STATUS_RDMA_PROT_ERROR);
  }
  take_flushed();
  await_error();
  CHECK(state_of(vi) == VIP_STATE_ERROR && errors == 1);
  CHECK(heard == (is_server && on_shm ? VIP_ERROR_RDMAW_PROT : VIP_ERROR_COMP_PROT) ||
        (heard == VIP_ERROR_RDMAW_PROT && is_server));
  WANT(VIP_SUCCESS, VipDisconnect(vi));
}

/* The client asks for somebody who is not there, in vain, and then for the server. */
static void ask_twice(void) {
  VIP_VI_ATTRIBUTES remote;
  if (!is_server) {
    AddressRoom nobody = theirs;
    VIP_RETURN got;
    nobody.room[4 + 6] ^= 0x55;
    got = VipConnectRequest(vi, &mine.address, &nobody.address, 20, &remote);
    CHECK(got == VIP_NO_MATCH ||
          got == VIP_TIMEOUT); /* the server's process may not have looked yet */
  }
  connect_client_server();
}

/* The server rejects so many requests and accepts the next one. A client whose request has
   succeeded need call nothing more for the server's accept to return; a file says that it has. */
static void connect_after_rejections(int rejections) {
  VIP_VI_ATTRIBUTES remote;
  char accepted[64];
  FILE* file;
  int i;
  const struct timespec moment = {0, 1000000L};
  (void)sprintf(accepted, "vipl_pair_accepted.%ld", (long)getppid());
  for (i = 0; i <= rejections; ++i) {
    if (is_server) {
      const VIP_CONN_HANDLE client = wait_for_client(&remote);
      WANT(VIP_SUCCESS, i == rejections ? VipConnectAccept(client, vi) : VipConnectReject(client));
    } else {
      WANT(i == rejections ? VIP_SUCCESS : VIP_REJECT,
           VipConnectRequest(vi, &mine.address, &theirs.address, LIMIT_MS, &remote));
    }
  }
  if (is_server) {
    file = fopen(accepted, "w");
    CHECK(file != NULL);
    if (file != NULL) (void)fclose(file);
    return;
  }
  for (i = 0; access(accepted, F_OK) != 0 && i < 20000; ++i) (void)nanosleep(&moment, NULL);
  CHECK(remove(accepted) == 0);
}

int main(void) {
  int round, i;
  setbuf(stdout, NULL);
  open_rig(&rig);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, NULL, on_error));
  find_addresses();
  vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  for (round = 0; round < 3 && failures == 0; ++round) {
    for (i = 0; i < RECEIVES; ++i) post(&rig.rooms[10 + i].d);
    if (round == 0)
      connect_client_server();
    else if (round == 1)
      connect_peers();
    else
      ask_twice();
    ping_pong();
    if (round < 2) come_too_late(round);
    rdma();
    part();
  }
  for (i = 0; i < RECEIVES; ++i) post(&rig.rooms[10 + i].d);
  connect_peers();
  write_where_none_may();
  WANT(VIP_SUCCESS, VipDestroyVi(vi));
  for (round = 0; round < 50 && failures == 0; ++round) {
    vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
    connect_after_rejections(round % 3);
    WANT(VIP_SUCCESS, VipDisconnect(vi));
    WANT(VIP_SUCCESS, VipDestroyVi(vi));
  }
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  printf("%s: %d failures\n", is_server ? "server" : "client", failures);
  return failures == 0 ? 0 : 1;
}
