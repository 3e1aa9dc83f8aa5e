#include "via/verbs/src/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

#include "runtime/errors/codes.hpp"
#include "via/verbs/src/errors.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {

constexpr std::uint8_t kMostReads = 16;  // RDMA reads and atomics under way in each direction

std::uint8_t reads(int limit) noexcept {
  return static_cast<std::uint8_t>(std::clamp(limit, 1, static_cast<int>(kMostReads)));
}

[[noreturn]] void throw_transition(const Device& device, int error, const char* state) {
  throw Error(errors::rdma_device, error,
              std::string("RDMA device ") + device.name() +
                  " does not bring a queue pair into state " + state +
                  ": is the port up, and is the peer's address reachable from it "
                  "(VIADUCT_VERBS_DEVICE)?");
}

}  // namespace

QueuePair::QueuePair(Device& device, ibv_pd* domain, ibv_cq* send_queue, ibv_cq* receive_queue,
                     const Size& size, ibv_srq* shared_receives)
    : limit_(size.sends), depth_(size.sends), device_(device) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = send_queue;
  wanted.recv_cq = receive_queue;
  wanted.srq = shared_receives;
  wanted.cap.max_send_wr = size.sends;
  wanted.cap.max_recv_wr = size.receives;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = size.segments;
  wanted.cap.max_inline_data = size.inline_bytes;
  wanted.qp_type = IBV_QPT_RC;
  pair_.reset(library().create_qp(domain, &wanted));
  if (pair_ == nullptr)
    throw_refused(errno, "RDMA device " + device.name() + " makes no queue pair of " +
                             std::to_string(size.sends) + " sends and " +
                             std::to_string(size.receives) + " receives (of at most " +
                             std::to_string(device.limits().max_qp) + " pairs)");
  inline_bytes_ = std::min(size.inline_bytes, wanted.cap.max_inline_data);
  thread_local std::minstd_rand random{std::random_device{}()};
  first_packet_ = static_cast<std::uint32_t>(random()) & 0xffffff;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device.port();
  attributes.qp_access_flags =
      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  const int error =
      library().modify_qp(pair_.get(), &attributes,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) throw_transition(device, error, "INIT");
}

void QueuePair::connect(const Address& peer, const QueuePairName& theirs) {
  Address own;
  device_.fill(own);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(own.mtu, peer.mtu));
  attributes.dest_qp_num = theirs.number;
  attributes.rq_psn = theirs.first_packet;
  attributes.max_dest_rd_atomic = reads(device_.limits().max_qp_rd_atom);
  attributes.min_rnr_timer = 12;  // 0.64 ms
  attributes.ah_attr = device_.route_to(peer);
  int error =
      library().modify_qp(pair_.get(), &attributes,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) throw_transition(device_, error, "RTR");
  const Settings& settings = device_.settings();
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = static_cast<std::uint8_t>(settings.timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(settings.retries);
  attributes.rnr_retry = static_cast<std::uint8_t>(settings.rnr_retries);
  attributes.max_rd_atomic = reads(device_.limits().max_qp_init_rd_atom);
  error = library().modify_qp(pair_.get(), &attributes,
                              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error != 0) throw_transition(device_, error, "RTS");
}

void QueuePair::fail() noexcept {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  (void)library().modify_qp(pair_.get(), &attributes, IBV_QP_STATE);
}

void QueuePair::stop_overrun(std::uint32_t count) const noexcept {
  violate_contract(errors::rdma_device,
                   "send queue of queue pair " + std::to_string(pair_->qp_num) +
                       " of RDMA device " + device_.name() + ": " + std::to_string(count) +
                       " requests posted beside " + std::to_string(posted_ - reaped_) +
                       " that have not completed, of " + std::to_string(depth_) +
                       ": an account of it is wrong");
}

void QueuePair::stop_unknown(std::uint64_t number) const noexcept {
  violate_contract(errors::rdma_device, "send queue of queue pair " +
                                            std::to_string(pair_->qp_num) + " of RDMA device " +
                                            device_.name() + ": completion of request " +
                                            std::to_string(number) + ", and only " +
                                            std::to_string(posted_) + " were posted");
}

}  // namespace viaduct::via::verbs
