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

// As in transfer.cpp, a short way is in two parts, so that it saves no register: a look, and what
// is to be done with the message that it has found. The second part releases the lock.

template <WorkQueue Vi::*Which, Holds What>
[[gnu::noinline, gnu::aligned(kCacheLineBytes)]] VIP_RETURN take_found(
    Vi& vi, Slot& slot, std::uint64_t header, VIP_DESCRIPTOR** out) noexcept {
  Descriptor* const d = shm::CompletionQueue::take({vi.ready, &slot, header});
  release<What>();
  if (d == nullptr) [[unlikely]]
    return done_slowly(vi.handle, Which, out);
  *out = program_s(d);
  return VIP_SUCCESS;
}

/// Hands over a descriptor that waits in the queue, or in the provider's ring; null: there is none.
[[nodiscard, gnu::always_inline]] inline Descriptor* take_waiting(WorkQueue& queue) noexcept {
  if (!queue.done.empty()) return queue.done.take();
  Completion completion;
  if (queue.plain == nullptr || !queue.plain->take_pushed(completion)) return nullptr;
  return completion.descriptor;
}

/// No descriptor waits in the queue. Releases the lock.
template <WorkQueue Vi::*Which, Holds What>
[[gnu::always_inline]] inline VIP_RETURN look_for_message(Vi& vi, VIP_DESCRIPTOR** out) noexcept {
  WorkQueue& queue = vi.*Which;
  if (shm::CompletionQueue* const own = queue.plain) [[likely]] {
    if (own->has_one_hot()) [[likely]]
      if (const auto found = own->find_of_one(); found.vi != nullptr)
        return take_found<Which, What>(vi, *found.slot, found.header, out);
    if (vi.ready->state() != ViState::idle && is_in_vain(library(), *own)) [[likely]] {
      const bool has_none = *queue.outstanding == 0;
      release<What>();
      *out = nullptr;
      return has_none ? VIP_DESCRIPTOR_ERROR : VIP_NOT_DONE;
    }
  }
  release<What>();
  return done_slowly(vi.handle, Which, out);
}

template <WorkQueue Vi::*Which, Holds What>
VIP_RETURN done_of_another(VIP_VI_HANDLE handle, VIP_DESCRIPTOR** out) noexcept;

template <WorkQueue Vi::*Which, Holds What>
[[gnu::always_inline]] inline VIP_RETURN done_shortly(VIP_VI_HANDLE handle,
                                                      VIP_DESCRIPTOR** out) noexcept {
  if (!is_named_last(handle)) [[unlikely]]
    return done_of_another<Which, What>(handle, out);
  if (out != nullptr) [[likely]] {
    Vi& vi = *named_last.vi;
    if (Descriptor* const d = take_waiting(vi.*Which)) {
      release<What>();
      *out = program_s(d);
      return d->failed() ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
    }
    // No message comes to a send queue.
    if constexpr (Which == &Vi::receive) return look_for_message<Which, What>(vi, out);
  }
  release<What>();
  return done_slowly(handle, Which, out);
}
template <WorkQueue Vi::*Which, Holds What>
[[gnu::noinline]] VIP_RETURN done_of_another(VIP_VI_HANDLE handle, VIP_DESCRIPTOR** out) noexcept {
  if (name(handle)) return done_shortly<Which, What>(handle, out);
  release<What>();
  return done_slowly(handle, Which, out);
}
template <WorkQueue Vi::*Which>
[[gnu::noinline]] VIP_RETURN done_among_threads(VIP_VI_HANDLE handle,
                                                VIP_DESCRIPTOR** out) noexcept {
  return library().lock.enter_alone() ? done_shortly<Which, Holds::lock>(handle, out)
                                      : done_slowly(handle, Which, out);
}
template <WorkQueue Vi::*Which>
[[gnu::always_inline]] inline VIP_RETURN done(VIP_VI_HANDLE handle, VIP_DESCRIPTOR** out) noexcept {
  return is_single_threaded() ? done_shortly<Which, Holds::nothing>(handle, out)
                              : done_among_threads<Which>(handle, out);
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

template <WorkQueue Vi::*Which>
VIP_RETURN wait(VIP_VI_HANDLE handle, VIP_ULONG timeout, VIP_DESCRIPTOR** out) noexcept {
  const auto quick = [&] { return done<Which>(handle, out); };
  return wait(timeout, quick, [&](std::int64_t sleep_ns) {
    Vi* const vi = find<Vi>(handle);
    if (vi == nullptr) return VIP_INVALID_PARAMETER;
    WorkQueue& queue = vi->*Which;
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

/// Leaves @p completion for its VI, and answers what the program is told of it.
template <Holds What>
[[gnu::always_inline]] inline VIP_RETURN announce(const Completion& completion, VIP_VI_HANDLE* of,
                                                  VIP_BOOLEAN* receive) noexcept {
  Vi& vi = vi_of(static_cast<shm::Vi*>(completion.vi)->attributes());
  keep(vi, completion);
  *of = vi.handle;
  *receive = completion.queue == Queue::receive ? VIP_TRUE : VIP_FALSE;
  vi.remember_name();
  release<What>();
  return VIP_SUCCESS;
}

template <Holds What>
[[gnu::noinline, gnu::aligned(kCacheLineBytes)]] VIP_RETURN cq_take_found(
    shm::Vi& from, Slot& slot, std::uint64_t header, VIP_VI_HANDLE* of,
    VIP_BOOLEAN* receive) noexcept {
  Descriptor* const d = shm::CompletionQueue::take({&from, &slot, header});
  if (d != nullptr) [[likely]]
    return announce<What>({&from, d, Queue::receive}, of, receive);
  release<What>();
  return cq_done_slowly(vi_of(from.attributes()).receive.cq->handle, of, receive);
}

/// A completion waits in the queue's ring.
template <Holds What>
[[gnu::noinline, gnu::aligned(kCacheLineBytes)]] VIP_RETURN cq_take_pushed(
    Cq& cq, VIP_VI_HANDLE* of, VIP_BOOLEAN* receive) noexcept {
  Completion completion;
  if (!cq.plain->take_pushed(completion)) __builtin_unreachable();
  return announce<What>(completion, of, receive);
}

/// Nothing waits in the queue's ring, and several VIs talk, or none.
template <Holds What>
[[gnu::noinline]] VIP_RETURN cq_look_at_all(Cq& cq, VIP_VI_HANDLE* of,
                                            VIP_BOOLEAN* receive) noexcept {
  if (const auto found = cq.plain->find(); found.vi != nullptr)
    return cq_take_found<What>(*found.vi, *found.slot, found.header, of, receive);
  const bool in_vain = is_in_vain(library(), *cq.plain);
  release<What>();
  return in_vain ? VIP_NOT_DONE : cq_done_slowly(cq.handle, of, receive);
}

template <Holds What>
[[gnu::always_inline]] inline VIP_RETURN cq_done_shortly(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* of,
                                                         VIP_BOOLEAN* receive) noexcept {
  Cq* const cq = find<Cq>(handle);
  if (cq == nullptr || cq->plain == nullptr || of == nullptr || receive == nullptr ||
      !cq->early.empty()) [[unlikely]] {
    release<What>();
    return cq_done_slowly(handle, of, receive);
  }
  if (!cq->plain->ring_empty()) return cq_take_pushed<What>(*cq, of, receive);
  if (!cq->plain->has_one_hot()) return cq_look_at_all<What>(*cq, of, receive);
  if (const auto found = cq->plain->find_of_one(); found.vi != nullptr)
    return cq_take_found<What>(*found.vi, *found.slot, found.header, of, receive);
  const bool in_vain = is_in_vain(library(), *cq->plain);
  release<What>();
  return in_vain ? VIP_NOT_DONE : cq_done_slowly(cq->handle, of, receive);
}
[[gnu::noinline]] VIP_RETURN cq_done_among_threads(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* of,
                                                   VIP_BOOLEAN* receive) noexcept {
  return library().lock.enter_alone() ? cq_done_shortly<Holds::lock>(handle, of, receive)
                                      : cq_done_slowly(handle, of, receive);
}
[[gnu::always_inline]] inline VIP_RETURN cq_done(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* of,
                                                 VIP_BOOLEAN* receive) noexcept {
  return is_single_threaded() ? cq_done_shortly<Holds::nothing>(handle, of, receive)
                              : cq_done_among_threads(handle, of, receive);
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

[[gnu::aligned(kCacheLineBytes)]] VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle,
                                                         VIP_DESCRIPTOR** DescriptorPtr) {
  return done<&Vi::send>(ViHandle, DescriptorPtr);
}

[[gnu::aligned(kCacheLineBytes)]] VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle,
                                                         VIP_DESCRIPTOR** DescriptorPtr) {
  return done<&Vi::receive>(ViHandle, DescriptorPtr);
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout, VIP_DESCRIPTOR** DescriptorPtr) {
  return wait<&Vi::send>(ViHandle, Timeout, DescriptorPtr);
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout, VIP_DESCRIPTOR** DescriptorPtr) {
  return wait<&Vi::receive>(ViHandle, Timeout, DescriptorPtr);
}

[[gnu::aligned(kCacheLineBytes)]] VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle,
                                                       VIP_VI_HANDLE* ViHandle,
                                                       VIP_BOOLEAN* RecvQueue) {
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
