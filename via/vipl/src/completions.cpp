/// Completions: looks at work queues and completion queues, and waits.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "via/vipl/src/fast.hpp"
#include "via/vipl/src/wait.hpp"

namespace viaduct::via::vipl {
namespace {

/// progress() now and then, for calls that look at a queue in vain.
void look_in_vain(Library& lib) noexcept {
  if (lib.is_progress_due()) lib.port->progress();
  ++lib.idle_polls;
}

/// One look at a work queue.
VIP_RETURN done(Vi& vi, WorkQueue& queue, VIP_DESCRIPTOR** out) noexcept {
  if (Descriptor* const d = take_oldest(queue)) {
    *out = program_s(d);
    return hand_back(vi, *d);
  }
  *out = nullptr;
  if (vi.phase == Phase::connected) (void)is_over(vi);
  look_in_vain(library());
  return queue.queued() == 0 ? VIP_DESCRIPTOR_ERROR : VIP_NOT_DONE;
}

[[gnu::noinline]] VIP_RETURN done_slowly(VIP_VI_HANDLE handle, WorkQueue Vi::*queue,
                                         VIP_DESCRIPTOR** out) noexcept {
  const Guard guard;
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || out == nullptr) [[unlikely]]
    return VIP_INVALID_PARAMETER;
  return done(*vi, vi->*queue, out);
}

[[gnu::noinline]] VIP_RETURN done(VIP_VI_HANDLE handle, WorkQueue Vi::*queue,
                                  VIP_DESCRIPTOR** out) noexcept {
  return go([&](Library& lib) { return done_shortly(lib, handle, queue, out); },
            [&] { return done_slowly(handle, queue, out); });
}

/// @p quick: a look that never waits. @p look: a look that may sleep in the provider for the time
/// that it is given, while no other thread uses the lock.
template <class Quick, class Look>
VIP_RETURN wait(VIP_ULONG timeout, Quick quick, Look look) noexcept {
  constexpr int kQuickLooks = 64;  // before the clock is read at all
  for (int i = timeout == 0 ? kQuickLooks - 1 : 0; i < kQuickLooks; ++i)
    if (const VIP_RETURN answer = quick(); answer != VIP_NOT_DONE) return answer;
  const std::uint64_t deadline = deadline_of(timeout);
  WaitPolicy policy;
  {
    const Guard guard;
    if (guard->port == nullptr) return VIP_INVALID_PARAMETER;
    policy = guard->port->job().wait_policy();
  }
  Naps naps;
  Backoff backoff(policy);
  for (;;) {
    const std::uint64_t now = monotonic_ns();
    if (now >= deadline) return VIP_TIMEOUT;
    bool may_sleep = false;
    {
      const Guard guard;
      may_sleep = !guard->lock.is_shared();
      const VIP_RETURN answer =
          look(may_sleep ? static_cast<std::int64_t>(std::min<std::uint64_t>(
                               deadline - now, static_cast<std::uint64_t>(kSliceNs)))
                         : 0);
      if (answer != VIP_NOT_DONE) return answer;
      guard->port->progress();
    }
    // Other threads call, too: this one looks, and sleeps without the lock.
    if (!may_sleep && backoff.next() == Backoff::Stage::block_now) naps.take(deadline);
  }
}

VIP_RETURN wait(VIP_VI_HANDLE handle, WorkQueue Vi::*queue_of, VIP_ULONG timeout,
                VIP_DESCRIPTOR** out) noexcept {
  const auto quick = [&] { return done(handle, queue_of, out); };
  return wait(timeout, quick, [&](std::int64_t sleep_ns) {
    Vi* const vi = find<Vi>(handle);
    if (vi == nullptr) return VIP_INVALID_PARAMETER;
    WorkQueue& queue = vi->*queue_of;
    if (sleep_ns > 0 && queue.done.empty() && queue.late.empty() && queue.queued() != 0) {
      Completion completion;
      if (queue.queue().wait(completion, sleep_ns) == Status::ok) {
        if (queue.cq == nullptr) {
          *out = program_s(completion.descriptor);
          --queue.held;
          return hand_back(*vi, *completion.descriptor);
        }
        keep_with_entry(queue, completion);
      }
    }
    return done(*vi, queue, out);
  });
}

[[gnu::noinline]] VIP_RETURN cq_done_slowly(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* of,
                                            VIP_BOOLEAN* receive) noexcept {
  const Guard guard;
  Cq* const cq = find<Cq>(handle);
  if (cq == nullptr || of == nullptr || receive == nullptr) return VIP_INVALID_PARAMETER;
  Entry entry{};
  if (!take(*cq, entry)) {
    look_in_vain(library());
    return VIP_NOT_DONE;
  }
  *of = entry.vi->handle;
  *receive = entry.receive ? VIP_TRUE : VIP_FALSE;
  return VIP_SUCCESS;
}

[[gnu::noinline]] VIP_RETURN cq_done(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* of,
                                     VIP_BOOLEAN* receive) noexcept {
  return go([&](Library& lib) { return cq_done_shortly(lib, handle, of, receive); },
            [&] { return cq_done_slowly(handle, of, receive); });
}

/// A send that has completed; null: there may be none. It takes no look at the VI's channel, so
/// that the call saves no register, as transfer.cpp says.
[[gnu::always_inline]] inline Descriptor* take_sent(WorkQueue& queue) noexcept {
  if (!queue.done.empty()) return queue.done.take();
  Completion completion;
  if (queue.plain == nullptr || !queue.plain->take_pushed(completion)) return nullptr;
  return completion.descriptor;
}

}  // namespace

bool take(Cq& cq, Entry& entry) noexcept {
  if (!cq.early.empty()) {
    entry = cq.early.take();
    return true;
  }
  Completion completion;
  if (cq.queue->poll(completion) != Status::ok) return false;
  Vi& vi = vi_of(completion);
  keep(vi, completion);
  entry = {&vi, completion.queue == Queue::receive};
  return true;
}

void disconnect_keeping_receives(Vi& vi) {
  WorkQueue& queue = vi.receive;
  Completion completion;
  while (queue.queue().poll(completion) == Status::ok) keep_with_entry(queue, completion);
  vi.vi->disconnect();
  std::vector<Descriptor*> again;
  while (queue.queue().poll(completion) == Status::ok) {
    if (&vi_of(completion) == &vi && completion.queue == Queue::receive &&
        (completion.descriptor->control.status & descriptor_status::flushed) != 0)
      again.push_back(completion.descriptor);
    else
      keep_with_entry(queue, completion);
  }
  for (Descriptor* d : again) {
    set_length(*d);
    (void)vi.vi->post_receive(*d);
  }
}

extern "C" {

VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return go(
      [&](Library&) {
        Vi* const vi = find<Vi>(ViHandle);
        if (vi == nullptr || vi->ready == nullptr || DescriptorPtr == nullptr) [[unlikely]]
          return kLongWay;
        Descriptor* const d = take_sent(vi->send);
        if (d == nullptr) [[unlikely]]
          return kLongWay;
        *DescriptorPtr = program_s(d);
        return d->failed() ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
      },
      [&] { return done(ViHandle, &Vi::send, DescriptorPtr); });
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return done(ViHandle, &Vi::receive, DescriptorPtr);
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout, VIP_DESCRIPTOR** DescriptorPtr) {
  return wait(ViHandle, &Vi::send, Timeout, DescriptorPtr);
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout, VIP_DESCRIPTOR** DescriptorPtr) {
  return wait(ViHandle, &Vi::receive, Timeout, DescriptorPtr);
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
  return cq_done(CQHandle, ViHandle, RecvQueue);
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle,
                     VIP_BOOLEAN* RecvQueue) {
  const auto quick = [&] { return cq_done(CQHandle, ViHandle, RecvQueue); };
  return wait(Timeout, quick, [&](std::int64_t sleep_ns) {
    Cq* const cq = find<Cq>(CQHandle);
    if (cq == nullptr) return VIP_INVALID_PARAMETER;
    Entry entry{};
    Completion completion;
    if (sleep_ns > 0 && cq->early.empty() && cq->queue->wait(completion, sleep_ns) == Status::ok) {
      Vi& vi = vi_of(completion);
      keep(vi, completion);
      entry = {&vi, completion.queue == Queue::receive};
    } else if (!take(*cq, entry)) {
      return VIP_NOT_DONE;
    }
    *ViHandle = entry.vi->handle;
    *RecvQueue = entry.receive ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
  });
}

}  // extern "C"

}  // namespace viaduct::via::vipl
