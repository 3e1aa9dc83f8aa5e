/// Devices, memory, and the states of queue pairs.

#include "tests/soft-verbs/rig.hpp"

namespace soft_verbs::test {
namespace {

TEST(SoftDevice, PortsAndAddresses) {
  ibv_context* const first = open("two");
  ibv_context* const second = open("ib0");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  ibv_device_attr limits{};
  ASSERT_EQ(ibv_query_device(first, &limits), 0);
  EXPECT_EQ(limits.phys_port_cnt, 2);
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(first, 2, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(ibv_query_port(first, 3, &port), EINVAL);
  ASSERT_EQ(ibv_query_port(second, 1, &port), 0);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_NE(port.lid, 0);
  ibv_gid_entry entry{};
  ASSERT_EQ(ibv_query_gid_ex(first, 2, 3, &entry, 0), 0);
  EXPECT_EQ(entry.gid_type, static_cast<std::uint32_t>(IBV_GID_TYPE_ROCE_V2));
  EXPECT_EQ(ibv_query_gid_ex(first, 2, 4, &entry, 0), EINVAL);
  __be16 key = 0;
  EXPECT_EQ(ibv_query_pkey(first, 1, 0, &key), 0);
  EXPECT_EQ(key, 0xffff);
  ibv_pd* const domain = ibv_alloc_pd(first);
  ibv_ah_attr route = End::route_to(first);
  ibv_ah* const address_handle = ibv_create_ah(domain, &route);
  ASSERT_NE(address_handle, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(domain), EBUSY);
  EXPECT_EQ(ibv_destroy_ah(address_handle), 0);
  route.grh.dgid.raw[15] = 99;
  EXPECT_EQ(ibv_create_ah(domain, &route), nullptr);
  EXPECT_EQ(errno, ENETUNREACH) << "there is no such address";
  route = {};
  route.port_num = 1;
  EXPECT_EQ(ibv_create_ah(domain, &route), nullptr);
  EXPECT_EQ(errno, EINVAL) << "Ethernet needs a global address";
  testing::internal::CaptureStderr();
  EXPECT_EQ(ibv_close_device(first), EBUSY) << "there is a domain";
  EXPECT_NE(testing::internal::GetCapturedStderr().find("1 objects"), std::string::npos);
  EXPECT_EQ(ibv_dealloc_pd(domain), 0);
  EXPECT_EQ(ibv_close_device(first), 0);
  EXPECT_EQ(ibv_close_device(second), 0);
}

TEST(SoftDevice, PairsMeetByTheirLid) {
  End a("ib0");
  End b("ib1");
  const auto route = [](const End& to) {
    ibv_port_attr port{};
    EXPECT_EQ(ibv_query_port(to.context, 1, &port), 0);
    ibv_ah_attr address_handle{};
    address_handle.dlid = port.lid;
    address_handle.port_num = 1;
    return address_handle;
  };
  a.connect(b.pair->qp_num, route(b));
  b.connect(a.pair->qp_num, route(a));
  ASSERT_EQ(b.receive(0, 8), 0);
  ASSERT_EQ(a.send(0, 8), 0);
  EXPECT_EQ(a.status(), IBV_WC_SUCCESS);
}

TEST(SoftMemory, OnlyWhatIsMappedWithTheseRightsIsRegistered) {
  End one("soft0");
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + 4096, 4096);
  EXPECT_EQ(ibv_reg_mr(one.domain, pages, 8192, kAll), nullptr);
  EXPECT_EQ(errno, EFAULT);
  mprotect(pages, 4096, PROT_READ);
  EXPECT_EQ(ibv_reg_mr(one.domain, pages, 4096, int{IBV_ACCESS_LOCAL_WRITE}), nullptr);
  EXPECT_EQ(errno, EFAULT);
  ibv_mr* const fixed = ibv_reg_mr(one.domain, pages, 4096, int{IBV_ACCESS_REMOTE_READ});
  ASSERT_NE(fixed, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(one.domain), EBUSY);
  EXPECT_EQ(ibv_reg_mr(one.domain, pages, 4096, int{IBV_ACCESS_REMOTE_WRITE}), nullptr);
  EXPECT_EQ(errno, EINVAL) << "who is written to from far may be written to from near";
  ibv_mr* const again = ibv_reg_mr(one.domain, pages, 10, 0);
  EXPECT_NE(again->lkey, fixed->lkey);
  const std::uint32_t key = again->lkey;
  EXPECT_EQ(ibv_dereg_mr(again), 0);
  ibv_mr* const third = ibv_reg_mr(one.domain, pages, 10, 0);
  EXPECT_NE(third->lkey, key) << "a key is not given out again";
  EXPECT_EQ(ibv_dereg_mr(third), 0);
  EXPECT_EQ(ibv_dereg_mr(fixed), 0);
  munmap(pages, 4096);
}

TEST(SoftState, TransitionsNeedTheirAttributes) {
  End one("soft0");
  ibv_qp_attr a = End::to_rtr(1, End::route_to(one.context));
  EXPECT_EQ(ibv_modify_qp(one.pair, &a, End::kToRtr), EINVAL) << "not from RESET";
  EXPECT_EQ(one.to_rts(), EINVAL);
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  EXPECT_EQ(ibv_modify_qp(one.pair, &a, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX), EINVAL);
  ASSERT_EQ(one.to_init(), 0);
  EXPECT_EQ(one.pair->state, IBV_QPS_INIT);
  a.qp_state = IBV_QPS_RTR;
  for (int bit = 1; bit < 1 << 21; bit <<= 1)
    if ((End::kToRtr & bit) != 0 && bit != IBV_QP_STATE) {
      EXPECT_EQ(ibv_modify_qp(one.pair, &a, End::kToRtr & ~bit), EINVAL) << "without " << bit;
    }
  EXPECT_EQ(ibv_modify_qp(one.pair, &a, End::kToRtr | IBV_QP_TIMEOUT), EINVAL) << "one too many";
  ibv_qp_attr wrong = a;
  wrong.path_mtu = static_cast<ibv_mtu>(6);
  EXPECT_EQ(ibv_modify_qp(one.pair, &wrong, End::kToRtr), EINVAL);
  wrong = a;
  wrong.max_dest_rd_atomic = 17;
  EXPECT_EQ(ibv_modify_qp(one.pair, &wrong, End::kToRtr), EINVAL);
  wrong = a;
  wrong.ah_attr.grh.dgid.raw[15] = 99;
  EXPECT_EQ(ibv_modify_qp(one.pair, &wrong, End::kToRtr), ENETUNREACH);
  EXPECT_EQ(ibv_modify_qp(one.pair, &a, End::kToRtr), 0);
  wrong.qp_state = IBV_QPS_RTS;
  wrong.cur_qp_state = IBV_QPS_INIT;
  EXPECT_EQ(ibv_modify_qp(one.pair, &wrong, End::kToRts | IBV_QP_CUR_STATE), EINVAL);
  EXPECT_EQ(one.to_rts(), 0);
  ibv_qp_init_attr initial{};
  ASSERT_EQ(ibv_query_qp(one.pair, &a, IBV_QP_STATE, &initial), 0);
  EXPECT_EQ(a.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(a.retry_cnt, 2);
}

TEST(SoftState, PostsNeedTheirState) {
  End one("soft0");
  EXPECT_EQ(one.receive(0, 8), EINVAL) << "RESET";
  EXPECT_EQ(one.send(0, 8), EINVAL);
  ASSERT_EQ(one.to_init(), 0);
  EXPECT_EQ(one.receive(0, 8), 0);
  EXPECT_EQ(one.send(0, 8), EINVAL) << "INIT";
  ibv_qp_attr a = End::to_rtr(one.pair->qp_num, End::route_to(one.context));
  ASSERT_EQ(ibv_modify_qp(one.pair, &a, End::kToRtr), 0);
  EXPECT_EQ(one.send(0, 8), EINVAL) << "RTR";
}

TEST(SoftState, APairInUseIsNotReset) {
  Both both;
  ASSERT_EQ(both.a.receive(0, 8), 0);
  EXPECT_EQ(both.a.change(IBV_QPS_RESET), EBUSY) << "a receive is out";
  page().per_million[kLate] = 1'000'000;
  page().time_ns[kLate] = 1'000'000'000;
  EXPECT_EQ(both.a.change(IBV_QPS_ERR), 0);
  if (both.a.is_empty()) {
    EXPECT_EQ(both.a.change(IBV_QPS_RESET), EBUSY) << "the device has not given it back";
  }
  EXPECT_EQ(both.a.status(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(both.a.change(IBV_QPS_RESET), 0);
  EXPECT_EQ(both.a.receive(0, 8), EINVAL);
  page().per_million[kLate] = 0;
  both.a.connect(both.b);
  ASSERT_EQ(both.a.receive(0, 8), 0) << "it can be used again";
}

TEST(SoftState, WhatIsInUseIsNotDestroyed) {
  Both both;
  EXPECT_EQ(ibv_destroy_cq(both.a.queue), EBUSY);
  EXPECT_EQ(ibv_destroy_comp_channel(both.a.channel), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(both.a.domain), EBUSY);
  ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, nullptr, 0, &both.b, 0);
  ASSERT_EQ(ibv_req_notify_cq(both.a.queue, 0), 0);
  ASSERT_EQ(both.a.post(write), 0);
  pollfd ready{both.a.channel->fd, POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, 20'000), 1);
  EXPECT_EQ(ibv_destroy_qp(both.a.pair), 0);
  both.a.pair = nullptr;
  EXPECT_TRUE(both.a.is_empty()) << "a destroyed pair's completions are gone";
}

TEST(SoftState, CommunicationIsToldOnceBeforeThePairMaySend) {
  End a("soft0");
  End b("soft1");
  a.connect(b);
  ASSERT_EQ(b.to_init(), 0);
  ibv_qp_attr attributes = End::to_rtr(a.pair->qp_num, End::route_to(a.context));
  ASSERT_EQ(ibv_modify_qp(b.pair, &attributes, End::kToRtr), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(b.receive(0, 8), 0);
    ASSERT_EQ(a.send(0, 8), 0);
    EXPECT_EQ(b.status(), IBV_WC_SUCCESS) << "a pair that is ready to receive receives";
  }
  EXPECT_EQ(b.event(), IBV_EVENT_COMM_EST);
  EXPECT_TRUE(b.no_event());
}

}  // namespace
}  // namespace soft_verbs::test
