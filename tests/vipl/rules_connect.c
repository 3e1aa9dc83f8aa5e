/* The rules of VIPL's connections, names, notifications and threads, one case each, between VIs of
   one process. rules.c has those of descriptors. */

#include "tests/vipl/rules_rig.h"

/* Notifications. */

static void notify_calls(void) {
  heard_count = 0;
  post_receive(b, 0, 100);
  post_receive(b, 1, 100);
  WANT(VIP_SUCCESS, VipRecvNotify(b, &heard, on_descriptor));
  WANT(VIP_SUCCESS, VipRecvNotify(b, &heard, on_descriptor));
  post_send(a, 2, 5);
  post_send(a, 3, 6);
  wait_heard(2);
  CHECK(heard[0] == room(0) && heard[1] == room(1) && heard_vi == b);
  WANT(VIP_SUCCESS, VipSendNotify(a, &heard, on_descriptor));
  wait_heard(3);
  CHECK(heard[2] == room(2) && heard_vi == a);
  (void)wait_send(a, VIP_SUCCESS);
}

static void cq_notify_calls(void) {
  VIP_CQ_HANDLE cq = NULL;
  VIP_VI_HANDLE c;
  heard_count = heard_receive = 0;
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 4, &cq));
  c = make_vi(&rig, level, NULL, cq);
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  connect_both(&rig, a, c);
  post_receive(c, 0, 100);
  WANT(VIP_SUCCESS, VipCQNotify(cq, &heard, on_entry));
  post_send(a, 1, 4);
  wait_heard(1);
  CHECK(heard_vi == c && heard_receive == VIP_TRUE && heard[0] == room(0));
  WANT(VIP_SUCCESS, VipCQNotify(cq, &heard, on_entry));
  close_vi(c); /* cancelled */
  WANT(VIP_SUCCESS, VipDestroyCQ(cq));
}

/* Connections. */

static void disconnect_tells_the_peer(void) {
  const double begin = seconds();
  post_receive(a, 0, 100);
  post_receive(b, 1, 100);
  post_send(b, 2, 4);
  (void)wait_receive(a, VIP_SUCCESS);
  (void)wait_send(b, VIP_SUCCESS);
  post_receive(a, 0, 100);
  WANT(VIP_SUCCESS, VipDisconnect(b));
  CHECK(state_of(b) == VIP_STATE_IDLE);
  CHECK((wait_receive(b, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  while (state_of(a) != VIP_STATE_ERROR && seconds() - begin < 20) {
  }
  CHECK(state_of(a) == VIP_STATE_ERROR);
  CHECK((wait_receive(a, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  CHECK(wait_errors() == 1 && heard_error.ErrorCode == VIP_ERROR_CONN_LOST &&
        heard_error.ViHandle == a);
  WANT(VIP_SUCCESS, VipDisconnect(a));
  CHECK(state_of(a) == VIP_STATE_IDLE);
  connect_both(&rig, a, b); /* as often as one likes */
  send_arrives();
}

/* The same when nothing is posted: the provider's VI is idle then, and the program's is not. */
static void disconnect_of_empty_queues(void) {
  const double begin = seconds();
  WANT(VIP_SUCCESS, VipDisconnect(b));
  while (state_of(a) != VIP_STATE_ERROR && seconds() - begin < 20) {
    VIP_DESCRIPTOR* d;
    (void)VipRecvDone(a, &d);
  }
  CHECK(state_of(a) == VIP_STATE_ERROR);
  post_send(a, 0, 4);
  post_receive(a, 1, 4);
  CHECK(wait_send(a, VIP_DESCRIPTOR_ERROR) == room(0));
  CHECK((room(0)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  CHECK(wait_receive(a, VIP_DESCRIPTOR_ERROR) == room(1));
  CHECK(wait_errors() == 1 && heard_error.ErrorCode == VIP_ERROR_CONN_LOST);
  WANT(VIP_SUCCESS, VipDisconnect(a));
  CHECK(state_of(a) == VIP_STATE_IDLE);
}

static void idle_takes_no_sends(void) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, level);
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  fill(room(0), rig.bytes, 8, rig.bytes_handle);
  WANT(VIP_INVALID_STATE, VipPostSend(c, room(0), rig.rooms_handle));
  post_receive(c, 1, 8);
  WANT(VIP_INVALID_STATE, VipSetViAttributes(c, &attributes));
  WANT(VIP_SUCCESS, VipDisconnect(c));
  CHECK((wait_receive(c, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  WANT(VIP_SUCCESS, VipDestroyVi(c));
}

static void peer_never_comes(void) {
  AddressRoom left, right;
  VIP_VI_ATTRIBUTES remote;
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  double begin;
  here(&rig, &left, "alone");
  here(&rig, &right, "nobody");
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, LIMIT_MS));
  CHECK(state_of(c) == VIP_STATE_CONNECT_PENDING);
  WANT(VIP_NOT_DONE, VipConnectPeerDone(c, &remote));
  WANT(VIP_INVALID_STATE, VipConnectPeerRequest(c, &left.address, &right.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipDisconnect(c)); /* takes it back */
  WANT(VIP_INVALID_STATE, VipConnectPeerWait(c, &remote));
  begin = seconds();
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, 40));
  WANT(VIP_TIMEOUT, VipConnectPeerWait(c, &remote));
  CHECK(seconds() - begin >= 0.04 && state_of(c) == VIP_STATE_IDLE);
  WANT(VIP_INVALID_STATE, VipConnectPeerDone(c, &remote));
  WANT(VIP_SUCCESS, VipDestroyVi(c));
}

/* The first attempt's time is over, and nothing has asked for its outcome. */
static void peer_comes_too_late(void) {
  AddressRoom left, right;
  VIP_VI_ATTRIBUTES remote;
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL), d = make_vi(&rig, level, NULL, NULL);
  double begin = seconds();
  here(&rig, &left, "early");
  here(&rig, &right, "late");
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, 5));
  while (seconds() - begin < 0.006) {
  }
  WANT(VIP_SUCCESS, VipConnectPeerRequest(d, &right.address, &left.address, 5));
  WANT(VIP_TIMEOUT, VipConnectPeerWait(d, &remote));
  WANT(VIP_TIMEOUT, VipConnectPeerWait(c, &remote));
  WANT(VIP_SUCCESS, VipDestroyVi(c));
  WANT(VIP_SUCCESS, VipDestroyVi(d));
}

/* The other side has connected, sent and disconnected before this side asks for the outcome. */
static void peer_has_gone_again(int sends, int receives) {
  const double begin = seconds();
  AddressRoom left, right;
  VIP_VI_ATTRIBUTES remote;
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  here(&rig, &left, "left");
  here(&rig, &right, "right");
  if (receives) {
    post_receive(b, 0, 100);
    post_receive(b, 1, 100);
  }
  WANT(VIP_SUCCESS, VipConnectPeerRequest(b, &right.address, &left.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerRequest(a, &left.address, &right.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerWait(a, &remote));
  if (sends) {
    post_send(a, 2, 9);
    (void)wait_send(a, VIP_SUCCESS);
  }
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipConnectPeerWait(b, &remote));
  CHECK(remote.ReliabilityLevel == (VIP_RELIABILITY_LEVEL)level);
  while (state_of(b) != VIP_STATE_ERROR && seconds() - begin < 20) {
    VIP_DESCRIPTOR* d;
    if (!receives) (void)VipRecvDone(b, &d);
  }
  CHECK(state_of(b) == VIP_STATE_ERROR);
  if (sends) CHECK(wait_receive(b, VIP_SUCCESS) == room(0) && room(0)->CS.Length == 9);
  if (receives && !sends) (void)wait_receive(b, VIP_DESCRIPTOR_ERROR);
  if (receives)
    CHECK((wait_receive(b, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  CHECK(wait_errors() == 1 && heard_error.ErrorCode == VIP_ERROR_CONN_LOST &&
        heard_error.ViHandle == b);
  WANT(VIP_SUCCESS, VipDisconnect(b));
  connect_both(&rig, a, b);
  send_arrives();
}
static void peer_has_sent_and_gone(void) { peer_has_gone_again(1, 1); }
static void peer_has_gone(void) { peer_has_gone_again(0, 1); }
static void peer_has_gone_and_nothing_is_posted(void) { peer_has_gone_again(0, 0); }

static void peers_must_agree(void) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, level);
  AddressRoom left, right;
  VIP_VI_ATTRIBUTES remote;
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL), d = NULL;
  attributes.MaxTransferSize = 40000;
  WANT(VIP_SUCCESS, VipCreateVi(rig.nic, &attributes, NULL, NULL, &d));
  here(&rig, &left, "l");
  here(&rig, &right, "r");
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipConnectPeerRequest(d, &right.address, &left.address, LIMIT_MS));
  WANT(VIP_INVALID_MTU, VipConnectPeerWait(c, &remote));
  WANT(VIP_INVALID_MTU, VipConnectPeerWait(d, &remote));
  CHECK(state_of(c) == VIP_STATE_IDLE && state_of(d) == VIP_STATE_IDLE);
  WANT(VIP_SUCCESS, VipDestroyVi(c));
  WANT(VIP_SUCCESS, VipDestroyVi(d));
}

/* Lengths that a program may have in an address before a call writes the address: they say nothing
   to the call. Nothing behind the two parts is written. */
static const VIP_UINT16 kLengthsBefore[] = {0, 1, 6, 0xffff};

static void make_room(AddressRoom* address, size_t which) {
  memset(address, 0xee, sizeof *address);
  address->address.HostAddressLen = address->address.DiscriminatorLen = kLengthsBefore[which % 4];
}

static void check_rest(const AddressRoom* address) {
  size_t at = 4U + address->address.HostAddressLen + address->address.DiscriminatorLen;
  CHECK(address->address.HostAddressLen == rig.attributes.NicAddressLen);
  CHECK(memcmp(address->room + 4, rig.attributes.LocalNicAddress, 6) == 0);
  for (; at < sizeof address->room; ++at) CHECK(address->room[at] == 0xee);
}

/* The server of the next cases, in a thread of its own. */
typedef struct {
  const char* discriminator;
  VIP_VI_HANDLE vi;
  int refuse;
  VIP_RETURN first; /* what VipConnectAccept answers before the VI has the right attributes */
  VIP_VI_ATTRIBUTES seen;
  char client[8];
} Server;

static void* serve(void* argument) {
  Server* const s = (Server*)argument;
  AddressRoom local, remote;
  VIP_CONN_HANDLE connection = NULL;
  VIP_VI_ATTRIBUTES right = vi_attributes(&rig, level);
  static size_t calls = 0;
  here(&rig, &local, s->discriminator);
  make_room(&remote, calls++);
  WANT(VIP_SUCCESS,
       VipConnectWait(rig.nic, &local.address, LIMIT_MS, &remote.address, &s->seen, &connection));
  CHECK(remote.address.DiscriminatorLen == 6);
  check_rest(&remote);
  memcpy(s->client, remote.room + 4 + 6, remote.address.DiscriminatorLen);
  if (s->refuse) {
    WANT(VIP_SUCCESS, VipConnectReject(connection));
    WANT(VIP_INVALID_PARAMETER, VipConnectReject(connection));
    return NULL;
  }
  if (s->first != VIP_SUCCESS) {
    WANT(s->first, VipConnectAccept(connection, s->vi)); /* the request stays open */
    WANT(VIP_SUCCESS, VipSetViAttributes(s->vi, &right));
  }
  WANT(VIP_SUCCESS, VipConnectAccept(connection, s->vi));
  WANT(VIP_INVALID_PARAMETER, VipConnectAccept(connection, s->vi));
  return NULL;
}

static VIP_RETURN ask(VIP_VI_HANDLE vi, const char* discriminator, VIP_ULONG timeout,
                      VIP_VI_ATTRIBUTES* remote) {
  AddressRoom left, right;
  here(&rig, &left, "client");
  here(&rig, &right, discriminator);
  return VipConnectRequest(vi, &left.address, &right.address, timeout, remote);
}

static void client_and_server(int refuse, VIP_RETURN first) {
  Server server;
  pthread_t thread;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, level);
  VIP_VI_ATTRIBUTES remote;
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  memset(&server, 0, sizeof server);
  memset(&remote, 0, sizeof remote);
  server.discriminator = "service";
  server.refuse = refuse;
  server.first = first;
  if (first == VIP_INVALID_MTU) attributes.MaxTransferSize = 50000;
  attributes.EnableRdmaRead = VIP_FALSE;
  WANT(VIP_SUCCESS, VipCreateVi(rig.nic, &attributes, NULL, NULL, &server.vi));
  pthread_create(&thread, NULL, serve, &server);
  WANT(refuse ? VIP_REJECT : VIP_SUCCESS, ask(c, "service", LIMIT_MS, &remote));
  pthread_join(thread, NULL);
  CHECK(strcmp(server.client, "client") == 0);
  CHECK(server.seen.ReliabilityLevel == level && server.seen.EnableRdmaWrite == VIP_TRUE);
  CHECK(state_of(c) == (refuse ? VIP_STATE_IDLE : VIP_STATE_CONNECTED));
  if (!refuse) {
    CHECK(remote.ReliabilityLevel == level &&
          remote.MaxTransferSize == rig.attributes.MaxTransferSize);
    CHECK(remote.Ptag == NULL);
    post_receive(server.vi, 0, 10);
    post_send(c, 1, 3);
    CHECK(wait_receive(server.vi, VIP_SUCCESS)->CS.Length == 3);
    (void)wait_send(c, VIP_SUCCESS);
  }
  close_vi(c);
  close_vi(server.vi);
}

static void server_accepts(void) { client_and_server(0, VIP_SUCCESS); }
static void server_rejects(void) { client_and_server(1, VIP_SUCCESS); }
static void server_corrects_its_attributes(void) { client_and_server(0, VIP_INVALID_MTU); }

static void nobody_waits(void) {
  AddressRoom local, remote;
  VIP_CONN_HANDLE connection = NULL;
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  double begin = seconds();
  WANT(VIP_NO_MATCH, ask(c, "no such service", 50, &attributes));
  CHECK(seconds() - begin >= 0.05 && state_of(c) == VIP_STATE_IDLE);
  WANT(VIP_INVALID_PARAMETER, ask(c, "no such service", 0, &attributes));
  here(&rig, &local, "no such service");
  begin = seconds();
  WANT(VIP_TIMEOUT,
       VipConnectWait(rig.nic, &local.address, 30, &remote.address, &attributes, &connection));
  CHECK(seconds() - begin >= 0.03); /* the request was taken back */
  WANT(VIP_TIMEOUT,
       VipConnectWait(rig.nic, &local.address, 0, &remote.address, &attributes, &connection));
  WANT(VIP_SUCCESS, VipDestroyVi(c));
}

/* A request in vain leaves the receives where they are. */
static void receives_outlive_an_attempt(void) {
  VIP_VI_ATTRIBUTES attributes;
  AddressRoom left, right;
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  WANT(VIP_SUCCESS, VipDisconnect(a));
  post_receive(c, 0, 100);
  post_receive(c, 1, 100);
  WANT(VIP_NO_MATCH, ask(c, "no such service", 5, &attributes));
  here(&rig, &left, "l");
  here(&rig, &right, "nobody");
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, 5));
  WANT(VIP_TIMEOUT, VipConnectPeerWait(c, &attributes));
  connect_both(&rig, a, c);
  post_send(a, 2, 7);
  CHECK(wait_receive(c, VIP_SUCCESS) == room(0));
  (void)wait_send(a, VIP_SUCCESS);
  close_vi(c);
}

/* Names. */

static void names_lead_back(void) {
  AddressRoom found, discovered;
  VIP_NET_ADDRESS* list[4];
  VIP_AUTODISCOVERY_LIST discovery;
  char name[300];
  VIP_ULONG length = 2;
  size_t i;
  static char kRank0[] = "rank0", kNobody[] = "no.such.host", kHere[] = "localhost";
  WANT(VIP_ERROR_NAMESERVICE, VipNSGetHostByName(rig.nic, kRank0, &found.address, 0));
  WANT(VIP_ERROR_NAMESERVICE, VipNSShutdown(rig.nic));
  WANT(VIP_SUCCESS, VipNSInit(rig.nic, NULL));
  for (i = 0; i < sizeof kLengthsBefore / sizeof *kLengthsBefore; ++i) {
    make_room(&found, i);
    WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kHere, &found.address, 0));
    CHECK(found.address.DiscriminatorLen == 0);
    check_rest(&found);
  }
  WANT(VIP_ERROR_NAMESERVICE, VipNSGetHostByName(rig.nic, kHere, &found.address, 99));
  WANT(VIP_ERROR_NAMESERVICE, VipNSGetHostByName(rig.nic, kNobody, &found.address, 0));
  WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kRank0, &found.address, 0));
  WANT(VIP_ERROR_RESOURCE, VipNSGetHostByAddr(rig.nic, &found.address, name, &length));
  CHECK(length > 2 && length < sizeof name);
  WANT(VIP_SUCCESS, VipNSGetHostByAddr(rig.nic, &found.address, name, &length));
  CHECK(strlen(name) + 1 == length);
  memset(&discovered, 0, sizeof discovered);
  WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, name, &discovered.address, 0));
  CHECK(memcmp(found.room, discovered.room, 10) == 0);
  found.room[9] = 200; /* a rank that is not there */
  WANT(VIP_ERROR_NAMESERVICE, VipNSGetHostByAddr(rig.nic, &found.address, name, &length));
  memset(&discovery, 0, sizeof discovery);
  WANT(VIP_ERROR_RESOURCE,
       VipQuerySystemManagementInfo(rig.nic, VIP_SMI_AUTODISCOVERY, &discovery));
  CHECK(discovery.NumAdAddrs == 1);
  list[0] = &discovered.address;
  discovery.ADAddrArray = list;
  make_room(&discovered, 0);
  WANT(VIP_SUCCESS, VipQuerySystemManagementInfo(rig.nic, VIP_SMI_AUTODISCOVERY, &discovery));
  check_rest(&discovered);
  WANT(VIP_SUCCESS, VipNSShutdown(rig.nic));
}

/* A second thread makes the lock a shared one; the first goes on, and both send. */
static void* send_many(void* argument) {
  VIP_VI_HANDLE* const pair = (VIP_VI_HANDLE*)argument;
  const int at = pair[0] == a ? 10 : 20;
  int i;
  for (i = 0; i < 2000; ++i) {
    VIP_DESCRIPTOR* d = NULL;
    WANT(VIP_SUCCESS, VipPostRecv(pair[1], fill(room(at), rig.there + at * 8, 8, rig.there_handle),
                                  rig.rooms_handle));
    WANT(VIP_SUCCESS,
         VipPostSend(pair[0], fill(room(at + 1), rig.bytes + at * 8, 8, rig.bytes_handle),
                     rig.rooms_handle));
    WANT(VIP_SUCCESS, VipRecvWait(pair[1], LIMIT_MS, &d));
    WANT(VIP_SUCCESS, VipSendWait(pair[0], LIMIT_MS, &d));
    if (failures != 0) break;
  }
  return NULL;
}

static void two_threads_send(void) {
  VIP_VI_HANDLE mine[2], others[2];
  pthread_t thread;
  mine[0] = a;
  mine[1] = b;
  others[0] = make_vi(&rig, level, NULL, NULL);
  others[1] = make_vi(&rig, level, NULL, NULL);
  connect_both(&rig, others[0], others[1]);
  pthread_create(&thread, NULL, send_many, others);
  (void)send_many(mine);
  pthread_join(thread, NULL);
  close_vi(others[0]);
  close_vi(others[1]);
}

static const Case kCases[] = {
    {"disconnect tells the peer", disconnect_tells_the_peer},
    {"disconnect of empty queues", disconnect_of_empty_queues},
    {"idle takes no sends", idle_takes_no_sends},
    {"peer never comes", peer_never_comes},
    {"peer comes too late", peer_comes_too_late},
    {"peer has sent and gone", peer_has_sent_and_gone},
    {"peer has gone", peer_has_gone},
    {"peer has gone, nothing is posted", peer_has_gone_and_nothing_is_posted},
    {"peers must agree", peers_must_agree},
    {"nobody waits", nobody_waits},
    {"receives outlive an attempt", receives_outlive_an_attempt},
    {"names lead back", names_lead_back},
    /* From here on more than one thread calls. */
    {"server accepts", server_accepts},
    {"server rejects", server_rejects},
    {"server corrects its attributes", server_corrects_its_attributes},
    {"notify calls", notify_calls},
    {"cq notify calls", cq_notify_calls},
    {"two threads send", two_threads_send},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, kCases, sizeof kCases / sizeof *kCases);
}
