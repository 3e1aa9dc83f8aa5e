#pragma once
/// @file
/// The short ways of the data path: while one thread alone calls, on provider shm, on the VI or
/// completion queue that was used last, where the provider takes no call either. Such a call costs
/// the program about what the C++ interface costs it: the provider's part stands in the function
/// of the C interface itself, which takes the place of the virtual call. A short way does the
/// whole call, or does nothing.

#include <cstdint>

#include "runtime/single_thread.hpp"
#include "via/vipl/src/queues.hpp"

namespace viaduct::via::vipl {

/// What a short way holds while it runs. It makes no thread and calls nothing of the program's: in
/// a process of one thread nobody is to be kept out. The lock's two stores would hold up a stream
/// of messages (transfer.cpp).
enum class Holds : bool { nothing, lock };
template <Holds What>
[[gnu::always_inline]] inline void release() noexcept {
  if constexpr (What == Holds::lock) library().lock.leave_alone();
}

/// Whether a descriptor lies in the region where the VI's last one did.
[[nodiscard, gnu::always_inline]] inline bool lies_there_again(const Vi& vi,
                                                               const VIP_DESCRIPTOR* descriptor,
                                                               VIP_MEM_HANDLE handle) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(descriptor);
  return at % VIP_DESCRIPTOR_ALIGNMENT == 0 && handle == vi.region_handle &&
         at - vi.region_begin < vi.region_bytes;
}

/// Whether a call has named this VI last, which is ready then: named_last.vi.
[[nodiscard, gnu::always_inline]] inline bool is_named_last(VIP_VI_HANDLE handle) noexcept {
  return handle == named_last.handle && named_last.vi != nullptr;
}
/// Names another VI.  @return whether it is ready. To be called by functions of their own, since a
/// call in the middle costs its caller registers.
[[nodiscard]] inline bool name(VIP_VI_HANDLE handle) noexcept {
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || vi->ready == nullptr) return false;
  vi->remember_name();
  return true;
}

/// Whether the short way of a post will do.
[[nodiscard, gnu::always_inline]] inline bool may_post_shortly(const Vi& vi,
                                                               const VIP_DESCRIPTOR* descriptor,
                                                               VIP_MEM_HANDLE memory) noexcept {
  if (!lies_there_again(vi, descriptor, memory)) [[unlikely]]
    return false;
  const VIP_CONTROL_SEGMENT& c = descriptor->CS;
  return c.Control == 0 && c.SegCount == 1;
}

/// Whether a look that has found no message is the call's answer.
[[nodiscard, gnu::always_inline]] inline bool is_in_vain(Library& lib,
                                                         shm::CompletionQueue& queue) noexcept {
  if (lib.is_progress_due() || queue.look_further() != shm::CompletionQueue::Look::nothing)
      [[unlikely]]
    return false;
  ++lib.idle_polls;
  return true;
}

}  // namespace viaduct::via::vipl
