/// The accounts of a send queue, and what a queue pair asks of its device.

#include "via/verbs/src/queue_pair.hpp"

#include <gtest/gtest.h>

#include "tests/unit/verbs/fake_device.hpp"

namespace viaduct::via::verbs {
namespace {

class VerbsQueuePair : public testing::Test {
 protected:
  static FakePort port() {
    FakePort port;
    port.gids = {{"::ffff:10.0.0.1"}};
    port.mtu = IBV_MTU_4096;
    return port;
  }
  static Settings settings() {
    Settings settings;
    settings.timeout = 14;
    settings.retries = 6;
    settings.rnr_retries = 5;
    return settings;
  }
  [[nodiscard]] bool post(std::uint32_t count) {
    ibv_send_wr request{};
    return pair_.post(request, count);
  }

  FakeLibrary fake_{std::vector<FakeDevice>{{"a", {port()}}}};
  Device device_{settings(), "auto", 0};
  QueuePair pair_{device_, nullptr, nullptr, nullptr, {8, 4, 1, 64}};
};
using VerbsQueuePairDeathTest = VerbsQueuePair;

TEST_F(VerbsQueuePair, EachCompletionGivesBackAllBeforeIt) {
  EXPECT_TRUE(post(3));
  EXPECT_TRUE(post(5));
  EXPECT_EQ(FakeLibrary::posts(), 2) << "a chain is one doorbell";
  EXPECT_EQ(pair_.outstanding(), 8U);
  EXPECT_FALSE(pair_.has_room(1));
  EXPECT_EQ(pair_.reap(3), 3U);
  EXPECT_EQ(pair_.outstanding(), 4U);
  EXPECT_TRUE(pair_.has_room(4));
  EXPECT_FALSE(pair_.has_room(5));
  EXPECT_TRUE(post(4));
  EXPECT_EQ(pair_.reap(11), 11U);
  EXPECT_EQ(pair_.outstanding(), 0U);
}

TEST_F(VerbsQueuePair, NumbersAreWholeThoughTheDeviceHasTheirLowHalf) {
  constexpr std::uint64_t kPast = (std::uint64_t{1} << 32) + 100;
  constexpr std::uint32_t kStep = 1U << 20;
  std::uint64_t posted = 0;
  QueuePair pair(device_, nullptr, nullptr, nullptr, {kStep, 4, 1, 64});
  ibv_send_wr request{};
  while (posted < kPast) {
    ASSERT_TRUE(pair.post(request, kStep));
    posted += kStep;
    ASSERT_EQ(pair.reap(static_cast<std::uint32_t>(posted - 1)), posted - 1);
  }
  EXPECT_EQ(pair.outstanding(), 0U);
}

TEST_F(VerbsQueuePairDeathTest, APostWithoutRoomStopsTheProgram) {
  ASSERT_TRUE(post(6));
  EXPECT_DEATH((void)post(3), "3 requests posted beside 6 that have not completed, of 8");
  (void)pair_.reap(0);
  EXPECT_TRUE(post(3));
}

TEST_F(VerbsQueuePairDeathTest, ACompletionOfWhatWasNotPostedStopsTheProgram) {
  EXPECT_DEATH((void)pair_.reap(0), "completion of request 0, and only 0 were posted");
  ASSERT_TRUE(post(2));
  EXPECT_DEATH((void)pair_.reap(2), "completion of request 2, and only 2 were posted");
  EXPECT_EQ(pair_.reap(1), 1U);
  EXPECT_DEATH((void)pair_.reap(1), "and only 2 were posted") << "it has been given back";
}

TEST_F(VerbsQueuePair, TheSmallerMtuOfBothEnds) {
  for (const ibv_mtu theirs : {IBV_MTU_1024, IBV_MTU_4096, IBV_MTU_256}) {
    Address peer;
    device_.fill(peer);
    peer.mtu = static_cast<std::uint8_t>(theirs);
    FakeLibrary::transitions().clear();
    pair_.connect(peer, {123, 456});
    ASSERT_EQ(FakeLibrary::transitions().size(), 2U);
    const ibv_qp_attr& receive = FakeLibrary::transitions()[0];
    EXPECT_EQ(receive.qp_state, IBV_QPS_RTR);
    EXPECT_EQ(receive.path_mtu, theirs);
    EXPECT_EQ(receive.dest_qp_num, 123U);
    EXPECT_EQ(receive.rq_psn, 456U);
    EXPECT_EQ(receive.ah_attr.is_global, 1);
    EXPECT_EQ(receive.max_dest_rd_atomic, 16) << "no more than are used, of 128";
    const ibv_qp_attr& send = FakeLibrary::transitions()[1];
    EXPECT_EQ(send.qp_state, IBV_QPS_RTS);
    EXPECT_EQ(send.timeout, 14);
    EXPECT_EQ(send.retry_cnt, 6);
    EXPECT_EQ(send.rnr_retry, 5);
    EXPECT_EQ(send.max_rd_atomic, 4) << "what the device has";
    EXPECT_EQ(send.sq_psn, pair_.name().first_packet);
  }
}

}  // namespace
}  // namespace viaduct::via::verbs
