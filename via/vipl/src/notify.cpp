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

/// What a handler is called with.
struct NotifyThread::Due {
  Notice<DescriptorHandler> of_queue{};
  Notice<EntryHandler> of_cq{};
  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  Descriptor* descriptor = nullptr;
  Entry entry{};

  bool take_from(Vi& v, WorkQueue& queue) noexcept {
    if (queue.notices.empty()) return false;
    descriptor = take_oldest(queue);
    if (descriptor == nullptr) return false;
    (void)hand_back(v, *descriptor);
    of_queue = queue.notices.front();
    queue.notices.pop_front();
    nic = v.nic->handle;
    vi = v.handle;
    return true;
  }

  bool take_from(Cq& cq) noexcept {
    if (cq.notices.empty() || !take(cq, entry)) return false;
    of_cq = cq.notices.front();
    cq.notices.pop_front();
    nic = cq.nic->handle;
    vi = entry.vi->handle;
    return true;
  }
};

/// The look begins behind the queue that was served last: a handler that asks again at once leaves
/// the others their turn.
bool NotifyThread::find_due(Port& port, Due& due) noexcept {
  const std::size_t work_queues = 2 * port.vis.size();
  const std::size_t all = work_queues + port.queues.size();
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t at = (next_ + i) % all;
    bool found = false;
    if (at < work_queues) {
      Vi& vi = *port.vis[at / 2];
      found = due.take_from(vi, at % 2 == 0 ? vi.send : vi.receive);
    } else {
      found = due.take_from(*port.queues[at - work_queues]);
    }
    if (!found) continue;
    next_ = at + 1;
    return true;
  }
  return false;
}

bool NotifyThread::call_one() noexcept {
  Due due;
  {
    const Guard guard;
    if (guard->port == nullptr) return false;
    guard->port->progress();
    if (!find_due(*guard->port, due)) return false;
  }
  if (due.descriptor != nullptr)
    due.of_queue.handler(due.of_queue.context, due.nic, due.vi,
                         reinterpret_cast<VIP_DESCRIPTOR*>(due.descriptor));
  else
    due.of_cq.handler(due.of_cq.context, due.nic, due.vi, due.entry.receive ? VIP_TRUE : VIP_FALSE);
  return true;
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
