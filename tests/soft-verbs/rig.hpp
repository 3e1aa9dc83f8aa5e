#pragma once
/// @file
/// Two ends of a connection on two software devices of this process, by plain libibverbs calls.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/soft-verbs/control.hpp"

namespace soft_verbs::test {

constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::chrono::seconds kLimit{20};  // only a hang reaches it

/// The devices' control page: before the first device is opened, since it names the file.
inline Control& page() {
  static Control* const kPage = [] {
    const int fd = memfd_create("soft-verbs", 0);
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    setenv("SOFT_VERBS_CONTROL", name.c_str(), 1);
    setenv("SOFT_VERBS_DEVICES", "soft0,soft1,two:2,ib0:infiniband,ib1:infiniband", 1);
    setenv("SOFT_VERBS_FABRIC", std::to_string(getpid()).c_str(), 1);
    return open_control(name.c_str());
  }();
  return *kPage;
}

/// No case leaves faults to the next one, where several run in one process.
class FreshPage : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    page().cut = 0;
    page().dead = page().ports_down = 0;
    for (auto& chance : page().per_million) chance = 0;
    for (auto& counter : page().counters) counter = 0;
  }
};
inline const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FreshPage);
  return true;
}();

inline ibv_context* open(const char* name) {
  (void)page();
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i)
    if (std::string(ibv_get_device_name(list[i])) == name) context = ibv_open_device(list[i]);
  ibv_free_device_list(list);
  return context;
}

struct Sizes {
  std::uint32_t sends = 16;
  std::uint32_t receives = 16;
  std::uint32_t segments = 4;
  std::uint32_t inline_bytes = 64;
  int entries = 128;
  bool shared = false;  // receives
  ibv_qp_type type = IBV_QPT_RC;
  bool signals_all = false;
  unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  std::uint8_t timeout = 10;  // 4.2 ms
  std::uint8_t retries = 2;
  std::uint8_t rnr_retries = 2;
};

/// One end: a context with all that a queue pair needs, and 64 KiB of registered memory.
class End {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 16;
  static constexpr std::uint32_t kKey = 77;

  explicit End(const char* device, const Sizes& sizes = {})
      : sizes_(sizes), context(open(device)), memory(kBytes) {
    domain = ibv_alloc_pd(context);
    region = ibv_reg_mr(domain, memory.data(), kBytes, kAll);
    channel = ibv_create_comp_channel(context);
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
    queue = ibv_create_cq(context, sizes.entries, this, channel, 0);
    if (sizes.shared) {
      ibv_srq_init_attr wanted{nullptr, {sizes.receives, sizes.segments, 0}};
      shared = ibv_create_srq(domain, &wanted);
    }
    pair = make_pair();
  }
  ~End() {
    if (pair != nullptr) {
      EXPECT_EQ(ibv_destroy_qp(pair), 0);
    }
    if (address_handle != nullptr) {
      EXPECT_EQ(ibv_destroy_ah(address_handle), 0);
    }
    if (shared != nullptr) {
      EXPECT_EQ(ibv_destroy_srq(shared), 0);
    }
    EXPECT_EQ(ibv_destroy_cq(queue), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
    EXPECT_EQ(ibv_dereg_mr(region), 0);
    EXPECT_EQ(ibv_dealloc_pd(domain), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  [[nodiscard]] ibv_qp* make_pair() {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.srq = shared;
    wanted.cap = {sizes_.sends, sizes_.receives, sizes_.segments, sizes_.segments,
                  sizes_.inline_bytes};
    wanted.qp_type = sizes_.type;
    wanted.sq_sig_all = sizes_.signals_all ? 1 : 0;
    return ibv_create_qp(domain, &wanted);
  }

  [[nodiscard]] int to_init() const {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = sizes_.access;
    a.qkey = kKey;
    return ibv_modify_qp(pair, &a,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                             (sizes_.type == IBV_QPT_RC ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY));
  }
  [[nodiscard]] static ibv_ah_attr route_to(ibv_context* there) {
    ibv_ah_attr route{};
    ibv_gid_entry entry{};
    EXPECT_EQ(ibv_query_gid_ex(there, 1, 3, &entry, 0), 0);
    route.is_global = 1;
    route.port_num = 1;
    route.grh.dgid = entry.gid;
    route.grh.sgid_index = 3;
    return route;
  }
  [[nodiscard]] static ibv_qp_attr to_rtr(std::uint32_t number, const ibv_ah_attr& route) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_1024;
    a.dest_qp_num = number;
    a.rq_psn = kFirst;
    a.max_dest_rd_atomic = 4;
    a.min_rnr_timer = 1;
    a.ah_attr = route;
    return a;
  }
  static constexpr int kToRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  static constexpr int kToRts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  static constexpr std::uint32_t kFirst = 0xfffff0;  // so that numbers wrap round

  [[nodiscard]] int to_rts() const {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTS;
    a.sq_psn = kFirst;
    a.timeout = sizes_.timeout;
    a.retry_cnt = sizes_.retries;
    a.rnr_retry = sizes_.rnr_retries;
    a.max_rd_atomic = 4;
    return ibv_modify_qp(pair, &a,
                         sizes_.type == IBV_QPT_RC ? kToRts : IBV_QP_STATE | IBV_QP_SQ_PSN);
  }
  void connect(std::uint32_t number, const ibv_ah_attr& route) {
    ASSERT_EQ(to_init(), 0);
    ibv_qp_attr a = to_rtr(number, route);
    ASSERT_EQ(ibv_modify_qp(pair, &a, sizes_.type == IBV_QPT_RC ? kToRtr : IBV_QP_STATE), 0);
    ASSERT_EQ(to_rts(), 0);
    if (sizes_.type != IBV_QPT_UD) return;
    ibv_ah_attr copy = route;
    address_handle = ibv_create_ah(domain, &copy);
    ASSERT_NE(address_handle, nullptr);
    to = number;
  }
  void connect(End& other) { connect(other.pair->qp_num, route_to(other.context)); }
  [[nodiscard]] int change(ibv_qp_state state) const {
    ibv_qp_attr a{};
    a.qp_state = state;
    return ibv_modify_qp(pair, &a, IBV_QP_STATE);
  }

  [[nodiscard]] ibv_sge at(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<std::uint64_t>(memory.data() + offset),
            static_cast<std::uint32_t>(bytes), region->lkey};
  }
  /// A signalled request to the place of @p there; to be changed before it is posted.
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode code, ibv_sge* segments, int count,
                                    const End* there = nullptr, std::size_t offset = 0) const {
    ibv_send_wr r{};
    r.opcode = code;
    r.sg_list = segments;
    r.num_sge = count;
    r.send_flags = IBV_SEND_SIGNALED;
    r.imm_data = 0x12345678;
    if (there != nullptr) {
      const auto address = reinterpret_cast<std::uint64_t>(there->memory.data() + offset);
      if (code == IBV_WR_ATOMIC_CMP_AND_SWP || code == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        r.wr.atomic.remote_addr = address;
        r.wr.atomic.rkey = there->region->rkey;
      } else {
        r.wr.rdma.remote_addr = address;
        r.wr.rdma.rkey = there->region->rkey;
      }
    }
    if (address_handle != nullptr) {
      r.wr.ud.ah = address_handle;
      r.wr.ud.remote_qpn = to;
      r.wr.ud.remote_qkey = kKey;
    }
    return r;
  }
  [[nodiscard]] int post(ibv_send_wr& r) const {
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(pair, &r, &bad);
  }
  [[nodiscard]] int send(std::size_t offset, std::size_t bytes, std::uint64_t id = 1,
                         unsigned flags = IBV_SEND_SIGNALED) const {
    ibv_sge segment = at(offset, bytes);
    ibv_send_wr r = request(IBV_WR_SEND, &segment, 1);
    r.wr_id = id;
    r.send_flags = flags;
    return post(r);
  }
  [[nodiscard]] int receive(std::size_t offset, std::size_t bytes, std::uint64_t id = 2) const {
    ibv_sge segment = at(offset, bytes);
    ibv_recv_wr r{};
    r.wr_id = id;
    r.sg_list = &segment;
    r.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return shared != nullptr ? ibv_post_srq_recv(shared, &r, &bad) : ibv_post_recv(pair, &r, &bad);
  }

  /// The next completion; of status general error when none comes.
  [[nodiscard]] ibv_wc next() const {
    ibv_wc done{};
    done.status = IBV_WC_GENERAL_ERR;
    const auto end = std::chrono::steady_clock::now() + kLimit;
    while (ibv_poll_cq(queue, 1, &done) == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    return done;
  }
  [[nodiscard]] ibv_wc_status status() const { return next().status; }
  [[nodiscard]] bool is_empty() const {
    ibv_wc done;
    return ibv_poll_cq(queue, 1, &done) == 0;
  }
  /// The next event of the device; its type, -1 when none comes.
  [[nodiscard]] int event() const {
    pollfd ready{context->async_fd, POLLIN, 0};
    ibv_async_event happened{};
    if (poll(&ready, 1, 20'000) != 1 || ibv_get_async_event(context, &happened) != 0) return -1;
    ibv_ack_async_event(&happened);
    return happened.event_type;
  }
  [[nodiscard]] bool no_event() const {
    ibv_async_event happened{};
    return ibv_get_async_event(context, &happened) != 0;
  }
  void fill(std::size_t offset, std::size_t bytes, unsigned seed) {
    for (std::size_t i = 0; i < bytes; ++i)
      memory[offset + i] = static_cast<std::byte>(seed + i * 7 + (i >> 8));
  }
  [[nodiscard]] bool holds(std::size_t offset, std::size_t bytes, unsigned seed) const {
    for (std::size_t i = 0; i < bytes; ++i)
      if (memory[offset + i] != static_cast<std::byte>(seed + i * 7 + (i >> 8))) return false;
    return true;
  }

 private:
  Sizes sizes_;

 public:
  ibv_context* context;
  std::vector<std::byte> memory;
  ibv_pd* domain = nullptr;
  ibv_mr* region = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* queue = nullptr;
  ibv_srq* shared = nullptr;
  ibv_qp* pair = nullptr;
  ibv_ah* address_handle = nullptr;
  std::uint32_t to = 0;
};

/// A connected pair of ends.
struct Both {
  explicit Both(const Sizes& sizes = {}) : a("soft0", sizes), b("soft1", sizes) {
    a.connect(b);
    b.connect(a);
  }
  /// COMM_EST comes with the first packet.
  void expect_established() { EXPECT_TRUE(b.no_event()) << "both are ready to send already"; }
  End a;
  End b;
};

}  // namespace soft_verbs::test
