/// Queue pairs: their states, and what is posted to them.

#include "tests/soft-verbs/queue_pair.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "tests/soft-verbs/transitions.hpp"

namespace soft_verbs {

namespace {

constexpr int kAccess = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

bool operation_of(ibv_wr_opcode code, SendRequest& out) {
  out.immediate = code == IBV_WR_SEND_WITH_IMM || code == IBV_WR_RDMA_WRITE_WITH_IMM;
  switch (code) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      out.operation = Operation::send;
      return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      out.operation = Operation::write;
      return true;
    case IBV_WR_RDMA_READ:
      out.operation = Operation::read;
      return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      out.operation = Operation::compare_swap;
      return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      out.operation = Operation::fetch_add;
      return true;
    default:
      return false;
  }
}

ibv_wc_opcode completed_as(Operation operation) noexcept {
  constexpr std::array<ibv_wc_opcode, 5> kCodes{IBV_WC_SEND, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ,
                                                IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD};
  return kCodes[static_cast<std::size_t>(operation)];
}

SharedQueue* shared_of(const ibv_qp& pair) { return static_cast<SharedQueue*>(pair.srq); }

}  // namespace

QueuePair::QueuePair(ibv_pd* domain, const ibv_qp_init_attr& wanted, std::uint32_t number)
    : ibv_qp{}, index(number & kMaxPairs), signals_all(wanted.sq_sig_all != 0), sizes(wanted.cap) {
  context = domain->context;
  qp_context = wanted.qp_context;
  pd = domain;
  send_cq = wanted.send_cq;
  recv_cq = wanted.recv_cq;
  srq = wanted.srq;
  handle = qp_num = number;
  state = IBV_QPS_RESET;
  qp_type = wanted.qp_type;
  path_bytes_ = kMaxPayload;
}

bool QueuePair::takes_packets() const { return state == IBV_QPS_RTR || state == IBV_QPS_RTS; }

/// Whether the device has any that it has not completed, or whose completion is late.
bool QueuePair::holds_requests() const {
  const auto is_late = [this](const ibv_cq* shown) {
    const auto& queue = *static_cast<const CompletionQueue*>(shown);
    const auto from = queue.entries.begin() + queue.visible.load(std::memory_order_relaxed);
    return std::any_of(from, queue.entries.end(),
                       [this](const Entry& entry) { return entry.pair == this; });
  };
  return !sends_.empty() || !receives_.empty() || current_.has_value() || is_late(send_cq) ||
         is_late(recv_cq);
}

// States.

int QueuePair::modify(const ibv_qp_attr& attributes, int mask) {
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes.qp_state : state;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attributes.cur_qp_state != state) return EINVAL;
  if (!is_allowed(qp_type, state, to, mask)) return EINVAL;
  if (to == IBV_QPS_RESET && holds_requests()) return EBUSY;
  if (const int error = check_values(attributes, mask); error != 0) return error;
  if ((mask & IBV_QP_AV) != 0)
    if (const int error = check_route(attributes); error != 0) return error;
  take_values(attributes, mask);
  if (to == IBV_QPS_ERR) {
    fail();
    return 0;
  }
  if (to == IBV_QPS_RESET) reset();
  state = to;
  advance();
  return 0;
}

int QueuePair::check_values(const ibv_qp_attr& a, int mask) const {
  const auto given = [mask](int bit) { return (mask & bit) != 0; };
  const bool good =
      (!given(IBV_QP_PORT) ||
       (a.port_num != 0 && a.port_num <= owner().device->description.ports)) &&
      (!given(IBV_QP_PKEY_INDEX) || a.pkey_index == 0) &&
      (!given(IBV_QP_ACCESS_FLAGS) ||
       (a.qp_access_flags & ~static_cast<unsigned>(kAccess | IBV_ACCESS_LOCAL_WRITE)) == 0) &&
      (!given(IBV_QP_PATH_MTU) || (a.path_mtu >= IBV_MTU_256 && a.path_mtu <= IBV_MTU_4096)) &&
      (!given(IBV_QP_DEST_QPN) || a.dest_qp_num <= kNumberMask) &&
      (!given(IBV_QP_RQ_PSN) || a.rq_psn <= kNumberMask) &&
      (!given(IBV_QP_SQ_PSN) || a.sq_psn <= kNumberMask) &&
      (!given(IBV_QP_MIN_RNR_TIMER) || a.min_rnr_timer < 32) &&
      (!given(IBV_QP_TIMEOUT) || a.timeout < 32) && (!given(IBV_QP_RETRY_CNT) || a.retry_cnt < 8) &&
      (!given(IBV_QP_RNR_RETRY) || a.rnr_retry < 8) &&
      (!given(IBV_QP_MAX_QP_RD_ATOMIC) || a.max_rd_atomic <= kMostReads) &&
      (!given(IBV_QP_MAX_DEST_RD_ATOMIC) || a.max_dest_rd_atomic <= kMostReads);
  return good ? 0 : EINVAL;
}

int QueuePair::check_route(const ibv_qp_attr& attributes) {
  Place to;
  if (attributes.ah_attr.port_num != set_.port_num) return EINVAL;
  if (const int error = resolve(owner(), attributes.ah_attr, to); error != 0) return error;
  peer_ = to;
  return 0;
}

void QueuePair::take_values(const ibv_qp_attr& a, int mask) {
  const auto given = [mask](int bit) { return (mask & bit) != 0; };
  if (given(IBV_QP_PORT)) set_.port_num = a.port_num;
  if (given(IBV_QP_ACCESS_FLAGS)) set_.qp_access_flags = a.qp_access_flags;
  if (given(IBV_QP_QKEY)) set_.qkey = a.qkey;
  if (given(IBV_QP_AV)) set_.ah_attr = a.ah_attr;
  if (given(IBV_QP_DEST_QPN)) set_.dest_qp_num = a.dest_qp_num;
  if (given(IBV_QP_MIN_RNR_TIMER)) set_.min_rnr_timer = a.min_rnr_timer;
  if (given(IBV_QP_TIMEOUT)) set_.timeout = a.timeout;
  if (given(IBV_QP_MAX_DEST_RD_ATOMIC)) set_.max_dest_rd_atomic = a.max_dest_rd_atomic;
  if (given(IBV_QP_MAX_QP_RD_ATOMIC)) set_.max_rd_atomic = a.max_rd_atomic;
  if (given(IBV_QP_PATH_MTU)) {
    set_.path_mtu = a.path_mtu;
    path_bytes_ = std::size_t{128} << a.path_mtu;
  }
  if (given(IBV_QP_RQ_PSN)) set_.rq_psn = expected_ = a.rq_psn;
  if (given(IBV_QP_SQ_PSN)) set_.sq_psn = next_ = oldest_ = a.sq_psn;
  if (given(IBV_QP_RETRY_CNT)) set_.retry_cnt = a.retry_cnt;
  if (given(IBV_QP_RNR_RETRY)) set_.rnr_retry = a.rnr_retry;
  retries_left_ = set_.retry_cnt;
  rnr_left_ = set_.rnr_retry;
}

void QueuePair::query(ibv_qp_attr& attributes, ibv_qp_init_attr& initial) const {
  attributes = set_;
  attributes.qp_state = attributes.cur_qp_state = state;
  attributes.cap = sizes;
  initial = {};
  initial.qp_context = qp_context;
  initial.send_cq = send_cq;
  initial.recv_cq = recv_cq;
  initial.srq = srq;
  initial.cap = sizes;
  initial.qp_type = qp_type;
  initial.sq_sig_all = signals_all ? 1 : 0;
}

void QueuePair::reset() {
  leave_queues();
  posted_ = reaped_ = 0;
  set_ = {};
  peer_ = {};
  path_bytes_ = kMaxPayload;
  next_ = oldest_ = expected_ = 0;
  refused_ = owes_ = established_ = false;
  atomics_.clear();
}

void QueuePair::leave_queues() {
  forget(*static_cast<CompletionQueue*>(send_cq), *this);
  forget(*static_cast<CompletionQueue*>(recv_cq), *this);
  if (current_) receive_reaped();
  current_.reset();
}

void QueuePair::fail(int event) {
  if (state == IBV_QPS_ERR || state == IBV_QPS_RESET) {
    if (state == IBV_QPS_RESET) state = IBV_QPS_ERR;
    return;
  }
  state = IBV_QPS_ERR;
  ibv_async_event happened{};
  happened.element.qp = this;
  if (event >= 0) {
    happened.event_type = static_cast<ibv_event_type>(event);
    tell(owner(), happened);
  }
  flush();
  if (srq == nullptr) return;
  happened.event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
  tell(owner(), happened);
}

void QueuePair::flush() {
  flush_sends();
  ibv_wc completion{};
  completion.status = IBV_WC_WR_FLUSH_ERR;
  if (current_) finish_receive(completion, false);
  while (!receives_.empty()) {
    current_ = std::move(receives_.front());
    receives_.pop_front();
    finish_receive(completion, false);
  }
}

void QueuePair::flush_sends() {
  deadline_ns_ = rnr_until_ns_ = hold_until_ns_ = 0;
  awaits_pong_ = asked_again_ = false;
  reads_ = 0;
  while (!sends_.empty()) finish_send(IBV_WC_WR_FLUSH_ERR);
  cursor_ = 0;
}

// Requests.

int QueuePair::fill(SendRequest& out, const ibv_send_wr& request) const {
  const auto count = static_cast<std::uint32_t>(request.num_sge);
  const bool is_datagram = qp_type == IBV_QPT_UD;
  if (!operation_of(request.opcode, out) || count > sizes.max_send_sge ||
      (is_datagram && out.operation != Operation::send))
    return EINVAL;
  out.id = request.wr_id;
  out.signalled = signals_all || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  out.solicited = (request.send_flags & IBV_SEND_SOLICITED) != 0;
  out.fenced = (request.send_flags & IBV_SEND_FENCE) != 0;
  out.inlined = (request.send_flags & IBV_SEND_INLINE) != 0;
  if (out.immediate) out.value = request.imm_data;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i) bytes += request.sg_list[i].length;
  const bool reads = out.operation > Operation::write;
  if (out.inlined && (reads || bytes > sizes.max_inline_data)) return EINVAL;
  out.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~0U));
  if (out.inlined) out.bytes.resize(bytes);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ibv_sge& segment = request.sg_list[i];
    if (out.inlined) {  // copied by the caller, so that sanitizers see it
      std::memcpy(out.bytes.data() + at, reinterpret_cast<const void*>(segment.addr),
                  segment.length);
      at += segment.length;
    } else if (segment.length != 0) {
      out.segments.push_back(segment);
    }
  }
  if (is_datagram) {
    const auto* const address_handle = static_cast<const AddressHandle*>(request.wr.ud.ah);
    if (address_handle == nullptr) return EINVAL;
    out.to = address_handle->to;
    out.to_pair = request.wr.ud.remote_qpn;
    const std::uint32_t key = request.wr.ud.remote_qkey;
    out.key = (key & 0x80000000U) != 0 ? set_.qkey : key;
  } else if (out.operation > Operation::read) {
    out.address = request.wr.atomic.remote_addr;
    out.key = request.wr.atomic.rkey;
    const bool adds = out.operation == Operation::fetch_add;
    out.operand = adds ? request.wr.atomic.compare_add : request.wr.atomic.swap;
    out.compare = request.wr.atomic.compare_add;
  } else if (out.operation != Operation::send) {
    out.address = request.wr.rdma.remote_addr;
    out.key = request.wr.rdma.rkey;
  }
  return 0;
}

int QueuePair::post(ibv_send_wr& request) {
  Context& device = owner();
  if (device.dead || device.forked) return EIO;
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR) return EINVAL;
  if (posted_ - reaped_ >= sizes.max_send_wr) return ENOMEM;
  SendRequest filled;
  if (const int error = fill(filled, request); error != 0) return error;
  filled.number = posted_++;
  sends_.push_back(std::move(filled));
  if (state != IBV_QPS_RTS) {
    flush_sends();
  } else if (hold_until_ns_ == 0 && strikes(device, kDelay)) {
    control().count(kDelayed);
    hold_until_ns_ = now_ns() + 1 + device.random() % (control().time_ns[kDelay] + 1);
    set_timer(device, hold_until_ns_);
  }
  return 0;
}

int QueuePair::post(const ibv_recv_wr& request) {
  if (owner().dead || owner().forked) return EIO;
  const auto count = static_cast<std::uint32_t>(request.num_sge);
  if (state == IBV_QPS_RESET || srq != nullptr || count > sizes.max_recv_sge) return EINVAL;
  if (receives_out_ >= sizes.max_recv_wr) return ENOMEM;
  ++receives_out_;
  receives_.push_back({request.wr_id, {request.sg_list, request.sg_list + count}});
  if (state == IBV_QPS_ERR) flush();
  return 0;
}

/// A completion that the program has polled gives back its place and those of all before it.
void QueuePair::sends_reaped(std::uint64_t number) { reaped_ = std::max(reaped_, number + 1); }

void QueuePair::receive_reaped() {
  if (SharedQueue* const shared = shared_of(*this); shared != nullptr)
    --shared->occupied;
  else
    --receives_out_;
}

void QueuePair::finish_send(ibv_wc_status status) {
  const SendRequest request = std::move(sends_.front());
  sends_.pop_front();
  if (cursor_ != 0) --cursor_;
  if (!request.signalled && status == IBV_WC_SUCCESS) return;
  Entry entry;
  entry.completion.wr_id = request.id;
  entry.completion.status = status;
  entry.completion.opcode = completed_as(request.operation);
  entry.completion.byte_len = request.length;
  entry.completion.qp_num = qp_num;
  entry.pair = this;
  entry.is_send = true;
  entry.number = request.number;
  complete(*static_cast<CompletionQueue*>(send_cq), entry);
}

/// Completes current_.
void QueuePair::finish_receive(const ibv_wc& completion, bool solicited) {
  Entry entry;
  entry.completion = completion;
  entry.completion.wr_id = current_->id;
  entry.completion.qp_num = qp_num;
  entry.pair = this;
  entry.solicited = solicited;
  current_.reset();
  complete(*static_cast<CompletionQueue*>(recv_cq), entry);
}

/// Into current_.  False: none is posted.
bool QueuePair::take_receive() {
  SharedQueue* const shared = shared_of(*this);
  std::deque<ReceiveRequest>& posted = shared != nullptr ? shared->posted : receives_;
  if (posted.empty()) return false;
  current_ = std::move(posted.front());
  posted.pop_front();
  if (shared == nullptr || shared->limit == 0 || posted.size() >= shared->limit) return true;
  shared->limit = 0;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
  event.element.srq = shared;
  tell(owner(), event);
  return true;
}

}  // namespace soft_verbs
