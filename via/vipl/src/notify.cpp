#include "via/vipl/src/notify.hpp"

#include "via/vipl/src/queues.hpp"
#include "via/vipl/src/wait.hpp"

namespace viaduct::via::vipl {

NotifyThread::NotifyThread() : thread_([this] { run(); }) {}

void NotifyThread::stop() noexcept {
  stopped_.store(true);
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else if (thread_.joinable())
    thread_.join();
}

void NotifyThread::run() noexcept {
  Naps naps;
  while (!stopped_.load()) {
    if (call_one())
      naps.reset();
    else
      naps.take(~std::uint64_t{0});
  }
}

bool NotifyThread::call_one() noexcept {
  Notice<DescriptorHandler> of_queue{};
  Notice<EntryHandler> of_cq{};
  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  Descriptor* descriptor = nullptr;
  Entry entry{};
  {
    const Guard guard;
    if (guard->port == nullptr) return false;
    guard->port->progress();
    for (const auto& v : guard->port->vis) {
      for (WorkQueue* queue : {&v->send, &v->receive}) {
        if (queue->notices.empty() || descriptor != nullptr) continue;
        descriptor = take_oldest(*queue);
        if (descriptor == nullptr) continue;
        (void)hand_back(*v, *descriptor);
        of_queue = queue->notices.front();
        queue->notices.pop_front();
        nic = v->nic->handle;
        vi = v->handle;
      }
    }
    if (descriptor == nullptr) {
      for (const auto& cq : guard->port->queues) {
        if (cq->notices.empty() || !take(*cq, entry)) continue;
        of_cq = cq->notices.front();
        cq->notices.pop_front();
        nic = cq->nic->handle;
        vi = entry.vi->handle;
        break;
      }
    }
  }
  if (descriptor != nullptr)
    of_queue.handler(of_queue.context, nic, vi, reinterpret_cast<VIP_DESCRIPTOR*>(descriptor));
  else if (of_cq.handler != nullptr)
    of_cq.handler(of_cq.context, nic, vi, entry.receive ? VIP_TRUE : VIP_FALSE);
  return descriptor != nullptr || of_cq.handler != nullptr;
}

namespace {

/// Starts the thread when there is none.
void need_thread() {
  Library& lib = library();
  if (lib.notify == nullptr && !lib.ended) lib.notify = std::make_unique<NotifyThread>();
}

VIP_RETURN notify(VIP_VI_HANDLE handle, WorkQueue Vi::*queue, VIP_PVOID context,
                  DescriptorHandler handler) noexcept {
  return call([&](Port&) {
    Vi* const vi = find<Vi>(handle);
    if (vi == nullptr || handler == nullptr) return VIP_INVALID_PARAMETER;
    need_thread();
    (vi->*queue).notices.push_back({handler, context});
    return VIP_SUCCESS;
  });
}

}  // namespace
extern "C" {

VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, DescriptorHandler Handler) {
  return notify(ViHandle, &Vi::send, Context, Handler);
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, DescriptorHandler Handler) {
  return notify(ViHandle, &Vi::receive, Context, Handler);
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context, EntryHandler Handler) {
  return call([&](Port&) {
    Cq* const cq = find<Cq>(CQHandle);
    if (cq == nullptr || Handler == nullptr) return VIP_INVALID_PARAMETER;
    need_thread();
    cq->notices.push_back({Handler, Context});
    return VIP_SUCCESS;
  });
}

}  // extern "C"

}  // namespace viaduct::via::vipl
