#include "tests/soft-verbs/transitions.hpp"

#include <array>

namespace soft_verbs {

namespace {

struct Transition {
  ibv_qp_type type;
  ibv_qp_state from;
  ibv_qp_state to;
  int needed;
  int allowed;
};

constexpr int kToReady = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kToSend =
    IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kInitReliable = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kInitDatagram = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
constexpr int kLater = IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER;

// Without the send queue's drained state, and without alternate paths.
constexpr std::array<Transition, 11> kTransitions{{
    {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInitReliable, 0},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, kInitReliable},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, kToReady, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kToSend, kLater},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, kLater},
    {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, kInitDatagram, 0},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, kInitDatagram},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_QKEY},
}};

}  // namespace

bool is_allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) noexcept {
  constexpr int kAlways = IBV_QP_STATE | IBV_QP_CUR_STATE;
  const int given = mask & ~kAlways;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return given == 0;
  for (const Transition& t : kTransitions)
    if (t.type == type && t.from == from && t.to == to)
      return (given & t.needed) == t.needed && (given & ~(t.needed | t.allowed)) == 0;
  return false;
}

}  // namespace soft_verbs
