/* The rules of VIPL, one case each, between VIs of one process: every level of reliability that the
   provider has, and both ends in sight. vipl_pair has what needs two processes. */

#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <time.h>
#include "tests/vipl/rig.h"

static Rig rig;
static VIP_VI_HANDLE a, b; /* of the present case, connected */
static int level;

static VIP_DESCRIPTOR* room(int i) { return &rig.rooms[i].d; }

static void post_receive(VIP_VI_HANDLE vi, int i, unsigned bytes) {
  WANT(VIP_SUCCESS,
       VipPostRecv(vi, fill(room(i), rig.there, bytes, rig.there_handle), rig.rooms_handle));
}

static void post_send(VIP_VI_HANDLE vi, int i, unsigned bytes) {
  WANT(VIP_SUCCESS,
       VipPostSend(vi, fill(room(i), rig.bytes, bytes, rig.bytes_handle), rig.rooms_handle));
}

static VIP_DESCRIPTOR* wait_send(VIP_VI_HANDLE vi, VIP_RETURN want) {
  VIP_DESCRIPTOR* d = NULL;
  WANT(want, VipSendWait(vi, LIMIT_MS, &d));
  return d;
}

static VIP_DESCRIPTOR* wait_receive(VIP_VI_HANDLE vi, VIP_RETURN want) {
  VIP_DESCRIPTOR* d = NULL;
  WANT(want, VipRecvWait(vi, LIMIT_MS, &d));
  return d;
}

static int is_reliable(void) { return level != VIP_SERVICE_UNRELIABLE; }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Transfer. */

static void send_arrives(void) {
  static const unsigned kSizes[] = {0, 1, 56, 57, 4096, 32768, BYTES};
  size_t i;
  unsigned n;
  VIP_DESCRIPTOR* d;
  for (i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
    for (n = 0; n < kSizes[i]; ++n) rig.bytes[n] = (unsigned char)(n * 7 + i);
    memset(rig.there, 0xee, BYTES);
    post_receive(b, 0, BYTES);
    post_send(a, 1, kSizes[i]);
    d = wait_receive(b, VIP_SUCCESS);
    CHECK(d == room(0));
    CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE));
    CHECK(d->CS.Length == kSizes[i]);
    CHECK(memcmp(rig.bytes, rig.there, kSizes[i]) == 0);
    CHECK(kSizes[i] == BYTES || rig.there[kSizes[i]] == 0xee);
    d = wait_send(a, VIP_SUCCESS);
    CHECK(d == room(1));
    CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
  }
}

static void order_is_kept(void) {
  unsigned i;
  VIP_DESCRIPTOR* d;
  for (i = 0; i < 30; ++i) {
    rig.bytes[i] = (unsigned char)(100 + i);
    WANT(VIP_SUCCESS,
         VipPostRecv(b, fill(room((int)i), rig.there + i, 1, rig.there_handle), rig.rooms_handle));
  }
  for (i = 0; i < 30; ++i)
    WANT(VIP_SUCCESS, VipPostSend(a, fill(room((int)(30 + i)), rig.bytes + i, 1, rig.bytes_handle),
                                  rig.rooms_handle));
  for (i = 0; i < 30; ++i) {
    d = wait_receive(b, VIP_SUCCESS);
    CHECK(d == room((int)i) && rig.there[i] == 100 + i);
    CHECK(wait_send(a, VIP_SUCCESS) == room((int)(30 + i)));
  }
}

static void gather_and_scatter(void) {
  VIP_DESCRIPTOR* const from = room(0);
  VIP_DESCRIPTOR* const into = room(1);
  const unsigned segments = (unsigned)rig.attributes.MaxSegmentsPerDesc;
  unsigned i;
  for (i = 0; i < segments * 10; ++i) rig.bytes[i] = (unsigned char)(i + 1);
  fill(from, NULL, 0, 0);
  fill(into, NULL, 0, 0);
  from->CS.SegCount = (VIP_UINT16)segments;
  from->CS.Length = segments * 10;
  into->CS.SegCount = 3;
  into->CS.Length = segments * 10 + 4;
  for (i = 0; i < segments; ++i) {
    VIP_DATA_SEGMENT* const s = &rig.rooms[0].room.segments[i].Local;
    s->Data.Address = rig.bytes + i * 10;
    s->Handle = rig.bytes_handle;
    s->Length = 10;
  }
  for (i = 0; i < 3; ++i) {
    VIP_DATA_SEGMENT* const s = &rig.rooms[1].room.segments[i].Local;
    s->Data.Address = rig.there + i * 1000;
    s->Handle = rig.there_handle;
    s->Length = i == 2 ? segments * 10 - 8 : 6;
  }
  WANT(VIP_SUCCESS, VipPostRecv(b, into, rig.rooms_handle));
  WANT(VIP_SUCCESS, VipPostSend(a, from, rig.rooms_handle));
  CHECK(wait_receive(b, VIP_SUCCESS)->CS.Length == segments * 10);
  CHECK(memcmp(rig.there, rig.bytes, 6) == 0 && memcmp(rig.there + 1000, rig.bytes + 6, 6) == 0);
  CHECK(memcmp(rig.there + 2000, rig.bytes + 12, segments * 10 - 12) == 0);
  (void)wait_send(a, VIP_SUCCESS);
}

static void immediate_travels(void) {
  VIP_DESCRIPTOR* d;
  post_receive(b, 0, 100);
  post_receive(b, 1, 100);
  fill(room(2), rig.bytes, 10, rig.bytes_handle);
  room(2)->CS.Control |= VIP_CONTROL_IMMEDIATE;
  room(2)->CS.ImmediateData = 0xdecade42;
  WANT(VIP_SUCCESS, VipPostSend(a, room(2), rig.rooms_handle));
  post_send(a, 3, 10);
  d = wait_receive(b, VIP_SUCCESS);
  CHECK((d->CS.Status & VIP_STATUS_IMMEDIATE) != 0 && d->CS.ImmediateData == 0xdecade42);
  d = wait_receive(b, VIP_SUCCESS);
  CHECK((d->CS.Status & VIP_STATUS_IMMEDIATE) == 0);
  (void)wait_send(a, VIP_SUCCESS);
  (void)wait_send(a, VIP_SUCCESS);
}

static void receive_with_odd_fields(void) {
  fill(room(0), rig.there, 100, rig.there_handle);
  room(0)->CS.Control = VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE;
  room(0)->CS.Length = 0; /* receives have that of their segments */
  WANT(VIP_SUCCESS, VipPostRecv(b, room(0), rig.rooms_handle));
  post_send(a, 1, 10);
  (void)wait_receive(b, VIP_SUCCESS);
  (void)wait_send(a, VIP_SUCCESS);
}

static void rdma_write_lands(void) {
  VIP_DESCRIPTOR* d;
  memset(rig.there, 0, BYTES);
  memset(rig.bytes, 0x5a, 3000);
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAWRITE, rig.bytes, 3000, rig.bytes_handle, rig.there + 77,
            rig.there_handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  d = wait_send(a, VIP_SUCCESS);
  CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE));
  post_receive(b, 1, 0);
  post_send(a, 2, 0);
  (void)wait_receive(b, VIP_SUCCESS); /* behind the write */
  CHECK(rig.there[76] == 0 && memcmp(rig.there + 77, rig.bytes, 3000) == 0 && rig.there[3077] == 0);
  (void)wait_send(a, VIP_SUCCESS);
}

static void rdma_write_with_immediate(void) {
  VIP_DESCRIPTOR* d;
  memset(rig.bytes, 0x33, 64);
  post_receive(b, 1, 0);
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE, rig.bytes, 64,
            rig.bytes_handle, rig.there, rig.there_handle);
  room(0)->CS.ImmediateData = 7;
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  d = wait_receive(b, VIP_SUCCESS);
  CHECK((d->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_REMOTE_RDMA_WRITE);
  CHECK((d->CS.Status & VIP_STATUS_IMMEDIATE) != 0 && d->CS.ImmediateData == 7);
  CHECK(rig.there[63] == 0x33);
  (void)wait_send(a, VIP_SUCCESS);
}

static void rdma_read_fetches(void) {
  VIP_DESCRIPTOR* d;
  if ((rig.attributes.RDMAReadSupport & level) == 0) return;
  memset(rig.there, 0x17, 500);
  memset(rig.bytes, 0, 500);
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAREAD, rig.bytes, 500, rig.bytes_handle, rig.there,
            rig.there_handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  fill(room(1), rig.bytes, 500, rig.bytes_handle); /* starts when the read is done */
  room(1)->CS.Control |= VIP_CONTROL_QFENCE;
  WANT(VIP_SUCCESS,
       VipPostRecv(b, fill(room(2), rig.there + 1000, 500, rig.there_handle), rig.rooms_handle));
  WANT(VIP_SUCCESS, VipPostSend(a, room(1), rig.rooms_handle));
  d = wait_send(a, VIP_SUCCESS);
  CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_READ));
  (void)wait_send(a, VIP_SUCCESS);
  (void)wait_receive(b, VIP_SUCCESS);
  CHECK(rig.there[1000] == 0x17 && rig.there[1499] == 0x17);
}

static void early_receives(void) {
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  VIP_VI_HANDLE d = make_vi(&rig, level, NULL, NULL);
  post_receive(d, 0, 100);
  connect_both(&rig, c, d);
  post_send(c, 1, 9);
  CHECK(wait_receive(d, VIP_SUCCESS)->CS.Length == 9);
  (void)wait_send(c, VIP_SUCCESS);
  close_vi(c);
  close_vi(d);
}

/* Queues. */

static void empty_queue_is_said_to_be(void) {
  VIP_DESCRIPTOR* d = room(0);
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send, receive;
  WANT(VIP_DESCRIPTOR_ERROR, VipRecvDone(b, &d));
  CHECK(d == NULL);
  d = room(0);
  WANT(VIP_DESCRIPTOR_ERROR, VipSendWait(a, VIP_INFINITE, &d));
  CHECK(d == NULL);
  post_receive(b, 0, 10);
  WANT(VIP_NOT_DONE, VipRecvDone(b, &d));
  CHECK(d == NULL);
  WANT(VIP_SUCCESS, VipQueryVi(b, &state, &attributes, &send, &receive));
  CHECK(state == VIP_STATE_CONNECTED && send == VIP_TRUE && receive == VIP_FALSE);
  CHECK(attributes.ReliabilityLevel == level && attributes.Ptag == rig.tag);
}

static void wait_has_a_limit(void) {
  VIP_DESCRIPTOR* d = NULL;
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive;
  VIP_CQ_HANDLE cq = NULL;
  double begin;
  post_receive(b, 0, 10);
  begin = seconds();
  WANT(VIP_TIMEOUT, VipRecvWait(b, 30, &d));
  CHECK(seconds() - begin >= 0.03 && d == NULL);
  WANT(VIP_TIMEOUT, VipRecvWait(b, 0, &d));
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 10, &cq));
  begin = seconds();
  WANT(VIP_TIMEOUT, VipCQWait(cq, 30, &vi, &receive));
  CHECK(seconds() - begin >= 0.03);
  WANT(VIP_NOT_DONE, VipCQDone(cq, &vi, &receive));
  WANT(VIP_SUCCESS, VipDestroyCQ(cq));
}

static void queue_is_full(void) {
  const VIP_ULONG depth = rig.attributes.MaxDescriptorsPerQueue;
  static Room* many = NULL; /* for all levels */
  VIP_MEM_HANDLE handle = 0;
  VIP_DESCRIPTOR* d;
  VIP_ULONG i;
  if (many == NULL) many = (Room*)aligned((depth + 1) * sizeof(Room));
  WANT(VIP_SUCCESS,
       VipRegisterMem(rig.nic, many, (depth + 1) * sizeof(Room), &rig.memory, &handle));
  for (i = 0; i < depth; ++i)
    if (VipPostRecv(b, fill(&many[i].d, rig.there, 8, rig.there_handle), handle) != VIP_SUCCESS)
      break;
  CHECK(i == depth);
  WANT(VIP_ERROR_RESOURCE,
       VipPostRecv(b, fill(&many[depth].d, rig.there, 8, rig.there_handle), handle));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  for (i = 0; i < depth; ++i) {
    if (VipRecvDone(b, &d) != VIP_DESCRIPTOR_ERROR || d != &many[i].d) break;
    CHECK((d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  }
  CHECK(i == depth);
  WANT(VIP_SUCCESS, VipDeregisterMem(rig.nic, many, handle));
}

static void cq_collects(void) {
  VIP_CQ_HANDLE cq = NULL;
  VIP_VI_HANDLE c, d, vi = NULL;
  VIP_BOOLEAN receive = VIP_FALSE;
  VIP_DESCRIPTOR* descriptor = NULL;
  int sends = 0, receives = 0;
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 4, &cq));
  c = make_vi(&rig, level, cq, cq);
  d = make_vi(&rig, level, NULL, cq);
  WANT(VIP_ERROR_RESOURCE, VipDestroyCQ(cq));
  connect_both(&rig, c, d);
  post_receive(d, 0, 100);
  post_receive(c, 1, 100);
  post_send(c, 2, 5);
  post_send(d, 3, 6);
  while (sends + receives < 3) {
    if (VipCQWait(cq, LIMIT_MS, &vi, &receive) != VIP_SUCCESS) break;
    if (receive == VIP_TRUE) {
      WANT(VIP_SUCCESS, VipRecvDone(vi, &descriptor));
      CHECK(descriptor->CS.Length == (vi == c ? 6U : 5U));
      ++receives;
    } else {
      CHECK(vi == c);
      WANT(VIP_SUCCESS, VipSendDone(vi, &descriptor));
      ++sends;
    }
  }
  CHECK(sends == 1 && receives == 2);
  WANT(VIP_NOT_DONE, VipCQDone(cq, &vi, &receive));
  (void)wait_send(d, VIP_SUCCESS);
  WANT(VIP_SUCCESS, VipResizeCQ(cq, 100));
  close_vi(c);
  close_vi(d);
  WANT(VIP_SUCCESS, VipDestroyCQ(cq));
}

/* The work queue may be asked in spite of its completion queue, whose entry stays. */
static void cq_and_done(void) {
  VIP_CQ_HANDLE cq = NULL;
  VIP_VI_HANDLE c, vi = NULL;
  VIP_BOOLEAN receive = VIP_FALSE;
  VIP_DESCRIPTOR* d = NULL;
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 4, &cq));
  c = make_vi(&rig, level, NULL, cq);
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  connect_both(&rig, a, c);
  post_receive(c, 0, 100);
  post_receive(c, 1, 100);
  post_send(a, 2, 5);
  post_send(a, 3, 6);
  CHECK(wait_receive(c, VIP_SUCCESS) == room(0));
  WANT(VIP_SUCCESS, VipCQWait(cq, LIMIT_MS, &vi, &receive));
  CHECK(vi == c && receive == VIP_TRUE);
  WANT(VIP_SUCCESS, VipCQWait(cq, LIMIT_MS, &vi, &receive));
  WANT(VIP_SUCCESS, VipRecvDone(c, &d));
  CHECK(d == room(1));
  close_vi(c);
  WANT(VIP_SUCCESS, VipDestroyCQ(cq));
}

/* Notifications. */

static pthread_mutex_t heard_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t heard_more = PTHREAD_COND_INITIALIZER;
static VIP_DESCRIPTOR* heard[8];
static VIP_VI_HANDLE heard_vi;
static int heard_count, heard_receive, heard_errors;
static VIP_ERROR_DESCRIPTOR heard_error;

static void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                          VIP_DESCRIPTOR* d) {
  CHECK(context == &heard && nic == rig.nic);
  pthread_mutex_lock(&heard_lock);
  heard_vi = vi;
  heard[heard_count++ % 8] = d;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
}

static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
  VIP_DESCRIPTOR* d = NULL;
  CHECK(context == &heard && nic == rig.nic);
  WANT(VIP_SUCCESS, VipRecvDone(vi, &d)); /* calls are allowed here */
  pthread_mutex_lock(&heard_lock);
  heard_vi = vi;
  heard_receive = receive;
  heard[heard_count++ % 8] = d;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
}

static void wait_heard(int count) {
  struct timespec limit;
  int late = 0;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  pthread_mutex_lock(&heard_lock);
  while (heard_count < count && late == 0)
    late = pthread_cond_timedwait(&heard_more, &heard_lock, &limit);
  pthread_mutex_unlock(&heard_lock);
  CHECK(heard_count == count);
}

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

/* Errors. */

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  CHECK(context == &rig);
  pthread_mutex_lock(&heard_lock);
  heard_error = *error;
  ++heard_errors;
  pthread_mutex_unlock(&heard_lock);
}

/* Until both VIs have heard of the error of a reliable one. */
static void wait_broken(void) {
  const double begin = seconds();
  while ((state_of(a) != VIP_STATE_ERROR || state_of(b) != VIP_STATE_ERROR) &&
         seconds() - begin < 20) {
  }
  CHECK(state_of(a) == VIP_STATE_ERROR && state_of(b) == VIP_STATE_ERROR);
  CHECK(heard_errors >= 1 && heard_error.NicHandle == rig.nic &&
        heard_error.ResourceCode == VIP_RESOURCE_VI);
}

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
  WANT(VIP_SUCCESS, VipSetMemAttributes(rig.nic, rig.there, rig.there_handle, &rig.memory));
}

static void rdma_to_a_vi_that_forbids_it(void) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&rig, level);
  const VIP_VI_HANDLE before = b;
  attributes.EnableRdmaWrite = VIP_FALSE;
  WANT(VIP_SUCCESS, VipDisconnect(a));
  WANT(VIP_SUCCESS, VipDisconnect(b));
  WANT(VIP_SUCCESS, VipSetViAttributes(b, &attributes));
  connect_both(&rig, a, b);
  CHECK(b == before);
  fill_rdma(room(0), VIP_CONTROL_OP_RDMAWRITE, rig.bytes, 8, rig.bytes_handle, rig.there,
            rig.there_handle);
  WANT(VIP_SUCCESS, VipPostSend(a, room(0), rig.rooms_handle));
  bad_send(VIP_STATUS_RDMA_PROT_ERROR);
  CHECK(room(0)->DS[0].Remote.Handle == rig.there_handle);
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
  CHECK(heard_errors == 1 && heard_error.ErrorCode == VIP_ERROR_CONN_LOST &&
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
  while (state_of(a) != VIP_STATE_ERROR && heard_errors == 0 && seconds() - begin < 20) {
    VIP_DESCRIPTOR* d;
    (void)VipRecvDone(a, &d);
  }
  CHECK(state_of(a) == VIP_STATE_ERROR);
  post_send(a, 0, 4);
  post_receive(a, 1, 4);
  CHECK(wait_send(a, VIP_DESCRIPTOR_ERROR) == room(0));
  CHECK((room(0)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
  CHECK(wait_receive(a, VIP_DESCRIPTOR_ERROR) == room(1));
  CHECK(heard_errors == 1 && heard_error.ErrorCode == VIP_ERROR_CONN_LOST);
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
  double begin = seconds();
  here(&rig, &left, "alone");
  here(&rig, &right, "nobody");
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, 40));
  CHECK(state_of(c) == VIP_STATE_CONNECT_PENDING);
  WANT(VIP_NOT_DONE, VipConnectPeerDone(c, &remote));
  WANT(VIP_INVALID_STATE, VipConnectPeerRequest(c, &left.address, &right.address, 40));
  WANT(VIP_TIMEOUT, VipConnectPeerWait(c, &remote));
  CHECK(seconds() - begin >= 0.04 && state_of(c) == VIP_STATE_IDLE);
  WANT(VIP_INVALID_STATE, VipConnectPeerDone(c, &remote));
  WANT(VIP_SUCCESS, VipConnectPeerRequest(c, &left.address, &right.address, LIMIT_MS));
  WANT(VIP_SUCCESS, VipDisconnect(c)); /* takes it back */
  WANT(VIP_INVALID_STATE, VipConnectPeerWait(c, &remote));
  WANT(VIP_SUCCESS, VipDestroyVi(c));
}

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
  here(&rig, &local, s->discriminator);
  WANT(VIP_SUCCESS,
       VipConnectWait(rig.nic, &local.address, LIMIT_MS, &remote.address, &s->seen, &connection));
  CHECK(remote.address.HostAddressLen == rig.attributes.NicAddressLen);
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
  static char kRank0[] = "rank0", kNobody[] = "no.such.host", kHere[] = "localhost";
  WANT(VIP_ERROR_NAMESERVICE, VipNSGetHostByName(rig.nic, kRank0, &found.address, 0));
  WANT(VIP_ERROR_NAMESERVICE, VipNSShutdown(rig.nic));
  WANT(VIP_SUCCESS, VipNSInit(rig.nic, NULL));
  WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, kHere, &found.address, 0));
  CHECK(memcmp(found.room + 4, rig.attributes.LocalNicAddress, 6) == 0 &&
        found.address.HostAddressLen == 6);
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
  WANT(VIP_SUCCESS, VipQuerySystemManagementInfo(rig.nic, VIP_SMI_AUTODISCOVERY, &discovery));
  CHECK(memcmp(discovered.room + 4, rig.attributes.LocalNicAddress, 6) == 0);
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

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {
    {"send arrives", send_arrives},
    {"order is kept", order_is_kept},
    {"gather and scatter", gather_and_scatter},
    {"immediate travels", immediate_travels},
    {"receive with odd fields", receive_with_odd_fields},
    {"rdma write lands", rdma_write_lands},
    {"rdma write with immediate", rdma_write_with_immediate},
    {"rdma read fetches, fence", rdma_read_fetches},
    {"early receives", early_receives},
    {"empty queue is said to be", empty_queue_is_said_to_be},
    {"wait has a limit", wait_has_a_limit},
    {"queue is full", queue_is_full},
    {"cq collects", cq_collects},
    {"cq and done", cq_and_done},
    {"send from nowhere", send_from_nowhere},
    {"send of reserved kind", send_of_reserved_kind},
    {"send with reserved bits", send_with_reserved_bits},
    {"rdma into forbidden memory", rdma_into_forbidden_memory},
    {"rdma to a vi that forbids it", rdma_to_a_vi_that_forbids_it},
    {"send longer than agreed", send_longer_than_agreed},
    {"no receive", no_receive},
    {"disconnect tells the peer", disconnect_tells_the_peer},
    {"disconnect of empty queues", disconnect_of_empty_queues},
    {"idle takes no sends", idle_takes_no_sends},
    {"peer never comes", peer_never_comes},
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
  static const int kLevels[] = {VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION,
                                VIP_SERVICE_UNRELIABLE};
  size_t l, i;
  int failed = 0, passed = 0;
  setbuf(stdout, NULL);
  open_rig(&rig);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, &rig, on_error));
  CHECK(rig.attributes.MaxTransferSize >= 32768 && rig.attributes.ThreadSafe == VIP_TRUE);
  CHECK((rig.attributes.ReliabilityLevelSupport & VIP_SERVICE_RELIABLE_DELIVERY) != 0);
  for (l = 0; l < sizeof kLevels / sizeof *kLevels; ++l) {
    level = kLevels[l];
    if ((rig.attributes.ReliabilityLevelSupport & level) == 0) continue;
    for (i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
      const int before = failures;
      if (argc > 1 && strstr(kCases[i].name, argv[1]) == NULL) continue;
      a = make_vi(&rig, level, NULL, NULL);
      b = make_vi(&rig, level, NULL, NULL);
      connect_both(&rig, a, b);
      heard_errors = 0;
      kCases[i].run();
      close_vi(a);
      close_vi(b);
      printf("%s level %d: %s\n", failures == before ? "ok  " : "FAIL", level, kCases[i].name);
      if (failures == before)
        ++passed;
      else
        ++failed;
    }
  }
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  WANT(VIP_INVALID_PARAMETER, VipCloseNic(rig.nic));
  printf("%d passed, %d failed\n", passed, failed);
  return failures == 0 && passed > 0 ? 0 : 1;
}
