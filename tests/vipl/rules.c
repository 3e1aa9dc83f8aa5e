/* The rules of VIPL's descriptors, one case each, between VIs of one process: every level of
   reliability that the provider has, and both ends in sight. rules_errors.c has what is refused,
   rules_connect.c has those of connections; vipl_pair has what needs two processes. */

#include "tests/vipl/rules_rig.h"

/* Transfer. */
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

/* A send completes although the receiver makes no call, also into receives of several segments and
   of none. */
static void send_needs_no_receiver(void) {
  static const unsigned kBytes[] = {1, 57, 3000, 30000};
  size_t i;
  unsigned k, segments;
  for (segments = 0; segments <= 3; ++segments)
    for (i = 0; i < sizeof kBytes / sizeof *kBytes; ++i) {
      const unsigned bytes = segments == 0 ? 0 : kBytes[i];
      VIP_DESCRIPTOR* d = fill(room(0), rig.there, 0, rig.there_handle);
      d->CS.SegCount = (VIP_UINT16)segments;
      for (k = 0; k < segments; ++k) { /* 1, 11 and the rest, with gaps */
        VIP_DATA_SEGMENT* const s = &rig.rooms[0].room.segments[k].Local;
        s->Data.Address = rig.there + 20 * k;
        s->Handle = rig.there_handle;
        s->Length = k + 1 == segments ? 32000 : 1 + 10 * k;
      }
      for (k = 0; k < bytes; ++k) rig.bytes[k] = (unsigned char)(k * 3 + i);
      memset(rig.there, 0xee, BYTES);
      WANT(VIP_SUCCESS, VipPostRecv(b, d, rig.rooms_handle));
      post_send(a, 1, bytes);
      d = wait_send(a, VIP_SUCCESS);
      CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
      if (level == VIP_SERVICE_RELIABLE_RECEPTION && bytes != 0 && segments > 1) {
        CHECK(rig.there[0] == rig.bytes[0] && rig.there[1] == 0xee); /* it is there already */
      }
      d = wait_receive(b, VIP_SUCCESS);
      CHECK(d->CS.Length == bytes);
      if (segments == 3 && bytes > 12) {
        CHECK(memcmp(rig.there + 20, rig.bytes + 1, 11) == 0 && rig.there[31] == 0xee);
        CHECK(memcmp(rig.there + 40, rig.bytes + 12, bytes - 12) == 0);
        CHECK(rig.there[40 + bytes - 12] == 0xee);
      }
    }
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

static const Case kCases[] = {
    {"send arrives", send_arrives},
    {"order is kept", order_is_kept},
    {"gather and scatter", gather_and_scatter},
    {"send needs no receiver", send_needs_no_receiver},
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
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, kCases, sizeof kCases / sizeof *kCases);
}
