/* Every function of VIPL, used wrongly in every way that it can tell: the documented result, and no
   crash. In one process, which is a job of its own. */

#include "tests/vipl/rig.h"

static Rig rig;
static VIP_VI_HANDLE vi;
static VIP_CQ_HANDLE cq;

static void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE of,
                          VIP_DESCRIPTOR* d) {
  (void)context, (void)nic, (void)of, (void)d;
}
static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE of, VIP_BOOLEAN receive) {
  (void)context, (void)nic, (void)of, (void)receive;
}

#define BAD(call) WANT(VIP_INVALID_PARAMETER, call)

/* Each function with @p handle, which is none of the kind that it takes; all else is right. */
static void wrong_nic(VIP_NIC_HANDLE handle) {
  AddressRoom local, remote;
  VIP_NIC_ATTRIBUTES nic;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_MEM_ATTRIBUTES memory = rig.memory;
  VIP_MEM_HANDLE region;
  VIP_PROTECTION_HANDLE tag;
  VIP_CONN_HANDLE connection;
  VIP_CQ_HANDLE queue;
  VIP_VI_HANDLE made;
  VIP_AUTODISCOVERY_LIST list;
  char name[] = "localhost";
  VIP_ULONG length = sizeof name;
  here(&rig, &local, "x");
  memset(&list, 0, sizeof list);
  BAD(VipCloseNic(handle));
  BAD(VipQueryNic(handle, &nic));
  BAD(VipQuerySystemManagementInfo(handle, VIP_SMI_AUTODISCOVERY, &list));
  BAD(VipErrorCallback(handle, NULL, NULL));
  BAD(VipCreatePtag(handle, &tag));
  BAD(VipDestroyPtag(handle, rig.tag));
  BAD(VipRegisterMem(handle, rig.bytes, BYTES, &memory, &region));
  BAD(VipDeregisterMem(handle, rig.bytes, rig.bytes_handle));
  BAD(VipQueryMem(handle, rig.bytes, rig.bytes_handle, &memory));
  BAD(VipSetMemAttributes(handle, rig.bytes, rig.bytes_handle, &memory));
  BAD(VipCreateVi(handle, &attributes, NULL, NULL, &made));
  BAD(VipCreateCQ(handle, 10, &queue));
  BAD(VipConnectWait(handle, &local.address, 0, &remote.address, &attributes, &connection));
  BAD(VipNSInit(handle, NULL));
  BAD(VipNSGetHostByName(handle, name, &remote.address, 0));
  BAD(VipNSGetHostByAddr(handle, &local.address, name, &length));
  BAD(VipNSShutdown(handle));
}

static void wrong_vi(VIP_VI_HANDLE handle) {
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_DESCRIPTOR* d;
  VIP_VI_STATE state;
  VIP_BOOLEAN send, receive;
  here(&rig, &local, "x");
  here(&rig, &remote, "y");
  BAD(VipDestroyVi(handle));
  BAD(VipQueryVi(handle, &state, &attributes, &send, &receive));
  BAD(VipSetViAttributes(handle, &attributes));
  BAD(VipConnectRequest(handle, &local.address, &remote.address, 10, &attributes));
  BAD(VipConnectPeerRequest(handle, &local.address, &remote.address, 10));
  BAD(VipConnectPeerDone(handle, &attributes));
  BAD(VipConnectPeerWait(handle, &attributes));
  BAD(VipDisconnect(handle));
  BAD(VipPostSend(handle, &rig.rooms[0].d, rig.rooms_handle));
  BAD(VipPostRecv(handle, &rig.rooms[0].d, rig.rooms_handle));
  BAD(VipSendDone(handle, &d));
  BAD(VipRecvDone(handle, &d));
  BAD(VipSendWait(handle, 10, &d));
  BAD(VipRecvWait(handle, 10, &d));
  BAD(VipSendNotify(handle, NULL, on_descriptor));
  BAD(VipRecvNotify(handle, NULL, on_descriptor));
}

static void wrong_cq(VIP_CQ_HANDLE handle) {
  VIP_VI_HANDLE of;
  VIP_BOOLEAN receive;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  BAD(VipDestroyCQ(handle));
  BAD(VipResizeCQ(handle, 10));
  BAD(VipCQDone(handle, &of, &receive));
  BAD(VipCQWait(handle, 10, &of, &receive));
  BAD(VipCQNotify(handle, NULL, on_entry));
  if (handle == NULL) return; /* no completion queue is all right here */
  BAD(VipCreateVi(rig.nic, &attributes, handle, NULL, &of));
  BAD(VipCreateVi(rig.nic, &attributes, NULL, handle, &of));
}

static void wrong_connection(VIP_CONN_HANDLE handle) {
  BAD(VipConnectAccept(handle, vi));
  BAD(VipConnectReject(handle));
}

static void wrong_tag(VIP_PROTECTION_HANDLE handle) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_MEM_ATTRIBUTES memory = rig.memory;
  VIP_MEM_HANDLE region;
  VIP_VI_HANDLE made;
  attributes.Ptag = memory.Ptag = handle;
  WANT(VIP_INVALID_PTAG, VipDestroyPtag(rig.nic, handle));
  WANT(VIP_INVALID_PTAG, VipRegisterMem(rig.nic, rig.bytes, BYTES, &memory, &region));
  WANT(VIP_INVALID_PTAG, VipSetMemAttributes(rig.nic, rig.bytes, rig.bytes_handle, &memory));
  WANT(VIP_INVALID_PTAG, VipCreateVi(rig.nic, &attributes, NULL, NULL, &made));
  WANT(VIP_INVALID_PTAG, VipSetViAttributes(vi, &attributes));
}

static void wrong_everywhere(void* handle, int is_nic, int is_vi, int is_cq, int is_tag) {
  if (!is_nic) wrong_nic(handle);
  if (!is_vi) wrong_vi(handle);
  if (!is_cq) wrong_cq(handle);
  if (!is_tag) wrong_tag(handle);
  wrong_connection(handle);
}

static void null_pointers(void) {
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_MEM_HANDLE region;
  VIP_VI_STATE state;
  VIP_BOOLEAN flag;
  VIP_VI_HANDLE of;
  VIP_NIC_HANDLE nic;
  VIP_CONN_HANDLE connection;
  VIP_MEM_ATTRIBUTES memory = rig.memory;
  char name[] = "localhost";
  VIP_ULONG length = sizeof name;
  here(&rig, &local, "x");
  here(&rig, &remote, "y");
  BAD(VipOpenNic(NULL, &nic));
  BAD(VipOpenNic("", &nic));
  BAD(VipOpenNic("nic0", NULL));
  BAD(VipQueryNic(rig.nic, NULL));
  BAD(VipQuerySystemManagementInfo(rig.nic, VIP_SMI_AUTODISCOVERY, NULL));
  BAD(VipCreatePtag(rig.nic, NULL));
  BAD(VipRegisterMem(rig.nic, NULL, BYTES, &memory, &region));
  BAD(VipRegisterMem(rig.nic, rig.bytes, BYTES, NULL, &region));
  BAD(VipRegisterMem(rig.nic, rig.bytes, BYTES, &memory, NULL));
  BAD(VipDeregisterMem(rig.nic, NULL, rig.bytes_handle));
  BAD(VipQueryMem(rig.nic, NULL, rig.bytes_handle, &memory));
  BAD(VipQueryMem(rig.nic, rig.bytes, rig.bytes_handle, NULL));
  BAD(VipSetMemAttributes(rig.nic, NULL, rig.bytes_handle, &memory));
  BAD(VipSetMemAttributes(rig.nic, rig.bytes, rig.bytes_handle, NULL));
  BAD(VipCreateVi(rig.nic, NULL, NULL, NULL, &of));
  BAD(VipCreateVi(rig.nic, &attributes, NULL, NULL, NULL));
  BAD(VipQueryVi(vi, NULL, &attributes, &flag, &flag));
  BAD(VipQueryVi(vi, &state, NULL, &flag, &flag));
  BAD(VipQueryVi(vi, &state, &attributes, NULL, &flag));
  BAD(VipQueryVi(vi, &state, &attributes, &flag, NULL));
  BAD(VipSetViAttributes(vi, NULL));
  BAD(VipConnectWait(rig.nic, NULL, 0, &remote.address, &attributes, &connection));
  BAD(VipConnectWait(rig.nic, &local.address, 0, NULL, &attributes, &connection));
  BAD(VipConnectWait(rig.nic, &local.address, 0, &remote.address, NULL, &connection));
  BAD(VipConnectWait(rig.nic, &local.address, 0, &remote.address, &attributes, NULL));
  BAD(VipConnectRequest(vi, NULL, &remote.address, 10, &attributes));
  BAD(VipConnectRequest(vi, &local.address, NULL, 10, &attributes));
  BAD(VipConnectRequest(vi, &local.address, &remote.address, 10, NULL));
  BAD(VipConnectPeerRequest(vi, NULL, &remote.address, 10));
  BAD(VipConnectPeerRequest(vi, &local.address, NULL, 10));
  BAD(VipConnectPeerRequest(vi, &local.address, &remote.address, 0));
  BAD(VipConnectPeerDone(vi, NULL));
  BAD(VipConnectPeerWait(vi, NULL));
  BAD(VipPostSend(vi, NULL, rig.rooms_handle));
  BAD(VipPostRecv(vi, NULL, rig.rooms_handle));
  BAD(VipSendDone(vi, NULL));
  BAD(VipRecvDone(vi, NULL));
  BAD(VipSendWait(vi, 10, NULL));
  BAD(VipRecvWait(vi, 10, NULL));
  BAD(VipSendNotify(vi, NULL, NULL));
  BAD(VipRecvNotify(vi, NULL, NULL));
  BAD(VipCreateCQ(rig.nic, 10, NULL));
  BAD(VipCQDone(cq, NULL, &flag));
  BAD(VipCQDone(cq, &of, NULL));
  BAD(VipCQWait(cq, 10, NULL, &flag));
  BAD(VipCQWait(cq, 10, &of, NULL));
  BAD(VipCQNotify(cq, NULL, NULL));
  WANT(VIP_SUCCESS, VipNSInit(rig.nic, NULL));
  BAD(VipNSGetHostByName(rig.nic, NULL, &remote.address, 0));
  BAD(VipNSGetHostByName(rig.nic, name, NULL, 0));
  BAD(VipNSGetHostByAddr(rig.nic, NULL, name, &length));
  BAD(VipNSGetHostByAddr(rig.nic, &local.address, NULL, &length));
  BAD(VipNSGetHostByAddr(rig.nic, &local.address, name, NULL));
  WANT(VIP_SUCCESS, VipNSShutdown(rig.nic));
}

static void bad_values(void) {
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_MEM_ATTRIBUTES memory = rig.memory;
  VIP_VI_HANDLE made;
  VIP_CQ_HANDLE queue;
  VIP_CONN_HANDLE connection;
  VIP_MEM_HANDLE region;
  VIP_NIC_HANDLE nic;
  VIP_AUTODISCOVERY_LIST list;
  char* const page = (char*)0x1000; /* nothing is mapped there */
  BAD(VipOpenNic("no such device", &nic));
  WANT(VIP_ERROR_RESOURCE, VipOpenNic("verbs:nowhere", &nic));
  memset(&list, 0, sizeof list);
  WANT(VIP_ERROR_NOT_SUPPORTED, VipQuerySystemManagementInfo(rig.nic, 99, &list));
  list.NumAdAddrs = 5;
  BAD(VipQuerySystemManagementInfo(rig.nic, VIP_SMI_AUTODISCOVERY, &list));
  BAD(VipRegisterMem(rig.nic, rig.bytes, 0, &memory, &region));
  BAD(VipRegisterMem(rig.nic, page, 4096, &memory, &region));
  BAD(VipRegisterMem(rig.nic, rig.bytes, ~0UL, &memory, &region));
  BAD(VipDeregisterMem(rig.nic, rig.bytes + 1, rig.bytes_handle));
  BAD(VipDeregisterMem(rig.nic, rig.bytes, 0));
  BAD(VipDeregisterMem(rig.nic, rig.bytes, 0xfffffff0));
  BAD(VipQueryMem(rig.nic, rig.bytes, rig.there_handle, &memory));
  attributes.ReliabilityLevel = 0;
  WANT(VIP_INVALID_RELIABILITY_LEVEL, VipCreateVi(rig.nic, &attributes, NULL, NULL, &made));
  attributes.ReliabilityLevel = 3;
  WANT(VIP_INVALID_RELIABILITY_LEVEL, VipCreateVi(rig.nic, &attributes, NULL, NULL, &made));
  WANT(VIP_INVALID_RELIABILITY_LEVEL, VipSetViAttributes(vi, &attributes));
  attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.MaxTransferSize = rig.attributes.MaxTransferSize + 1;
  WANT(VIP_INVALID_MTU, VipCreateVi(rig.nic, &attributes, NULL, NULL, &made));
  attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.QoS = &attributes;
  WANT(VIP_INVALID_QOS, VipCreateVi(rig.nic, &attributes, NULL, NULL, &made));
  BAD(VipCreateCQ(rig.nic, 0, &queue));
  WANT(VIP_ERROR_RESOURCE, VipCreateCQ(rig.nic, rig.attributes.MaxCQEntries + 1, &queue));
  BAD(VipResizeCQ(cq, 0));
  WANT(VIP_ERROR_RESOURCE, VipResizeCQ(cq, rig.attributes.MaxCQEntries + 1));
  WANT(VIP_ERROR_RESOURCE, VipDestroyPtag(rig.nic, rig.tag)); /* regions use it */

  /* Addresses. */
  here(&rig, &local, "x");
  here(&rig, &remote, "y");
  remote.address.HostAddressLen = 5;
  BAD(VipConnectRequest(vi, &local.address, &remote.address, 10, &attributes));
  here(&rig, &remote, "y");
  remote.address.HostAddressLen = 0;
  BAD(VipConnectRequest(vi, &local.address, &remote.address, 10, &attributes));
  here(&rig, &remote, "y");
  remote.address.DiscriminatorLen = (VIP_UINT16)(rig.attributes.MaxDiscriminatorLen + 1);
  BAD(VipConnectPeerRequest(vi, &local.address, &remote.address, 10));
  here(&rig, &remote, "y");
  remote.room[9] = 77; /* another process */
  WANT(VIP_NOT_REACHABLE, VipConnectRequest(vi, &local.address, &remote.address, 10, &attributes));
  WANT(VIP_NOT_REACHABLE, VipConnectPeerRequest(vi, &local.address, &remote.address, 10));
  BAD(VipConnectRequest(vi, &remote.address, &local.address, 10, &attributes));
  BAD(VipConnectWait(rig.nic, &remote.address, 10, &local.address, &attributes, &connection));

  /* Descriptors. */
  fill(&rig.rooms[0].d, rig.bytes, 8, rig.bytes_handle);
  BAD(VipPostRecv(vi, (VIP_DESCRIPTOR*)(void*)(rig.rooms[0].bytes + 8), rig.rooms_handle));
  BAD(VipPostRecv(vi, &rig.rooms[0].d, 0));
  BAD(VipPostRecv(vi, &rig.rooms[0].d, 0x12345));
  BAD(VipPostRecv(vi, &rig.rooms[0].d, rig.bytes_handle)); /* another region */
  WANT(VIP_INVALID_STATE, VipPostSend(vi, &rig.rooms[0].d, rig.rooms_handle));
  WANT(VIP_INVALID_STATE, VipConnectPeerDone(vi, &attributes));
  WANT(VIP_INVALID_STATE, VipConnectPeerWait(vi, &attributes));
}

static void foreign_objects(void) {
  VIP_NIC_HANDLE other = NULL;
  VIP_PROTECTION_HANDLE tag = NULL;
  VIP_CQ_HANDLE queue = NULL;
  VIP_VI_HANDLE made;
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_MEM_ATTRIBUTES memory = rig.memory;
  VIP_MEM_HANDLE region;
  WANT(VIP_SUCCESS, VipOpenNic("ServerNet II", &other));
  WANT(VIP_SUCCESS, VipCloseNic(other));
  WANT(VIP_SUCCESS, VipOpenNic("\\\\.\\clan0", &other));
  WANT(VIP_SUCCESS, VipCloseNic(other));
  WANT(VIP_SUCCESS, VipOpenNic("/dev/via_eth0", &other)); /* a second one is all right */
  WANT(VIP_SUCCESS, VipCreatePtag(other, &tag));
  WANT(VIP_SUCCESS, VipCreateCQ(other, 10, &queue));
  WANT(VIP_INVALID_PTAG, VipDestroyPtag(rig.nic, tag));
  memory.Ptag = tag;
  WANT(VIP_INVALID_PTAG, VipRegisterMem(rig.nic, rig.bytes, BYTES, &memory, &region));
  BAD(VipDeregisterMem(other, rig.bytes, rig.bytes_handle));
  BAD(VipCreateVi(rig.nic, &attributes, queue, NULL, &made));
  attributes.Ptag = tag;
  WANT(VIP_INVALID_PTAG, VipCreateVi(rig.nic, &attributes, NULL, NULL, &made));
  WANT(VIP_SUCCESS, VipCloseNic(other)); /* takes tag and queue along */
  wrong_everywhere(other, 0, 0, 0, 0);
  wrong_everywhere(queue, 0, 0, 0, 0);
  wrong_everywhere(tag, 0, 0, 0, 0);
}

static void too_many(void) {
  VIP_PROTECTION_HANDLE tag, first = NULL;
  VIP_MEM_HANDLE* const regions =
      (VIP_MEM_HANDLE*)calloc(rig.attributes.MaxRegisterRegions + 1, sizeof *regions);
  VIP_MEM_ATTRIBUTES memory = rig.memory;
  VIP_ULONG i, n;
  VIP_RETURN got = VIP_SUCCESS;
  for (n = 0; n <= rig.attributes.MaxRegisterRegions; ++n) {
    got = VipRegisterMem(rig.nic, rig.bytes, 100, &memory, &regions[n]);
    if (got != VIP_SUCCESS) break;
  }
  CHECK(got == VIP_ERROR_RESOURCE && n > 0);
  for (i = 0; i < n; ++i) WANT(VIP_SUCCESS, VipDeregisterMem(rig.nic, rig.bytes, regions[i]));
  for (i = 0; i < n; ++i) BAD(VipDeregisterMem(rig.nic, rig.bytes, regions[i]));
  for (n = 0; n <= rig.attributes.MaxPtags; ++n) {
    got = VipCreatePtag(rig.nic, &tag);
    if (got != VIP_SUCCESS) break;
    if (first == NULL) first = tag;
  }
  CHECK(got == VIP_ERROR_RESOURCE && n + 1 == rig.attributes.MaxPtags); /* the rig has one */
  WANT(VIP_SUCCESS, VipDestroyPtag(rig.nic, first));
  wrong_tag(first);
  WANT(VIP_SUCCESS, VipCreatePtag(rig.nic, &tag)); /* a destroyed one makes room */
  WANT(VIP_ERROR_RESOURCE, VipCreatePtag(rig.nic, &first));
  free(regions);
}

static void before_any_nic(void) {
  VIP_VI_HANDLE of;
  VIP_BOOLEAN receive;
  VIP_DESCRIPTOR* d;
  VIP_DESCRIPTOR some;
  VIP_NIC_ATTRIBUTES attributes;
  void* const nothing = &some;
  BAD(VipQueryNic(nothing, &attributes));
  BAD(VipCloseNic(NULL));
  BAD(VipCQDone(nothing, &of, &receive));
  BAD(VipCQWait(nothing, 10, &of, &receive));
  BAD(VipRecvDone(nothing, &d));
  BAD(VipSendWait(nothing, 10, &d));
  BAD(VipPostSend(nothing, &some, 1));
  BAD(VipDisconnect(nothing));
  BAD(VipConnectReject(nothing));
  BAD(VipConnectPeerWait(nothing, NULL));
  BAD(VipRecvNotify(nothing, NULL, on_descriptor));
}

int main(void) {
  VIP_VI_HANDLE freed_vi;
  VIP_CQ_HANDLE freed_cq = NULL;
  static int something[16];
  setbuf(stdout, NULL);
  before_any_nic();
  open_rig(&rig);
  vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 10, &cq));
  freed_vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  WANT(VIP_SUCCESS, VipDestroyVi(freed_vi));
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 10, &freed_cq));
  WANT(VIP_SUCCESS, VipDestroyCQ(freed_cq));
  wrong_everywhere(NULL, 0, 0, 0, 0);
  wrong_everywhere(something, 0, 0, 0, 0);
  wrong_everywhere((void*)~0UL, 0, 0, 0, 0);
  wrong_everywhere((void*)1, 0, 0, 0, 0);
  wrong_everywhere(freed_vi, 0, 0, 0, 0);
  wrong_everywhere(freed_cq, 0, 0, 0, 0);
  wrong_everywhere(rig.nic, 1, 0, 0, 0);
  wrong_everywhere(vi, 0, 1, 0, 0);
  wrong_everywhere(cq, 0, 0, 1, 0);
  wrong_everywhere(rig.tag, 0, 0, 0, 1);
  null_pointers();
  bad_values();
  foreign_objects();
  too_many();
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic)); /* with all that is left on it */
  wrong_vi(vi);
  wrong_nic(rig.nic);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
