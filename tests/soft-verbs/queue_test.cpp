/// Places of queues, completions and their events.

#include "tests/soft-verbs/rig.hpp"

namespace soft_verbs::test {
namespace {

TEST(SoftQueue, PlacesOfTheSendQueueComeBackWithASignalledCompletionThatIsPolled) {
  Sizes sizes;
  sizes.sends = 4;
  Both both(sizes);
  for (int i = 0; i < 6; ++i) ASSERT_EQ(both.b.receive(0, 8), 0);
  for (int i = 0; i < 4; ++i)
    ASSERT_EQ(both.a.send(0, 8, 1, i == 2 ? unsigned{IBV_SEND_SIGNALED} : 0U), 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS) << "all have arrived";
  EXPECT_EQ(both.a.send(0, 8), ENOMEM) << "but the program has not polled";
  EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(both.a.send(0, 8, 1, 0), i < 3 ? 0 : ENOMEM) << "three are free, not the fourth";
  EXPECT_EQ(both.a.send(0, 8), ENOMEM);
}

TEST(SoftQueue, WhatDoesNotFitIsRefusedWhenItIsPosted) {
  Both both;
  std::array<ibv_sge, 5> segments{};
  ibv_send_wr request = both.a.request(IBV_WR_SEND, segments.data(), 5);
  EXPECT_EQ(both.a.post(request), EINVAL) << "segments";
  EXPECT_EQ(both.a.send(0, 65, 1, IBV_SEND_INLINE), EINVAL) << "inline bytes";
  segments[0] = both.a.at(0, 8);
  ibv_send_wr read = both.a.request(IBV_WR_RDMA_READ, segments.data(), 1, &both.b, 0);
  read.send_flags = IBV_SEND_INLINE;
  EXPECT_EQ(both.a.post(read), EINVAL) << "an inline read";
  for (int i = 0; i < 16; ++i) ASSERT_EQ(both.a.receive(0, 8), 0);
  EXPECT_EQ(both.a.receive(0, 8), ENOMEM) << "receives";
  ibv_qp_init_attr large{};
  large.send_cq = large.recv_cq = both.a.queue;
  large.cap = {1, 1, 1, 1, 513};
  large.qp_type = IBV_QPT_RC;
  EXPECT_EQ(ibv_create_qp(both.a.domain, &large), nullptr) << "inline bytes of a pair";
}

TEST(SoftQueue, AChainStopsAtTheRequestThatIsRefused) {
  Sizes sizes;
  sizes.sends = 2;
  Both both(sizes);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(both.b.receive(0, 8), 0);
  ibv_sge segment = both.a.at(0, 8);
  std::array<ibv_send_wr, 3> chain;
  for (ibv_send_wr& r : chain) r = both.a.request(IBV_WR_SEND, &segment, 1);
  chain[0].next = &chain[1];
  chain[1].next = &chain[2];
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(both.a.pair, chain.data(), &bad), ENOMEM);
  EXPECT_EQ(bad, &chain[2]);
  EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
  EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
}

TEST(SoftQueue, AnOverrunIsTold) {
  Sizes sizes;
  sizes.entries = 2;
  sizes.signals_all = true;
  Both both(sizes);
  ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, nullptr, 0, &both.b, 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(both.a.post(write), 0);
  EXPECT_EQ(both.a.event(), IBV_EVENT_CQ_ERR);
  EXPECT_EQ(both.a.event(), IBV_EVENT_QP_FATAL);
  EXPECT_EQ(both.a.pair->state, IBV_QPS_ERR);
}

TEST(SoftQueue, AnArmedQueueRingsOnceForWhatIsNew) {
  Both both;
  ibv_cq* queue = nullptr;
  void* data = nullptr;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(both.b.receive(0, 8), 0);
  const auto message = [&](unsigned flags) {
    ASSERT_EQ(both.a.send(0, 8, 1, IBV_SEND_SIGNALED | flags), 0);
    ASSERT_EQ(both.a.status(), IBV_WC_SUCCESS);
  };
  message(0);
  ASSERT_EQ(ibv_req_notify_cq(both.b.queue, 0), 0);
  EXPECT_EQ(ibv_get_cq_event(both.b.channel, &queue, &data), -1) << "it was there before";
  ASSERT_EQ(ibv_req_notify_cq(both.b.queue, 1), 0) << "which asks for no less than before";
  message(0);
  pollfd ready{both.b.channel->fd, POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, 20'000), 1);
  ASSERT_EQ(ibv_get_cq_event(both.b.channel, &queue, &data), 0);
  EXPECT_EQ(queue, both.b.queue);
  EXPECT_EQ(data, &both.b);
  message(0);
  EXPECT_EQ(ibv_get_cq_event(both.b.channel, &queue, &data), -1) << "it is not armed";
  ibv_ack_cq_events(queue, 1);
}

TEST(SoftQueue, SolicitedOnesAloneRing) {
  Both both;
  ibv_cq* queue = nullptr;
  void* data = nullptr;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(both.b.receive(0, 8), 0);
  ASSERT_EQ(ibv_req_notify_cq(both.b.queue, 1), 0);
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_get_cq_event(both.b.channel, &queue, &data), -1);
  ASSERT_EQ(both.a.send(0, 8, 1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), 0);
  EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS);
  ASSERT_EQ(ibv_get_cq_event(both.b.channel, &queue, &data), 0);
  // Nobody acknowledges it but another thread: until then the queue is not destroyed.
  std::thread later([queue] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ibv_ack_cq_events(queue, 1);
  });
  EXPECT_EQ(ibv_destroy_qp(both.b.pair), 0);
  both.b.pair = nullptr;
  EXPECT_EQ(ibv_destroy_cq(both.b.queue), 0);
  later.join();
  both.b.queue = ibv_create_cq(both.b.context, 1, nullptr, both.b.channel, 0);
}

TEST(SoftQueue, AnEventOfADestroyedQueueIsNotTold) {
  Both both;
  ASSERT_EQ(ibv_req_notify_cq(both.a.queue, 0), 0);
  ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, nullptr, 0, &both.b, 0);
  ASSERT_EQ(both.a.post(write), 0);
  pollfd ready{both.a.channel->fd, POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, 20'000), 1);
  EXPECT_EQ(ibv_destroy_qp(both.a.pair), 0);
  both.a.pair = nullptr;
  EXPECT_EQ(ibv_destroy_cq(both.a.queue), 0);
  EXPECT_EQ(poll(&ready, 1, 0), 0);
  both.a.queue = ibv_create_cq(both.a.context, 1, nullptr, both.a.channel, 0);
}

TEST(SoftQueue, ResizingKeepsWhatIsThere) {
  Both both;
  ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, nullptr, 0, &both.b, 0);
  for (write.wr_id = 0; write.wr_id < 4; ++write.wr_id) ASSERT_EQ(both.a.post(write), 0);
  ASSERT_EQ(both.a.next().wr_id, 0U);
  // Until three are there. The third overruns a queue for two: it is one for a moment only.
  while (ibv_resize_cq(both.a.queue, 2) == 0) {
    ASSERT_EQ(ibv_resize_cq(both.a.queue, 4), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(ibv_resize_cq(both.a.queue, 3), 0);
  for (std::uint64_t i = 1; i < 4; ++i) EXPECT_EQ(both.a.next().wr_id, i);
  EXPECT_EQ(ibv_resize_cq(both.a.queue, 0), EINVAL);
}

TEST(SoftShared, ReceivesServeAllPairsAndTheLimitIsToldOnce) {
  Sizes sizes;
  sizes.shared = true;
  sizes.receives = 4;
  Both both(sizes);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(both.b.receive(0, 8, i), 0);
  EXPECT_EQ(both.b.receive(0, 8), ENOMEM);
  ibv_srq_attr limit{0, 0, 3};
  ASSERT_EQ(ibv_modify_srq(both.b.shared, &limit, IBV_SRQ_LIMIT), 0);
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.b.next().wr_id, 0U);
  EXPECT_TRUE(both.b.no_event()) << "three are left";
  for (std::uint64_t i = 1; i < 3; ++i) {
    ASSERT_EQ(both.a.send(0, 8), 0);
    EXPECT_EQ(both.b.next().wr_id, i);
  }
  EXPECT_EQ(both.b.event(), IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_TRUE(both.b.no_event()) << "once";
  EXPECT_EQ(ibv_destroy_srq(both.b.shared), EBUSY);
  EXPECT_EQ(both.b.change(IBV_QPS_ERR), 0);
  EXPECT_EQ(both.b.event(), IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_TRUE(both.b.is_empty()) << "what is shared is not flushed";
}

TEST(SoftDatagram, ArrivesBehindItsHeader) {
  Sizes sizes;
  sizes.type = IBV_QPT_UD;
  Both both(sizes);
  both.a.fill(0, 4096, 6);
  ASSERT_EQ(both.b.receive(0, 40 + 4096), 0);
  ASSERT_EQ(both.a.send(0, 4096), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
  const ibv_wc got = both.b.next();
  EXPECT_EQ(got.status, IBV_WC_SUCCESS);
  EXPECT_EQ(got.byte_len, 40U + 4096U);
  EXPECT_EQ(got.src_qp, both.a.pair->qp_num);
  EXPECT_NE(got.wc_flags & IBV_WC_GRH, 0U);
  EXPECT_EQ(both.b.memory[0], std::byte{0x60});
  EXPECT_TRUE(both.b.holds(40, 4096, 6));
}

TEST(SoftDatagram, IsLostWithAnotherKeyOrWithoutReceive) {
  Sizes sizes;
  sizes.type = IBV_QPT_UD;
  Both both(sizes);
  ASSERT_EQ(both.a.send(0, 8), 0);
  while (page().counters[kUnheardDatagrams] < 1) std::this_thread::yield();
  ASSERT_EQ(both.b.receive(0, 100, 7), 0);
  ibv_sge segment = both.a.at(0, 8);
  ibv_send_wr request = both.a.request(IBV_WR_SEND, &segment, 1);
  request.wr.ud.remote_qkey = 5;
  ASSERT_EQ(both.a.post(request), 0);
  while (page().counters[kUnheardDatagrams] < 2) std::this_thread::yield();
  EXPECT_TRUE(both.b.is_empty());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS) << "nobody tells";
}

TEST(SoftDatagram, ErrorsStopOneQueueOrThePair) {
  Sizes sizes;
  sizes.type = IBV_QPT_UD;
  Both both(sizes);
  ASSERT_EQ(both.a.send(0, 4097), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_LOC_LEN_ERR) << "no datagram has more than a packet";
  EXPECT_EQ(both.a.pair->state, IBV_QPS_SQE);
  ibv_qp_attr again{};
  again.qp_state = IBV_QPS_RTS;
  EXPECT_EQ(ibv_modify_qp(both.a.pair, &again, IBV_QP_STATE), 0);
  ASSERT_EQ(both.b.receive(0, 47), 0);
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.b.status(), IBV_WC_LOC_LEN_ERR) << "the header needs room, too";
  EXPECT_EQ(both.b.pair->state, IBV_QPS_ERR);
}

}  // namespace
}  // namespace soft_verbs::test
