/// The data path: descriptors are posted as they are, since their layout is the provider's.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "via/descriptor_rules.hpp"
#include "via/vipl/src/library.hpp"
#include "via/vipl/src/wait.hpp"

namespace viaduct::via::vipl {

static_assert(sizeof(VIP_CONTROL_SEGMENT) == sizeof(ControlSegment));
static_assert(offsetof(VIP_CONTROL_SEGMENT, NextHandle) == offsetof(ControlSegment, next_handle));
static_assert(offsetof(VIP_CONTROL_SEGMENT, SegCount) == offsetof(ControlSegment, segment_count));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Control) == offsetof(ControlSegment, control));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Reserved) == offsetof(ControlSegment, immediate_high));
static_assert(offsetof(VIP_CONTROL_SEGMENT, ImmediateData) ==
              offsetof(ControlSegment, immediate_low));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Length) == offsetof(ControlSegment, length));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Status) == offsetof(ControlSegment, status));
static_assert(sizeof(VIP_DESCRIPTOR_SEGMENT) == 16 && sizeof(VIP_ADDRESS_SEGMENT) == 16 &&
              sizeof(VIP_DATA_SEGMENT) == 16);
static_assert(offsetof(VIP_DATA_SEGMENT, Handle) == offsetof(LocalSegment, handle) &&
              offsetof(VIP_DATA_SEGMENT, Length) == offsetof(LocalSegment, length));
static_assert(offsetof(VIP_DESCRIPTOR, DS) == 32 && sizeof(VIP_DESCRIPTOR) == sizeof(Descriptor));
static_assert(VIP_STATE_IDLE == static_cast<int>(ViState::idle) &&
              VIP_STATE_CONNECTED == static_cast<int>(ViState::connected) &&
              VIP_STATE_CONNECT_PENDING == static_cast<int>(ViState::connecting) &&
              VIP_STATE_ERROR == static_cast<int>(ViState::error));
static_assert(VIP_STATUS_ERROR_MASK == descriptor_status::error_mask &&
              VIP_STATUS_OP_MASK == descriptor_status::operation_mask &&
              VIP_STATUS_IMMEDIATE == descriptor_status::immediate_present);
static_assert(VIP_SERVICE_RELIABLE_RECEPTION == static_cast<int>(Reliability::reception));
static_assert(VIP_CONTROL_IMMEDIATE == control_bits::immediate &&
              VIP_CONTROL_QFENCE == control_bits::queue_fence);

namespace {

/// Whether the descriptor lies in the region that @p handle names, under the VI's tag.
[[gnu::cold, gnu::noinline]] bool find_region_of(Vi& vi, std::uintptr_t at,
                                                 VIP_MEM_HANDLE handle) noexcept {
  const auto& regions = library().port->regions;
  const auto found = regions.find(handle);
  if (found == regions.end() || found->second.tag != vi.tag) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(found->second.region.address());
  const std::size_t bytes = found->second.region.bytes();
  if (at - begin >= bytes || bytes - (at - begin) < sizeof(VIP_CONTROL_SEGMENT)) return false;
  vi.region_handle = handle;
  vi.region_begin = begin;
  // Where a descriptor may begin.
  vi.region_bytes = bytes - sizeof(VIP_CONTROL_SEGMENT) + 1;
  return true;
}

bool may_lie_there(Vi& vi, const VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE handle) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(descriptor);
  if (at % VIP_DESCRIPTOR_ALIGNMENT != 0) return false;
  if (handle == vi.region_handle && at - vi.region_begin < vi.region_bytes) [[likely]]
    return true;
  return find_region_of(vi, at, handle);
}

/// Whether the segments behind the two that a descriptor always has lie in the region, too. More
/// than a provider takes are not looked at, and the descriptor fails in its turn.
[[gnu::cold, gnu::noinline]] bool more_segments_lie_there(const Vi& vi,
                                                          const VIP_DESCRIPTOR& d) noexcept {
  if (d.CS.SegCount > kMaxSegments + 1) return true;  // with the address segment
  const std::size_t needs = std::size_t{d.CS.SegCount} * sizeof(VIP_DESCRIPTOR_SEGMENT);
  return needs < vi.region_bytes - (reinterpret_cast<std::uintptr_t>(&d) - vi.region_begin);
}

/// What VIPL refuses and the provider does not know of: it is posted so that the provider refuses
/// it in its turn.
[[gnu::cold, gnu::noinline]] void spoil(Vi& vi, Descriptor& d) {
  constexpr std::uint32_t kNoLength = 0xffffffff;
  ControlSegment& c = d.control;
  const unsigned operation = c.control & VIP_CONTROL_OP_MASK;
  const bool rdma = operation == VIP_CONTROL_OP_RDMAWRITE || operation == VIP_CONTROL_OP_RDMAREAD;
  const bool allowed =
      operation == VIP_CONTROL_OP_RDMAWRITE ? vi.remote.rdma_write != 0 : vi.remote.rdma_read != 0;
  Spoiled was{&d, c.length, MemoryHandle::none, c.control, 0};
  if (operation == VIP_CONTROL_OP_RESERVED || (c.control & VIP_CONTROL_RESERVED) != 0) {
    was.status = VIP_STATUS_FORMAT_ERROR;
    c.control = static_cast<std::uint16_t>((c.control & ~VIP_CONTROL_OP_MASK) | 0x8000U);
  } else if (c.length > vi.max_transfer) {
    was.status = VIP_STATUS_LENGTH_ERROR;
    c.length = kNoLength;
  } else if (rdma && !allowed && c.segment_count != 0) {
    was.status = VIP_STATUS_RDMA_PROT_ERROR;
    was.remote = d.segment[0].remote.handle;
    d.segment[0].remote.handle = MemoryHandle::none;
  } else {
    return;
  }
  vi.spoiled.push_back(was);
}

/// The program's descriptor again, with the error that it gets.
[[gnu::cold, gnu::noinline]] void mend(Vi& vi, Descriptor& d) noexcept {
  for (std::size_t i = 0; i < vi.spoiled.size(); ++i) {
    const Spoiled& was = vi.spoiled[i];
    if (was.descriptor != &d) continue;
    if ((d.control.status & descriptor_status::error_mask & ~descriptor_status::flushed) != 0)
      d.control.status = (d.control.status & ~descriptor_status::error_mask) | was.status;
    d.control.control = was.control;
    d.control.length = was.length;
    if (was.status == VIP_STATUS_RDMA_PROT_ERROR) d.segment[0].remote.handle = was.remote;
    vi.spoiled.erase(vi.spoiled.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

// Other files have the names of library.hpp for these: a library that can be loaded may not take
// those into its own functions.

inline bool is_over(Vi& vi) noexcept {
  if (vi.vi->state() != ViState::idle) return false;
  if (!vi.lost) record_loss(vi, ErrorCause::disconnected);
  return true;
}

/// Completes a descriptor as flushed behind all that the provider has.
[[gnu::cold, gnu::noinline]] void flush_late(Vi& vi, WorkQueue& queue, Descriptor& d,
                                             bool receive) {
  const CompletedOperation operation =
      receive ? CompletedOperation::receive : rules::completed_as(rules::operation_of(d));
  d.control.status = rules::status_of(operation) | descriptor_status::flushed;
  queue.late.push(&d);
  ++queue.queued;
  if (queue.cq != nullptr) queue.cq->early.push({&vi, receive});
}

VIP_RETURN post_send(Vi& vi, Descriptor& d) {
  if (vi.phase != Phase::connected) [[unlikely]]
    return VIP_INVALID_STATE;
  if (vi.send.queued >= library().port->depth()) [[unlikely]]
    return VIP_ERROR_RESOURCE;
  if ((d.control.control & ~(VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE)) != 0 ||
      d.control.length > vi.max_transfer) [[unlikely]]
    spoil(vi, d);
  switch (vi.vi->post_send(d)) {
    [[likely]] case Status::ok : ++vi.send.queued;
    return VIP_SUCCESS;
    case Status::bad_state:
      if (!is_over(vi)) return VIP_INVALID_STATE;
      if (!vi.spoiled.empty()) mend(vi, d);
      flush_late(vi, vi.send, d, false);
      return VIP_SUCCESS;
    default:
      if (!vi.spoiled.empty()) mend(vi, d);
      return VIP_ERROR_RESOURCE;
  }
}

/// The length of a receive is that of its segments, which a provider may want to see there; the
/// program need not say it.
void set_length(Descriptor& d) noexcept {
  if (d.control.segment_count == 1) [[likely]] {
    d.control.length = d.segments()[0].local.length;
    return;
  }
  std::uint32_t length = 0;
  if (d.control.segment_count > kMaxSegments) return;  // refused in its turn
  for (std::uint32_t i = 0; i < d.control.segment_count; ++i)
    length += d.segments()[i].local.length;
  d.control.length = length;
}

VIP_RETURN post_receive(Vi& vi, Descriptor& d) {
  if (vi.receive.queued >= library().port->depth()) [[unlikely]]
    return VIP_ERROR_RESOURCE;
  set_length(d);
  // Programs set them as if receives had them.
  d.control.control &= static_cast<std::uint16_t>(~(VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE));
  if (vi.phase == Phase::connected && is_over(vi)) [[unlikely]] {
    flush_late(vi, vi.receive, d, true);
    return VIP_SUCCESS;
  }
  if (vi.vi->post_receive(d) != Status::ok) return VIP_ERROR_RESOURCE;
  ++vi.receive.queued;
  return VIP_SUCCESS;
}

template <class Post>
VIP_RETURN post(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory,
                Post one) noexcept {
  const Guard guard;
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || descriptor == nullptr || !may_lie_there(*vi, descriptor, memory))
      [[unlikely]]
    return VIP_INVALID_PARAMETER;
  if (descriptor->CS.SegCount > 2 && !more_segments_lie_there(*vi, *descriptor)) [[unlikely]]
    return VIP_INVALID_PARAMETER;
  try {
    return one(*vi, *reinterpret_cast<Descriptor*>(descriptor));
  } catch (const std::exception&) {
    return VIP_ERROR_RESOURCE;
  }
}

/// Whose completion it is.
Vi& vi_of(const Completion& completion) noexcept {
  return *static_cast<ViOwner*>(completion.vi->attributes().context)->vi;
}

/// Puts @p completion where its VI's calls look for it.
void keep(const Completion& completion) {
  Vi& vi = vi_of(completion);
  (completion.queue == Queue::send ? vi.send : vi.receive).done.push(completion.descriptor);
}

/// The same for one that came by way of another call than VipCQDone: its entry stays for that.
void keep_with_entry(const WorkQueue& queue, const Completion& completion) {
  if (queue.cq != nullptr)
    queue.cq->early.push({&vi_of(completion), completion.queue == Queue::receive});
  keep(completion);
}

inline Descriptor* take_oldest(WorkQueue& queue) noexcept {
  if (!queue.done.empty()) return queue.done.take();
  Completion completion;
  if (queue.cq == nullptr) {
    if (queue.own->poll(completion) == Status::ok) return completion.descriptor;
  } else {
    while (queue.queue().poll(completion) == Status::ok) {
      keep_with_entry(queue, completion);
      if (!queue.done.empty()) return queue.done.take();
    }
  }
  return queue.late.empty() ? nullptr : queue.late.take();
}

inline VIP_RETURN hand_back(Vi& vi, WorkQueue& queue, Descriptor& descriptor) noexcept {
  --queue.queued;
  if (!vi.spoiled.empty()) [[unlikely]]
    mend(vi, descriptor);
  return descriptor.failed() ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

VIP_DESCRIPTOR* program_s(Descriptor* d) noexcept { return reinterpret_cast<VIP_DESCRIPTOR*>(d); }

/// One look at a work queue.
VIP_RETURN done(Vi& vi, WorkQueue& queue, VIP_DESCRIPTOR** out) noexcept {
  if (Descriptor* const d = take_oldest(queue)) {
    *out = program_s(d);
    return hand_back(vi, queue, *d);
  }
  *out = nullptr;
  if (vi.phase == Phase::connected) (void)is_over(vi);
  library().port->progress_sometimes();
  return queue.queued == 0 ? VIP_DESCRIPTOR_ERROR : VIP_NOT_DONE;
}

VIP_RETURN done(VIP_VI_HANDLE handle, WorkQueue Vi::*queue, VIP_DESCRIPTOR** out) noexcept {
  const Guard guard;
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || out == nullptr) [[unlikely]]
    return VIP_INVALID_PARAMETER;
  return done(*vi, vi->*queue, out);
}

/// A look that may sleep in the provider while the lock is this thread's own.
template <class Look>
VIP_RETURN wait(VIP_ULONG timeout, Look look) noexcept {
  const std::uint64_t deadline = deadline_of(timeout);
  Naps naps;
  Backoff backoff(WaitPolicy{});
  for (bool first = true;; first = false) {
    std::int64_t sleep_ns = 0;
    {
      const Guard guard;
      if (!first && !guard->lock.is_shared()) {
        const std::uint64_t now = monotonic_ns();
        sleep_ns = now >= deadline ? 0
                                   : static_cast<std::int64_t>(std::min<std::uint64_t>(
                                         deadline - now, static_cast<std::uint64_t>(kSliceNs)));
      }
      const VIP_RETURN answer = look(sleep_ns);
      if (answer != VIP_NOT_DONE) return answer;
      if (first)
        backoff = Backoff(guard->port->job().wait_policy());
      else
        guard->port->progress();
    }
    if (first && timeout != 0) continue;
    if (monotonic_ns() >= deadline) return VIP_TIMEOUT;
    // Other threads call, too: this one looks, and sleeps without the lock.
    if (sleep_ns == 0 && backoff.next() == Backoff::Stage::block_now) naps.take(deadline);
  }
}

VIP_RETURN wait(VIP_VI_HANDLE handle, WorkQueue Vi::*queue_of, VIP_ULONG timeout,
                VIP_DESCRIPTOR** out) noexcept {
  if (out == nullptr) return VIP_INVALID_PARAMETER;
  return wait(timeout, [&](std::int64_t sleep_ns) {
    Vi* const vi = find<Vi>(handle);
    if (vi == nullptr) return VIP_INVALID_PARAMETER;
    WorkQueue& queue = vi->*queue_of;
    if (sleep_ns > 0 && queue.done.empty() && queue.late.empty() && queue.queued != 0) {
      Completion completion;
      if (queue.queue().wait(completion, sleep_ns) == Status::ok) {
        if (queue.cq == nullptr) {
          *out = program_s(completion.descriptor);
          return hand_back(*vi, queue, *completion.descriptor);
        }
        keep_with_entry(queue, completion);
      }
    }
    return done(*vi, queue, out);
  });
}

}  // namespace

Descriptor* take(WorkQueue& queue) noexcept { return take_oldest(queue); }

bool has_ended(Vi& vi) noexcept { return is_over(vi); }

VIP_RETURN hand_over(Vi& vi, WorkQueue& queue, Descriptor& descriptor) noexcept {
  return hand_back(vi, queue, descriptor);
}

bool take(Cq& cq, Entry& entry) noexcept {
  if (!cq.early.empty()) {
    entry = cq.early.take();
    return true;
  }
  Completion completion;
  if (cq.queue->poll(completion) != Status::ok) return false;
  keep(completion);
  entry = {&vi_of(completion), completion.queue == Queue::receive};
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

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr,
                       VIP_MEM_HANDLE MemoryHandle) {
  return post(ViHandle, DescriptorPtr, MemoryHandle, post_send);
}

VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr,
                       VIP_MEM_HANDLE MemoryHandle) {
  return post(ViHandle, DescriptorPtr, MemoryHandle, post_receive);
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return done(ViHandle, &Vi::send, DescriptorPtr);
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
  const Guard guard;
  Cq* const cq = find<Cq>(CQHandle);
  if (cq == nullptr || ViHandle == nullptr || RecvQueue == nullptr) return VIP_INVALID_PARAMETER;
  Entry entry{};
  if (!take(*cq, entry)) {
    guard->port->progress_sometimes();
    return VIP_NOT_DONE;
  }
  *ViHandle = entry.vi->handle;
  *RecvQueue = entry.receive ? VIP_TRUE : VIP_FALSE;
  return VIP_SUCCESS;
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle,
                     VIP_BOOLEAN* RecvQueue) {
  if (ViHandle == nullptr || RecvQueue == nullptr) return VIP_INVALID_PARAMETER;
  return wait(Timeout, [&](std::int64_t sleep_ns) {
    Cq* const cq = find<Cq>(CQHandle);
    if (cq == nullptr) return VIP_INVALID_PARAMETER;
    Entry entry{};
    Completion completion;
    if (sleep_ns > 0 && cq->early.empty() && cq->queue->wait(completion, sleep_ns) == Status::ok) {
      keep(completion);
      entry = {&vi_of(completion), completion.queue == Queue::receive};
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
