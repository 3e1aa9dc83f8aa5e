#pragma once
/// @file
/// The functions behind the inline verbs, and the limits of every device.

#include <infiniband/verbs.h>

#include <cstdint>

namespace soft_verbs {

constexpr std::uint32_t kMostRequests = 16384;  // of a queue
constexpr std::uint32_t kMostSegments = 32;     // of a request
constexpr std::uint32_t kMostInline = 512;      // bytes
constexpr std::uint32_t kMostReads = 16;        // reads and atomics under way in one direction
constexpr int kMostEntries = 1 << 20;           // of a completion queue

int poll_queue(ibv_cq* queue, int most, ibv_wc* out);
int arm_queue(ibv_cq* queue, int solicited_only);
int post_send(ibv_qp* pair, ibv_send_wr* request, ibv_send_wr** bad);
int post_receive(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr** bad);
int post_shared_receive(ibv_srq* queue, ibv_recv_wr* request, ibv_recv_wr** bad);

}  // namespace soft_verbs
