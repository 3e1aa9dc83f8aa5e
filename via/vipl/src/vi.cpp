/// VIs and completion queues: made, asked, changed, destroyed.

#include <algorithm>

#include "via/vipl/src/queues.hpp"

namespace viaduct::via::vipl {
namespace {

/// Whether a VI can have these attributes here, and its tag.
VIP_RETURN check(Port& port, const Nic& nic, const VIP_VI_ATTRIBUTES& a, Ptag*& tag) {
  const NicAttributes& offered = port.nic().attributes();
  const bool has_level =
      (a.ReliabilityLevel == VIP_SERVICE_UNRELIABLE && offered.unreliable) ||
      (a.ReliabilityLevel == VIP_SERVICE_RELIABLE_DELIVERY && offered.reliable_delivery) ||
      (a.ReliabilityLevel == VIP_SERVICE_RELIABLE_RECEPTION && offered.reliable_reception);
  if (!has_level) return VIP_INVALID_RELIABILITY_LEVEL;
  if (a.MaxTransferSize > port.max_transfer()) return VIP_INVALID_MTU;
  if (a.QoS != nullptr) return VIP_INVALID_QOS;
  tag = find<Ptag>(a.Ptag);
  if (tag == nullptr || tag->nic != &nic) return VIP_INVALID_PTAG;
  if (a.EnableRdmaRead != VIP_FALSE && !offered.rdma_read) return VIP_INVALID_RDMAREAD;
  return VIP_SUCCESS;
}

/// The provider's VI for the attributes that @p vi has.  Throws Error.
void make(Port& port, Vi& vi) {
  ViAttributes attributes;
  attributes.tag = vi.tag->tag;
  attributes.reliability = static_cast<Reliability>(vi.attributes.ReliabilityLevel);
  attributes.send_depth = attributes.receive_depth = port.depth();
  attributes.send_queue = &vi.send.queue();
  attributes.receive_queue = &vi.receive.queue();
  attributes.context = static_cast<ViOwner*>(&vi);
  vi.vi = port.nic().create_vi(attributes);
  vi.plain = dynamic_cast<shm::Vi*>(vi.vi.get());
  vi.send.outstanding = vi.plain ? &vi.plain->outstanding(Queue::send) : &vi.send.held;
  vi.receive.outstanding = vi.plain ? &vi.plain->outstanding(Queue::receive) : &vi.receive.held;
}

/// Gives a work queue its completion queue, with room for all its descriptors: a completion queue
/// is never overrun, for any number of entries that the program has asked for.  Throws Error.
void attach(Port& port, WorkQueue& queue, Cq* cq) {
  const std::uint32_t depth = port.depth();
  if (cq == nullptr) {
    queue.own = port.nic().create_completion_queue(depth);
    queue.plain = dynamic_cast<shm::CompletionQueue*>(queue.own.get());
    return;
  }
  if (cq->queue->capacity() < cq->attached + depth) cq->queue->resize(cq->attached + depth);
  cq->attached += depth;
  ++cq->uses;
  queue.cq = cq;
}

void detach(Port& port, WorkQueue& queue, const Vi& vi) noexcept {
  if (queue.cq == nullptr) return;
  queue.cq->attached -= port.depth();
  --queue.cq->uses;
  queue.cq->early.remove([&](const Entry& entry) { return entry.vi == &vi; });
  queue.cq = nullptr;
}

bool is_idle(const Vi& vi) noexcept { return vi.phase == Phase::idle; }

VIP_VI_STATE state_of(const Vi& vi) noexcept {
  if (is_idle(vi)) return VIP_STATE_IDLE;
  if (vi.phase != Phase::connected) return VIP_STATE_CONNECT_PENDING;
  return vi.lost || vi.vi->state() != ViState::connected ? VIP_STATE_ERROR : VIP_STATE_CONNECTED;
}

void set_attributes(Port& port, Vi& vi, const VIP_VI_ATTRIBUTES& attributes, Ptag* tag) noexcept {
  vi.attributes = attributes;
  vi.tag = tag;
  vi.max_transfer =
      attributes.MaxTransferSize == 0 ? port.max_transfer() : attributes.MaxTransferSize;
}

}  // namespace

void destroy(Port& port, Vi& vi) noexcept {
  vi.vi.reset();
  detach(port, vi.send, vi);
  detach(port, vi.receive, vi);
  --vi.tag->uses;
  remove(port.vis, vi);
}

void destroy(Port& port, Cq& cq) noexcept { remove(port.queues, cq); }

extern "C" {

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs,
                       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
                       VIP_VI_HANDLE* ViHandle) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    Cq* const send = find<Cq>(SendCQHandle);
    Cq* const receive = find<Cq>(RecvCQHandle);
    if (nic == nullptr || ViAttribs == nullptr || ViHandle == nullptr ||
        (SendCQHandle != nullptr && (send == nullptr || send->nic != nic)) ||
        (RecvCQHandle != nullptr && (receive == nullptr || receive->nic != nic)))
      return VIP_INVALID_PARAMETER;
    Ptag* tag = nullptr;
    if (const VIP_RETURN wrong = check(port, *nic, *ViAttribs, tag); wrong != VIP_SUCCESS)
      return wrong;
    auto made = std::make_unique<Vi>();
    Vi& vi = *made;
    vi.user = &vi;
    vi.nic = nic;
    vi.depth = port.depth();
    set_attributes(port, vi, *ViAttribs, tag);
    port.vis.reserve(port.vis.size() + 1);
    try {
      attach(port, vi.send, send);
      attach(port, vi.receive, receive);
      make(port, vi);
      vi.handle = library().handles.add(HandleKind::vi, &vi);
    } catch (...) {
      vi.vi.reset();
      detach(port, vi.send, vi);
      detach(port, vi.receive, vi);
      throw;
    }
    ++tag->uses;
    *ViHandle = vi.handle;
    port.vis.push_back(std::move(made));
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle) {
  return call([&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr) return VIP_INVALID_PARAMETER;
    if (!is_idle(*vi)) return VIP_INVALID_STATE;
    destroy(port, *vi);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                      VIP_BOOLEAN* ViSendQEmpty, VIP_BOOLEAN* ViRecvQEmpty) {
  return call([&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || State == nullptr || ViAttribs == nullptr || ViSendQEmpty == nullptr ||
        ViRecvQEmpty == nullptr)
      return VIP_INVALID_PARAMETER;
    port.progress();
    if (vi->phase == Phase::connected) (void)is_over(*vi);
    *State = state_of(*vi);
    *ViAttribs = vi->attributes;
    *ViSendQEmpty = vi->send.queued() == 0 ? VIP_TRUE : VIP_FALSE;
    *ViRecvQEmpty = vi->receive.queued() == 0 ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs) {
  return call([&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || ViAttribs == nullptr) return VIP_INVALID_PARAMETER;
    if (!is_idle(*vi) || vi->send.queued() != 0 || vi->receive.queued() != 0)
      return VIP_INVALID_STATE;
    Ptag* tag = nullptr;
    if (const VIP_RETURN wrong = check(port, *vi->nic, *ViAttribs, tag); wrong != VIP_SUCCESS)
      return wrong;
    const VIP_VI_ATTRIBUTES before = vi->attributes;
    Ptag* const tag_before = vi->tag;
    vi->vi.reset();  // with its attributes, a provider's VI is another one
    vi->region_bytes = 0;
    set_attributes(port, *vi, *ViAttribs, tag);
    try {
      make(port, *vi);
    } catch (...) {
      set_attributes(port, *vi, before, tag_before);
      make(port, *vi);
      throw;
    }
    --tag_before->uses;
    ++tag->uses;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle) {
  return call([&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr || EntryCount == 0 || CQHandle == nullptr) return VIP_INVALID_PARAMETER;
    if (EntryCount > port.nic().attributes().max_completion_queue) return VIP_ERROR_RESOURCE;
    auto cq = std::make_unique<Cq>();
    cq->nic = nic;
    cq->entries = EntryCount;
    port.queues.reserve(port.queues.size() + 1);
    constexpr std::size_t kAtFirst = 16;  // attach() makes room for what may complete
    cq->queue = port.nic().create_completion_queue(kAtFirst);
    cq->plain = dynamic_cast<shm::CompletionQueue*>(cq->queue.get());
    cq->handle = library().handles.add(HandleKind::cq, cq.get());
    *CQHandle = cq->handle;
    port.queues.push_back(std::move(cq));
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle) {
  return call([&](Port& port) {
    Cq* const cq = find<Cq>(CQHandle);
    if (cq == nullptr) return VIP_INVALID_PARAMETER;
    if (cq->uses != 0) return VIP_ERROR_RESOURCE;
    destroy(port, *cq);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount) {
  return call([&](Port& port) {
    Cq* const cq = find<Cq>(CQHandle);
    if (cq == nullptr || EntryCount == 0) return VIP_INVALID_PARAMETER;
    if (EntryCount > port.nic().attributes().max_completion_queue) return VIP_ERROR_RESOURCE;
    cq->entries = EntryCount;  // the provider's queue has room for all that may complete anyway
    return VIP_SUCCESS;
  });
}

}  // extern "C"

}  // namespace viaduct::via::vipl
