/* What VIPL's descriptors may not do, one case each, and what their owner sees of it: between VIs
   of one process, at every level of reliability that the provider has. */

#include "tests/vipl/rules_rig.h"

static void bad_send(VIP_UINT32 want) {
  VIP_DESCRIPTOR* d;
  if (is_reliable()) post_receive(b, 40, 100);
  post_send(a, 1, 8); /* behind it: flushed, or on an unreliable VI lost or not */
  d = wait_send(a, VIP_DESCRIPTOR_ERROR);
  CHECK(d == room(0) && (d->CS.Status & VIP_STATUS_ERROR_MASK) == want &&
        (d->CS.Status & VIP_STATUS_DONE) != 0);
  if (!is_reliable()) {
    (void)wait_send(a, VIP_SUCCESS);
    CHECK(state_of(a) == VIP_STATE_CONNECTED);
    return;
  }
  CHECK((wait_send(a, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  wait_broken();
  CHECK((wait_receive(b, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  /* In the error state posts are flushed. */
  post_send(a, 2, 8);
  CHECK((wait_send(a, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  post_receive(b, 3, 8);
  CHECK((wait_receive(b, VIP_DESCRIPTOR_ERROR)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  WANT(VIP_INVALID_STATE, VipDestroyVi(a));
}

static void send_from_nowhere(void) {
  fill(room(0), rig.bytes, 4000, 0x7fff0); /* a short one may be copied before anybody looks */
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  bad_send(VIP_STATUS_PROTECTION_ERROR);
}

static void send_of_reserved_kind(void) {
  fill(room(0), rig.bytes, 8, rig.bytes_handle);
  room(0)->CS.Control = VIP_CONTROL_OP_RESERVED;
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  bad_send(VIP_STATUS_FORMAT_ERROR);
  CHECK(room(0)->CS.Control == VIP_CONTROL_OP_RESERVED);
}

static void send_with_reserved_bits(void) {
  fill(room(0), rig.bytes, 8, rig.bytes_handle);
  room(0)->CS.Control = 0x0010;
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  bad_send(VIP_STATUS_FORMAT_ERROR);
}

/* The target of the last operation has heard @p code. A device of verbs may tell of the error
   before the peer does, and says no operation. */
static void b_has_heard(VIP_ERROR_CODE code) {
  if (!is_reliable()) return;
  CHECK(heard_of_b.ViHandle == b && heard_of_b.NicHandle == rig.nic);
  CHECK(heard_of_b.ErrorCode == code ||
        (!is_on_shm() && heard_of_b.ErrorCode == VIP_ERROR_COMP_PROT));
}

static void rdma_into_forbidden_memory(void) {
  VIP_MEM_ATTRIBUTES closed = rig.memory;
  VIP_MEM_ATTRIBUTES now;
  closed.EnableRdmaWrite = VIP_FALSE;
  if (VipSetMemAttributes(rig.nic, rig.there, rig.there_handle, &closed) == VIP_ERROR_NOT_SUPPORTED)
    return;
  WANT(VIP_SUCCESS, VipQueryMem(rig.nic, rig.there, rig.there_handle, &now));
  CHECK(now.EnableRdmaWrite == VIP_FALSE && now.Ptag == rig.tag);
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAWRITE, rig.bytes, 8, rig.bytes_handle, rig.there,
            rig.there_handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  WANT(VIP_SUCCESS, VipSetMemAttributes(rig.nic, rig.there, rig.there_handle, &closed));
  bad_send(VIP_STATUS_RDMA_PROT_ERROR);
  b_has_heard(VIP_ERROR_RDMAW_PROT);
  WANT(VIP_SUCCESS, VipSetMemAttributes(rig.nic, rig.there, rig.there_handle, &rig.memory));
}

static void rdma_to_a_vi_that_forbids_it(int operation, VIP_ERROR_CODE code) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, level);
  const VIP_VI_HANDLE before = b;
  attributes.EnableRdmaWrite = attributes.EnableRdmaRead = VIP_FALSE;
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  WANT(VIP_SUCCESS, VipSetViAttributes(b, &attributes));
  connect_both(&rig, a, b);
  CHECK(b == before);
  fill_rdma(room(0), operation, rig.bytes, 8, rig.bytes_handle, rig.there, rig.there_handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  bad_send(VIP_STATUS_RDMA_PROT_ERROR);
  CHECK(room(0)->DS[0].Remote.Handle == rig.there_handle);
  b_has_heard(code);
}

static void rdma_write_to_a_vi_that_forbids_it(void) {
  rdma_to_a_vi_that_forbids_it(VIP_CONTROL_OP_RDMAWRITE, VIP_ERROR_RDMAW_PROT);
}

static void rdma_read_from_a_vi_that_forbids_it(void) {
  if ((rig.attributes.RDMAReadSupport & level) == 0) return;
  rdma_to_a_vi_that_forbids_it(VIP_CONTROL_OP_RDMAREAD, VIP_ERROR_RDMAR_PROT);
}

/* On shm the receive tells of it, not the error handler. */
static void refused_write_with_immediate(void) {
  const VIP_UINT32 want = is_on_shm() ? VIP_STATUS_RDMA_PROT_ERROR : VIP_STATUS_DESC_FLUSHED_ERROR;
  VIP_DESCRIPTOR* d;
  if (!is_on_shm() && !is_reliable()) return;
  post_receive(b, 1, 100);
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE, rig.bytes, 8,
            rig.bytes_handle, rig.there, rig.there_handle + 0x100000);
  room(0)->CS.ImmediateData = 9;
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  d = wait_send(a, VIP_DESCRIPTOR_ERROR);
  CHECK(d == room(0) && (d->CS.Status & VIP_STATUS_RDMA_PROT_ERROR) != 0);
  d = wait_receive(b, VIP_DESCRIPTOR_ERROR);
  CHECK(d == room(1) && (d->CS.Status & VIP_STATUS_ERROR_MASK) == want);
  if (is_on_shm()) {
    CHECK((d->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_REMOTE_RDMA_WRITE);
    CHECK(d->CS.ImmediateData == 9);
  }
  if (is_reliable()) {
    wait_broken();
    if (is_on_shm()) CHECK(heard_of_b.ErrorCode != VIP_ERROR_RDMAW_PROT);
  } else {
    CHECK(state_of(a) == VIP_STATE_CONNECTED && state_of(b) == VIP_STATE_CONNECTED);
  }
}

/* Memory that may not be written to. */

#define PAGE 65536U

/* A page that can only be read; null: this provider does not register it. */
static unsigned char* read_only(VIP_MEM_HANDLE* handle) {
  static void* page = NULL;
  VIP_RETURN got;
  if (page == NULL && posix_memalign(&page, PAGE, PAGE) != 0) exit(2);
  CHECK(mprotect(page, PAGE, PROT_READ) == 0);
  got = VipRegisterMem(rig.nic, page, PAGE, &rig.memory, handle);
  if (got == VIP_SUCCESS) return (unsigned char*)page;
  CHECK(!is_on_shm() && (got == VIP_INVALID_PARAMETER || got == VIP_ERROR_RESOURCE));
  return NULL;
}

static void end_read_only(unsigned char* page, VIP_MEM_HANDLE handle) {
  WANT(VIP_SUCCESS, VipDeregisterMem(rig.nic, page, handle));
}

static void write_to_read_only_memory(void) {
  VIP_MEM_HANDLE handle = 0;
  unsigned char* const page = read_only(&handle);
  if (page == NULL) return;
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAWRITE, rig.bytes, 8, rig.bytes_handle, page + 16, handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  bad_send(VIP_STATUS_RDMA_PROT_ERROR);
  b_has_heard(VIP_ERROR_RDMAW_PROT);
  end_read_only(page, handle);
}

static void read_into_read_only_memory(void) {
  VIP_MEM_HANDLE handle = 0;
  unsigned char* const page = read_only(&handle);
  if (page == NULL) return;
  if ((rig.attributes.RDMAReadSupport & level) != 0) {
    fill_rdma(room(0), VIP_CONTROL_OP_RDMAREAD, page, 8, handle, rig.there, rig.there_handle);
    WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
    bad_send(VIP_STATUS_PROTECTION_ERROR);
  }
  end_read_only(page, handle);
}

static void receive_into_read_only_memory(unsigned bytes) {
  VIP_MEM_HANDLE handle = 0;
  VIP_DESCRIPTOR* d;
  unsigned char* const page = read_only(&handle);
  if (page == NULL) return;
  fill(room(1), page, 30000, handle);
  WANT(VIP_SUCCESS, VipPostRecv(b, room(1), rig.rooms_handle));
  post_send(a, 0, bytes);
  d = wait_receive(b, VIP_DESCRIPTOR_ERROR);
  CHECK(d == room(1) && (d->CS.Status & VIP_STATUS_ERROR_MASK) == VIP_STATUS_PROTECTION_ERROR);
  end_read_only(page, handle);
}

static void short_receive_into_read_only_memory(void) { receive_into_read_only_memory(8); }
static void long_receive_into_read_only_memory(void) { receive_into_read_only_memory(20000); }

/* Messages may be sent from it. */
static void send_from_read_only_memory(void) {
  VIP_MEM_HANDLE handle = 0;
  unsigned char* const page = read_only(&handle);
  if (page == NULL) return;
  post_receive(b, 1, 4000);
  fill(room(0), page, 4000, handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  (void)wait_send(a, VIP_SUCCESS);
  CHECK(wait_receive(b, VIP_SUCCESS)->CS.Length == 4000);
  CHECK(memcmp(rig.there, page, 4000) == 0);
  end_read_only(page, handle);
}

/* Programs leave rubbish in fields that have no meaning. */
static void reserved_fields_are_not_looked_at(void) {
  VIP_DESCRIPTOR* d = fill(room(0), rig.there, 100, rig.there_handle);
  d->CS.Reserved = 0x12345;
  d->CS.Status = 0xffffffff;
  d->CS.ImmediateData = 3;
  WANT(VIP_SUCCESS, VipPostRecv(b, d, rig.rooms_handle));
  d = fill(room(1), rig.bytes, 8, rig.bytes_handle);
  d->CS.Reserved = 0x54321;
  d->CS.Status = 0xffffffff;
  d->CS.NextHandle = 77;
  WANT(VIP_SUCCESS, VipPostSend(a, d, rig.rooms_handle));
  d = fill_rdma(room(2), VIP_CONTROL_OP_RDMAWRITE, rig.bytes, 8, rig.bytes_handle, rig.there + 200,
                rig.there_handle);
  d->CS.Reserved = 1;
  d->DS[0].Remote.Reserved = 0xffffffff;
  WANT(VIP_SUCCESS, VipPostSend(a, d, rig.rooms_handle));
  CHECK(wait_send(a, VIP_SUCCESS)->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
  CHECK(wait_receive(b, VIP_SUCCESS)->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE));
  (void)wait_send(a, VIP_SUCCESS);
}

/* On shm: a send that has its receive is done when the post returns, a receive when a call has
   looked at its queue. Provider fault may make both later. */
static void status_changes_in_calls(void) {
  static const unsigned kBytes[] = {8, 20000};
  size_t i;
  int calls = 0;
  if (strncmp((const char*)rig.attributes.Name, "shm", 3) != 0) return;
  for (i = 0; i < sizeof kBytes / sizeof *kBytes; ++i) {
    VIP_DESCRIPTOR* d = NULL;
    post_receive(b, 0, BYTES);
    post_send(a, 1, kBytes[i]);
    CHECK(room(1)->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
    CHECK(wait_send(a, VIP_SUCCESS) == room(1));
    CHECK(room(0)->CS.Status == 0);
    while (VipRecvDone(b, &d) == VIP_NOT_DONE && ++calls < 1000) {
    }
    CHECK(d == room(0) && (room(0)->CS.Status & VIP_STATUS_DONE) != 0);
  }
}

static void send_longer_than_agreed(void) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, level);
  attributes.MaxTransferSize = 1000;
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  WANT(VIP_SUCCESS, VipSetViAttributes(a, &attributes));
  WANT(VIP_SUCCESS, VipSetViAttributes(b, &attributes));
  connect_both(&rig, a, b);
  post_send(a, 0, 1001);
  bad_send(VIP_STATUS_LENGTH_ERROR);
  CHECK(room(0)->CS.Length == 1001);
}

static void no_receive(void) {
  VIP_DESCRIPTOR* d = NULL;
  VIP_RETURN got;
  post_send(a, 0, 8);
  got = VipSendWait(a, LIMIT_MS, &d);
  if (level == VIP_SERVICE_UNRELIABLE) {
    CHECK(got == VIP_SUCCESS && state_of(a) == VIP_STATE_CONNECTED &&
          state_of(b) == VIP_STATE_CONNECTED);
    return;
  }
  if (level == VIP_SERVICE_RELIABLE_RECEPTION)
    CHECK(got == VIP_DESCRIPTOR_ERROR && (d->CS.Status & VIP_STATUS_REMOTE_DESC_ERROR) != 0);
  wait_broken();
  CHECK(heard_error.ErrorCode == VIP_ERROR_RECVQ_EMPTY);
}

static const Case kCases[] = {
    {"send from nowhere", send_from_nowhere},
    {"send of reserved kind", send_of_reserved_kind},
    {"send with reserved bits", send_with_reserved_bits},
    {"rdma into forbidden memory", rdma_into_forbidden_memory},
    {"rdma write to a vi that forbids it", rdma_write_to_a_vi_that_forbids_it},
    {"rdma read from a vi that forbids it", rdma_read_from_a_vi_that_forbids_it},
    {"refused write with immediate", refused_write_with_immediate},
    {"write to read-only memory", write_to_read_only_memory},
    {"read into read-only memory", read_into_read_only_memory},
    {"short receive into read-only memory", short_receive_into_read_only_memory},
    {"long receive into read-only memory", long_receive_into_read_only_memory},
    {"send from read-only memory", send_from_read_only_memory},
    {"reserved fields are not looked at", reserved_fields_are_not_looked_at},
    {"status changes in calls", status_changes_in_calls},
    {"send longer than agreed", send_longer_than_agreed},
    {"no receive", no_receive},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, kCases, sizeof kCases / sizeof *kCases);
}
