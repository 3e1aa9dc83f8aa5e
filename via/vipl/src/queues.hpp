#pragma once
/// @file
/// The common part of posts and looks: descriptors on their way between the provider's queues and
/// the program. Inline, so that a library that can be loaded takes it into its own functions.

#include "via/vipl/src/library.hpp"

namespace viaduct::via::vipl {

[[nodiscard]] inline Descriptor& provider_s(VIP_DESCRIPTOR& d) noexcept {
  return reinterpret_cast<Descriptor&>(d);
}
[[nodiscard]] inline VIP_DESCRIPTOR* program_s(Descriptor* d) noexcept {
  return reinterpret_cast<VIP_DESCRIPTOR*>(d);
}

/// Undoes spoil() where it has changed the descriptor, and sets the error that the program sees.
void mend(Vi& vi, Descriptor& d) noexcept;

/// Sets the length of a receive to that of its segments: a provider may want to see it there, and
/// the program need not say it.
inline void set_length(Descriptor& d) noexcept {
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

/// Whether the connection has ended in order, which a provider tells by an idle VI only. If so,
/// tells the program.
[[nodiscard]] inline bool is_over(Vi& vi) noexcept {
  if (vi.vi->state() != ViState::idle) return false;
  if (!vi.lost) record_loss(vi, ErrorCause::disconnected);
  return true;
}

/// The program's VI that a completion belongs to.
[[nodiscard]] inline Vi& vi_of(const ViAttributes& attributes) noexcept {
  return *static_cast<Vi*>(static_cast<ViOwner*>(attributes.context));
}
[[nodiscard]] inline Vi& vi_of(const Completion& completion) noexcept {
  return vi_of(completion.vi->attributes());
}

/// The work queue of @p vi that @p completion, which the provider has just answered, is of.
[[nodiscard]] inline WorkQueue& queue_of(Vi& vi, const Completion& completion) noexcept {
  WorkQueue& queue = completion.queue == Queue::send ? vi.send : vi.receive;
  --queue.held;
  return queue;
}
/// Puts @p completion where its VI's calls look for it.
inline void keep(Vi& vi, const Completion& completion) {
  queue_of(vi, completion).done.push(completion.descriptor);
}
/// As keep(), for a completion that another call than VipCQDone took: its entry stays for
/// VipCQDone.
inline void keep_with_entry(const WorkQueue& queue, const Completion& completion) {
  Vi& vi = vi_of(completion);
  if (queue.cq != nullptr) queue.cq->early.push({&vi, completion.queue == Queue::receive});
  keep(vi, completion);
}

/// Takes the oldest completed descriptor of the queue off it; null: there is none.
[[nodiscard]] inline Descriptor* take_oldest(WorkQueue& queue) noexcept {
  if (!queue.done.empty()) return queue.done.take();
  Completion completion;
  if (queue.cq == nullptr) {
    if (queue.own->poll(completion) == Status::ok) {
      --queue.held;
      return completion.descriptor;
    }
  } else {
    while (queue.queue().poll(completion) == Status::ok) {
      keep_with_entry(queue, completion);
      if (!queue.done.empty()) return queue.done.take();
    }
  }
  return queue.late.empty() ? nullptr : queue.late.take();
}

/// Hands @p descriptor over, and answers the status of the call.
inline VIP_RETURN hand_back(Vi& vi, Descriptor& descriptor) noexcept {
  if (!vi.spoiled.empty()) [[unlikely]]
    mend(vi, descriptor);
  vi.refresh();  // the last of queue.late may have been taken
  return descriptor.failed() ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

}  // namespace viaduct::via::vipl
