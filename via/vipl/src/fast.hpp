#pragma once
/// @file
/// The short ways of the data path: while one thread alone calls, on provider shm, on the VI or
/// completion queue that was used last, where the provider takes no call either. Such a call costs
/// the program about what the C++ interface costs it: the provider's part stands in the function
/// of the C interface itself, which takes the place of the virtual call. A short way does the
/// whole call, or does nothing and answers kLongWay.

#include <cstdint>

#include "via/vipl/src/queues.hpp"

namespace viaduct::via::vipl {

/// A value that no function of VIPL returns.
inline constexpr auto kLongWay = static_cast<VIP_RETURN>(31);
static_assert(kLongWay > VIP_ERROR);

/// Goes the short way when this thread owns the lock, and the long way when the short one fails.
template <class ShortWay, class LongWay>
[[gnu::always_inline]] inline VIP_RETURN go(ShortWay short_way, LongWay long_way) noexcept {
  Library& lib = library();
  if (lib.lock.enter_alone()) [[likely]] {
    const VIP_RETURN result = short_way(lib);
    lib.lock.leave_alone();
    if (result != kLongWay) [[likely]]
      return result;
  }
  return long_way();
}

/// Whether a descriptor lies in the region where the VI's last one did.
[[nodiscard, gnu::always_inline]] inline bool lies_there_again(const Vi& vi,
                                                               const VIP_DESCRIPTOR* descriptor,
                                                               VIP_MEM_HANDLE handle) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(descriptor);
  return at % VIP_DESCRIPTOR_ALIGNMENT == 0 && handle == vi.region_handle &&
         at - vi.region_begin < vi.region_bytes;
}

/// The VI of @p handle where the short way of a post will do; null where it will not.
[[nodiscard, gnu::always_inline]] inline Vi* vi_for_post(VIP_VI_HANDLE handle,
                                                         const VIP_DESCRIPTOR* descriptor,
                                                         VIP_MEM_HANDLE memory) noexcept {
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || vi->ready == nullptr || !lies_there_again(*vi, descriptor, memory))
      [[unlikely]]
    return nullptr;
  const VIP_CONTROL_SEGMENT& c = descriptor->CS;
  return c.Control == 0 && c.SegCount == 1 ? vi : nullptr;
}

/// Whether a look at a completion queue of provider shm that has found nothing is the call's
/// answer.
[[nodiscard, gnu::always_inline]] inline bool is_in_vain(Library& lib,
                                                         shm::CompletionQueue::Look look) noexcept {
  if (look != shm::CompletionQueue::Look::nothing || lib.is_progress_due()) [[unlikely]]
    return false;
  ++lib.idle_polls;
  return true;
}

[[gnu::always_inline]] inline VIP_RETURN done_shortly(Library& lib, VIP_VI_HANDLE handle,
                                                      WorkQueue Vi::*which,
                                                      VIP_DESCRIPTOR** out) noexcept {
  using Look = shm::CompletionQueue::Look;
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || vi->ready == nullptr || out == nullptr) [[unlikely]]
    return kLongWay;
  WorkQueue& queue = vi->*which;
  Descriptor* descriptor = nullptr;
  if (!queue.done.empty()) {
    descriptor = queue.done.take();
  } else {
    if (queue.plain == nullptr) [[unlikely]]
      return kLongWay;
    Completion completion;
    shm::Vi* from = nullptr;
    const Look look = queue.plain->look(completion, from);
    if (look != Look::taken) {
      if (vi->ready->state() == ViState::idle || !is_in_vain(lib, look)) return kLongWay;
      *out = nullptr;
      return *queue.outstanding == 0 ? VIP_DESCRIPTOR_ERROR : VIP_NOT_DONE;
    }
    descriptor = completion.descriptor;
  }
  *out = program_s(descriptor);
  return descriptor->failed() ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

[[gnu::always_inline]] inline VIP_RETURN cq_done_shortly(Library& lib, VIP_CQ_HANDLE handle,
                                                         VIP_VI_HANDLE* of,
                                                         VIP_BOOLEAN* receive) noexcept {
  using Look = shm::CompletionQueue::Look;
  Cq* const cq = find<Cq>(handle);
  if (cq == nullptr || cq->plain == nullptr || of == nullptr || receive == nullptr ||
      !cq->early.empty()) [[unlikely]]
    return kLongWay;
  Completion completion;
  shm::Vi* from = nullptr;
  if (const Look look = cq->plain->look(completion, from); look != Look::taken)
    return is_in_vain(lib, look) ? VIP_NOT_DONE : kLongWay;
  Vi& vi = vi_of(static_cast<shm::Vi*>(completion.vi)->attributes());
  keep(vi, completion);
  *of = vi.handle;
  *receive = completion.queue == Queue::receive ? VIP_TRUE : VIP_FALSE;
  lib.handles.expect(HandleKind::vi, vi.handle, static_cast<void*>(&vi));
  return VIP_SUCCESS;
}

}  // namespace viaduct::via::vipl
