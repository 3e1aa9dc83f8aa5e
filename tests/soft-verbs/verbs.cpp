/// libibverbs' functions for queue pairs and shared receive queues.

#include <cerrno>
#include <memory>

#include "tests/soft-verbs/operations.hpp"
#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

namespace {

bool is_good(const ibv_qp_init_attr& wanted) {
  const ibv_qp_cap& cap = wanted.cap;
  return (wanted.qp_type == IBV_QPT_RC || wanted.qp_type == IBV_QPT_UD) &&
         wanted.send_cq != nullptr && wanted.recv_cq != nullptr &&
         cap.max_send_wr <= kMostRequests && cap.max_recv_wr <= kMostRequests &&
         cap.max_send_sge <= kMostSegments && cap.max_recv_sge <= kMostSegments &&
         cap.max_inline_data <= kMostInline &&
         (wanted.srq == nullptr || wanted.qp_type == IBV_QPT_RC);
}

/// Numbers come again after all others, so that late packets find no other pair.
bool find_index(Context& context, std::uint32_t& out) {
  for (std::uint32_t i = 0; i <= kMaxPairs; ++i) {
    out = context.next_index++ & kMaxPairs;
    if (!context.pairs.contains(out)) return true;
  }
  return false;
}

void use(ibv_qp& pair, int by) {
  const auto change = [by](std::uint32_t& count) { count += static_cast<std::uint32_t>(by); };
  change(static_cast<CompletionQueue*>(pair.send_cq)->users);
  change(static_cast<CompletionQueue*>(pair.recv_cq)->users);
  if (pair.srq != nullptr) change(static_cast<SharedQueue*>(pair.srq)->users);
  change(static_cast<Domain*>(pair.pd)->uses);
  change(context_of(pair.context).objects);
}

}  // namespace

int post_send(ibv_qp* shown, ibv_send_wr* request, ibv_send_wr** bad) {
  auto& pair = *static_cast<QueuePair*>(shown);
  const std::lock_guard lock(context_of(shown->context).mutex);
  int error = 0;
  for (; request != nullptr && error == 0; request = request->next) {
    error = pair.post(*request);
    if (error != 0) *bad = request;
  }
  pair.advance();
  return error;
}

int post_receive(ibv_qp* shown, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& pair = *static_cast<QueuePair*>(shown);
  const std::lock_guard lock(context_of(shown->context).mutex);
  for (; request != nullptr; request = request->next) {
    const int error = pair.post(*request);
    if (error == 0) continue;
    *bad = request;
    return error;
  }
  return 0;
}

int post_shared_receive(ibv_srq* shown, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& queue = *static_cast<SharedQueue*>(shown);
  Context& context = context_of(shown->context);
  const std::lock_guard lock(context.mutex);
  for (; request != nullptr; request = request->next) {
    const auto count = static_cast<std::uint32_t>(request->num_sge);
    int error = 0;
    if (context.dead || context.forked)
      error = EIO;
    else if (count > queue.most_segments)
      error = EINVAL;
    else if (queue.occupied >= queue.most)
      error = ENOMEM;
    if (error != 0) {
      *bad = request;
      return error;
    }
    ++queue.occupied;
    queue.posted.push_back({request->wr_id, {request->sg_list, request->sg_list + count}});
  }
  return 0;
}

}  // namespace soft_verbs

using namespace soft_verbs;

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  Context& context = context_of(domain->context);
  if (is_refused()) return nullptr;
  const std::lock_guard lock(context.mutex);
  std::uint32_t index = 0;
  if (context.dead || !is_good(*wanted) || !find_index(context, index)) {
    errno = context.dead ? EIO : is_good(*wanted) ? ENOMEM : EINVAL;
    return nullptr;
  }
  if (wanted->srq != nullptr) wanted->cap.max_recv_wr = wanted->cap.max_recv_sge = 0;
  auto pair = std::make_unique<QueuePair>(domain, *wanted, context.slot << kIndexBits | index);
  use(*pair, 1);
  context.pairs.emplace(index, pair.get());
  return pair.release();
}

int ibv_modify_qp(ibv_qp* shown, ibv_qp_attr* attributes, int mask) {
  Context& context = context_of(shown->context);
  if (is_refused()) return errno;
  const std::lock_guard lock(context.mutex);
  if (context.dead || context.forked) return EIO;
  return static_cast<QueuePair*>(shown)->modify(*attributes, mask);
}

int ibv_query_qp(ibv_qp* shown, ibv_qp_attr* attributes, int, ibv_qp_init_attr* initial) {
  const std::lock_guard lock(context_of(shown->context).mutex);
  static_cast<QueuePair*>(shown)->query(*attributes, *initial);
  return 0;
}

/// Its completions that have not been polled are dropped.
int ibv_destroy_qp(ibv_qp* shown) {
  Context& context = context_of(shown->context);
  const std::unique_ptr<QueuePair> pair(static_cast<QueuePair*>(shown));
  std::unique_lock lock(context.mutex);
  context.pairs.erase(pair->index);
  std::erase(context.owes, pair.get());
  pair->leave_queues();
  settle_events(context, lock, shown);
  use(*pair, -1);
  return 0;
}

ibv_srq* ibv_create_srq(ibv_pd* domain, ibv_srq_init_attr* wanted) {
  Context& context = context_of(domain->context);
  const ibv_srq_attr& attr = wanted->attr;
  if (is_refused()) return nullptr;
  if (attr.max_wr == 0 || attr.max_wr > kMostRequests || attr.max_sge > kMostSegments) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const queue = new SharedQueue{};
  queue->context = domain->context;
  queue->srq_context = wanted->srq_context;
  queue->pd = domain;
  queue->most = attr.max_wr;
  queue->most_segments = attr.max_sge;
  const std::lock_guard lock(context.mutex);
  ++context.objects;
  ++control().objects;
  ++static_cast<Domain*>(domain)->uses;
  return queue;
}

int ibv_modify_srq(ibv_srq* shown, ibv_srq_attr* attributes, int mask) {
  auto& queue = *static_cast<SharedQueue*>(shown);
  if (is_refused()) return errno;
  const std::lock_guard lock(context_of(shown->context).mutex);
  if (mask != IBV_SRQ_LIMIT || attributes->srq_limit > queue.most) return EINVAL;
  queue.limit = attributes->srq_limit;
  return 0;
}

int ibv_query_srq(ibv_srq* shown, ibv_srq_attr* attributes) {
  const auto& queue = *static_cast<SharedQueue*>(shown);
  const std::lock_guard lock(context_of(shown->context).mutex);
  *attributes = {queue.most, queue.most_segments, queue.limit};
  return 0;
}

int ibv_destroy_srq(ibv_srq* shown) {
  auto* const queue = static_cast<SharedQueue*>(shown);
  Context& context = context_of(shown->context);
  std::unique_lock lock(context.mutex);
  if (queue->users != 0) return EBUSY;
  settle_events(context, lock, shown);
  --context.objects;
  --control().objects;
  --static_cast<Domain*>(queue->pd)->uses;
  delete queue;
  return 0;
}

}  // extern "C"
