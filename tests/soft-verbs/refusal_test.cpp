/// What is refused, by whom, and how both ends learn of it.

#include "tests/soft-verbs/rig.hpp"

namespace soft_verbs::test {
namespace {

/// Posts @p request on a; it fails so, and both pairs are in the error state.
void expect_refused(Both& both, ibv_send_wr& request, ibv_wc_status status) {
  request.send_flags = 0;  // an error completes all the same
  ASSERT_EQ(both.a.post(request), 0);
  EXPECT_EQ(both.a.status(), status);
  EXPECT_EQ(both.a.pair->state, IBV_QPS_ERR);
}

class SoftRights : public testing::TestWithParam<ibv_wr_opcode> {};

TEST_P(SoftRights, EachOperationNeedsItsOwn) {
  const ibv_wr_opcode code = GetParam();
  const int needed = code == IBV_WR_RDMA_WRITE  ? IBV_ACCESS_REMOTE_WRITE
                     : code == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ
                                                : IBV_ACCESS_REMOTE_ATOMIC;
  for (const int wrong : {0, 1, 2, 3, 4}) {
    Sizes sizes;
    if (wrong == 4) sizes.access = ~static_cast<unsigned>(needed) & kAll;
    Both both(sizes);
    ibv_mr* const narrow =
        ibv_reg_mr(both.b.domain, both.b.memory.data(), 64, kAll & ~(wrong == 0 ? needed : 0));
    ASSERT_NE(narrow, nullptr);
    ibv_sge segment = both.a.at(0, 8);
    ibv_send_wr request = both.a.request(code, &segment, 1, &both.b, wrong == 1 ? 60 : 0);
    const bool atomic = needed == IBV_ACCESS_REMOTE_ATOMIC;
    std::uint32_t& key = atomic ? request.wr.atomic.rkey : request.wr.rdma.rkey;
    std::uint64_t& address = atomic ? request.wr.atomic.remote_addr : request.wr.rdma.remote_addr;
    key = wrong == 2 ? narrow->rkey + 1 : narrow->rkey;
    if (wrong == 1 && atomic) address += 4;  // aligned, and outside
    if (wrong == 3) {                        // of another domain
      ibv_pd* const other = ibv_alloc_pd(both.b.context);
      ibv_mr* const far = ibv_reg_mr(other, both.b.memory.data(), 64, kAll);
      key = far->rkey;
      expect_refused(both, request, IBV_WC_REM_ACCESS_ERR);
      ibv_dereg_mr(far);
      EXPECT_EQ(ibv_dealloc_pd(other), 0);
    } else {
      expect_refused(both, request, wrong == 4 ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR);
    }
    EXPECT_EQ(both.b.event(), wrong == 4 ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR);
    EXPECT_EQ(both.b.pair->state, IBV_QPS_ERR);
    ibv_dereg_mr(narrow);
  }
}
INSTANTIATE_TEST_SUITE_P(Soft, SoftRights,
                         testing::Values(IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                         IBV_WR_ATOMIC_FETCH_AND_ADD));

TEST(SoftRefusal, AWordThatIsNotAligned) {
  Both both;
  ibv_sge segment = both.a.at(0, 8);
  ibv_send_wr add = both.a.request(IBV_WR_ATOMIC_FETCH_AND_ADD, &segment, 1, &both.b, 4);
  expect_refused(both, add, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(both.b.event(), IBV_EVENT_QP_REQ_ERR);
}

TEST(SoftRefusal, LocalMemoryThatIsNotGranted) {
  for (const int wrong : {0, 1, 2}) {
    Both both;
    ibv_mr* const fixed = ibv_reg_mr(both.a.domain, both.a.memory.data(), 4096, 0);
    ibv_sge segment = both.a.at(0, 100);
    if (wrong == 0) segment.lkey += 1;
    if (wrong == 1) segment.addr += End::kBytes - 99;
    if (wrong == 2) segment.lkey = fixed->lkey;  // read-only, and a read writes there
    ibv_send_wr request =
        both.a.request(wrong == 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &segment, 1, &both.b, 0);
    expect_refused(both, request, IBV_WC_LOC_PROT_ERR);
    ibv_dereg_mr(fixed);
  }
}

TEST(SoftRefusal, AReceiveThatIsTooShort) {
  Both both;
  ASSERT_EQ(both.b.receive(0, 99, 1), 0);
  ASSERT_EQ(both.b.receive(100, 100, 2), 0);
  ASSERT_EQ(both.a.send(0, 100), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_REM_INV_REQ_ERR);
  const ibv_wc first = both.b.next();
  EXPECT_EQ(first.status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(first.wr_id, 1U);
  EXPECT_EQ(both.b.status(), IBV_WC_WR_FLUSH_ERR);
}

TEST(SoftRefusal, AReceiveOfBadMemory) {
  Both both;
  ibv_sge segment = both.b.at(0, 100);
  segment.lkey += 1;
  ibv_recv_wr receive{};
  receive.sg_list = &segment;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(both.b.pair, &receive, &bad), 0);
  ASSERT_EQ(both.a.send(0, 100), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_REM_OP_ERR);
  EXPECT_EQ(both.b.status(), IBV_WC_LOC_PROT_ERR);
}

TEST(SoftRefusal, AReceiverThatIsNotReady) {
  Both both;
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(page().counters[kReceiverNotReady], 3U) << "the first time, and two repetitions";
  EXPECT_EQ(both.b.pair->state, IBV_QPS_RTS) << "nothing has happened there";
}

TEST(SoftRefusal, AReceiverThatIsReadyLater) {
  Sizes sizes;
  sizes.rnr_retries = 7;  // for ever
  Both both(sizes);
  both.a.fill(0, 3000, 4);
  ASSERT_EQ(both.a.send(0, 3000), 0);
  while (page().counters[kReceiverNotReady] < 20) std::this_thread::yield();
  EXPECT_TRUE(both.a.is_empty());
  ASSERT_EQ(both.b.receive(0, 3000), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
  EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS);
  EXPECT_TRUE(both.b.holds(0, 3000, 4));
}

TEST(SoftRefusal, WhatIsBehindAnErrorIsFlushedInOrder) {
  Both both;
  ASSERT_EQ(both.a.receive(0, 8, 50), 0);
  ASSERT_EQ(both.a.send(0, 8, 1, 0), 0);
  for (std::uint64_t i = 2; i < 5; ++i) ASSERT_EQ(both.a.send(0, 8, i, 0), 0);
  for (std::uint64_t i = 1; i < 5; ++i) {
    const ibv_wc done = both.a.next();
    EXPECT_EQ(done.status, i == 1 ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(done.wr_id, i) << "though they are not signalled";
  }
  EXPECT_EQ(both.a.next().wr_id, 50U);
  ASSERT_EQ(both.a.send(0, 8, 6, 0), 0) << "posts are taken in the error state";
  EXPECT_EQ(both.a.status(), IBV_WC_WR_FLUSH_ERR);
}

TEST(SoftRefusal, APairThatIsNoMore) {
  Both both;
  ASSERT_EQ(ibv_destroy_qp(both.b.pair), 0);
  both.b.pair = nullptr;
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(page().counters[kRetries], 3U) << "two repetitions, and the end";
}

}  // namespace
}  // namespace soft_verbs::test
