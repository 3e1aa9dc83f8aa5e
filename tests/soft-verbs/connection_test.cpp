/// What a reliable connection carries.

#include "tests/soft-verbs/rig.hpp"

namespace soft_verbs::test {
namespace {

TEST(SoftConnection, SendsArriveInReceivesInOrder) {
  Both both;
  both.a.fill(0, 10'000, 1);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(both.b.receive(i * 10'000, 10'000, i), 0);
  const std::array<std::size_t, 3> sizes{0, 1, 10'000};  // none, one packet, ten
  for (const std::size_t bytes : sizes) ASSERT_EQ(both.a.send(0, bytes, bytes), 0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const ibv_wc sent = both.a.next();
    EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
    EXPECT_EQ(sent.wr_id, sizes[i]);
    const ibv_wc got = both.b.next();
    EXPECT_EQ(got.status, IBV_WC_SUCCESS);
    EXPECT_EQ(got.opcode, IBV_WC_RECV);
    EXPECT_EQ(got.wr_id, i);
    EXPECT_EQ(got.byte_len, sizes[i]);
    EXPECT_EQ(got.src_qp, both.a.pair->qp_num);
    EXPECT_EQ(got.wc_flags & IBV_WC_WITH_IMM, 0U);
    EXPECT_TRUE(both.b.holds(i * 10'000, sizes[i], 1));
  }
}

TEST(SoftConnection, ListsAreGatheredAndScattered) {
  Both both;
  both.a.fill(0, 5000, 3);
  std::array<ibv_sge, 3> from{both.a.at(0, 7), both.a.at(7, 0), both.a.at(7, 4993)};
  std::array<ibv_sge, 2> to{both.b.at(100, 3000), both.b.at(3100, 2000)};
  ibv_recv_wr receive{};
  receive.sg_list = to.data();
  receive.num_sge = 2;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(both.b.pair, &receive, &bad), 0);
  ibv_send_wr request = both.a.request(IBV_WR_SEND_WITH_IMM, from.data(), 3);
  ASSERT_EQ(both.a.post(request), 0);
  const ibv_wc got = both.b.next();
  EXPECT_EQ(got.byte_len, 5000U);
  EXPECT_NE(got.wc_flags & IBV_WC_WITH_IMM, 0U);
  EXPECT_EQ(got.imm_data, 0x12345678U);
  EXPECT_TRUE(both.b.holds(100, 5000, 3));
}

TEST(SoftConnection, InlineBytesMayChangeAtOnce) {
  Both both;
  both.a.fill(0, 64, 9);
  ASSERT_EQ(both.b.receive(0, 64), 0);
  ibv_sge segment = both.a.at(0, 64);
  segment.lkey = 0;  // not looked at
  ibv_send_wr request = both.a.request(IBV_WR_SEND, &segment, 1);
  request.send_flags |= IBV_SEND_INLINE;
  page().per_million[kDelay] = 1'000'000;
  ASSERT_EQ(both.a.post(request), 0);
  both.a.fill(0, 64, 200);
  EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS);
  EXPECT_TRUE(both.b.holds(0, 64, 9));
}

TEST(SoftConnection, WritesAndReads) {
  Both both;
  both.a.fill(0, 30'000, 5);
  ibv_sge segment = both.a.at(0, 30'000);
  ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, &segment, 1, &both.b, 11);
  ASSERT_EQ(both.a.post(write), 0);
  EXPECT_EQ(both.a.next().opcode, IBV_WC_RDMA_WRITE);
  EXPECT_TRUE(both.b.holds(11, 30'000, 5));
  EXPECT_TRUE(both.b.is_empty()) << "its target is not told";
  std::array<ibv_sge, 2> to{both.a.at(30'000, 20'000), both.a.at(50'000, 10'000)};
  ibv_send_wr read = both.a.request(IBV_WR_RDMA_READ, to.data(), 2, &both.b, 11);
  ASSERT_EQ(both.a.post(read), 0);
  const ibv_wc done = both.a.next();
  EXPECT_EQ(done.status, IBV_WC_SUCCESS);
  EXPECT_EQ(done.opcode, IBV_WC_RDMA_READ);
  EXPECT_TRUE(both.a.holds(30'000, 30'000, 5));
}

TEST(SoftConnection, WriteWithImmediateTakesAReceiveWithoutBuffer) {
  Both both;
  both.a.fill(0, 2000, 5);
  for (const std::size_t bytes : {std::size_t{2000}, std::size_t{0}}) {
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(both.b.pair, &receive, &bad), 0);
    ibv_sge segment = both.a.at(0, bytes);
    ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE_WITH_IMM, &segment, 1, &both.b, 0);
    if (bytes == 0) write.num_sge = 0;
    if (bytes == 0) write.wr.rdma.rkey = 1;  // not looked at
    ASSERT_EQ(both.a.post(write), 0);
    const ibv_wc got = both.b.next();
    EXPECT_EQ(got.status, IBV_WC_SUCCESS);
    EXPECT_EQ(got.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(got.byte_len, bytes);
    EXPECT_EQ(got.imm_data, 0x12345678U);
    EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
  }
  EXPECT_TRUE(both.b.holds(0, 2000, 5)) << "and the first one's bytes are there";
}

TEST(SoftConnection, AtomicsBringTheOldValue) {
  Both both;
  std::uint64_t word = 40;
  std::memcpy(both.b.memory.data(), &word, sizeof word);
  ibv_sge segment = both.a.at(8, 8);
  ibv_send_wr add = both.a.request(IBV_WR_ATOMIC_FETCH_AND_ADD, &segment, 1, &both.b, 0);
  add.wr.atomic.compare_add = 2;
  ASSERT_EQ(both.a.post(add), 0);
  EXPECT_EQ(both.a.next().opcode, IBV_WC_FETCH_ADD);
  std::memcpy(&word, both.a.memory.data() + 8, sizeof word);
  EXPECT_EQ(word, 40U);
  for (const std::uint64_t wanted : {std::uint64_t{42}, std::uint64_t{7}}) {
    ibv_send_wr swap = both.a.request(IBV_WR_ATOMIC_CMP_AND_SWP, &segment, 1, &both.b, 0);
    swap.wr.atomic.compare_add = 42;
    swap.wr.atomic.swap = 7;
    ASSERT_EQ(both.a.post(swap), 0);
    EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
    std::memcpy(&word, both.a.memory.data() + 8, sizeof word);
    EXPECT_EQ(word, wanted) << "the second one finds what the first has left";
  }
  std::memcpy(&word, both.b.memory.data(), sizeof word);
  EXPECT_EQ(word, 7U);
}

TEST(SoftConnection, ReadsAreLimitedAndFencesWait) {
  Both both;
  both.b.fill(0, 4096, 1);
  for (std::size_t i = 0; i < 10; ++i) {  // of four that may be under way
    ibv_sge segment = both.a.at(i * 4096, 4096);
    ibv_send_wr read = both.a.request(IBV_WR_RDMA_READ, &segment, 1, &both.b, 0);
    ASSERT_EQ(both.a.post(read), 0);
  }
  // Sends what the last read brings: the fence holds it back until then.
  ASSERT_EQ(both.b.receive(8192, 4096), 0);
  ASSERT_EQ(both.a.send(9 * 4096, 4096, 1, IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
  EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS);
  EXPECT_TRUE(both.b.holds(8192, 4096, 1));
  for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS);
}

TEST(SoftConnection, APairTalksToItselfAndToItsOwnDevice) {
  End one("soft0");
  one.connect(one);
  one.fill(0, 100, 8);
  ASSERT_EQ(one.receive(1000, 100), 0);
  ASSERT_EQ(one.send(0, 100), 0);
  EXPECT_EQ(one.status(), IBV_WC_SUCCESS);
  EXPECT_EQ(one.status(), IBV_WC_SUCCESS);
  EXPECT_TRUE(one.holds(1000, 100, 8));
}

}  // namespace
}  // namespace soft_verbs::test
