#pragma once
/// @file
/// The part of a completion queue that holds completions, for providers.

#include <cstddef>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/completion_queue.hpp"

namespace viaduct::via {

/// A completion queue with a ring of completions. It has room for those of all work queues attached
/// to it, so that it is never overrun.
class CompletionRing : public CompletionQueue {
 public:
  /// Keeps the completions that are in the ring.  Throws Error for 0, for more than the NIC's
  /// limit, and for less than the work queues attached to it may need.  Cost: one allocation, of
  /// which nothing is written: entries that no completion has reached take no memory.
  void resize(std::size_t capacity) final;
  /// @return the number of completions that the ring can hold.
  [[nodiscard]] std::size_t capacity() const noexcept final { return capacity_; }
  /// @return whether the ring has no completion.  Cost: two loads.
  [[nodiscard]] bool ring_empty() const noexcept { return ring_head_ == ring_tail_; }

 protected:
  /// A completion without initial values, so that a new ring is not written.
  struct Entry {
    Vi* vi;
    Descriptor* descriptor;
    Queue queue;
  };

  /// @p most: the largest capacity that resize() allows.
  explicit CompletionRing(std::size_t most) noexcept : most_(most) {}

  /// Room for a work queue of @p depth descriptors; undone by forget().  Throws Error.
  void promise(std::size_t depth);
  /// Takes back the promise of one of @p vi's work queues and drops the VI's completions.
  void forget(const Vi& vi, std::size_t depth) noexcept;
  /// A thread of the NIC's may look at the ring's end meanwhile.
  void push(const Completion& completion) noexcept {
    ring_[ring_tail_ & ring_mask_] = {completion.vi, completion.descriptor, completion.queue};
    store_word(ring_tail_, ring_tail_ + 1, kRelease);
  }

  /// What a poll answers that finds nothing. bad_state: the VI whose own queue this is has ended,
  /// and no wait finds anything any more.
  Status nothing_ = Status::retry;
  std::size_t ring_head_ = 0;
  std::size_t ring_tail_ = 0;
  std::size_t ring_mask_ = 0;
  Owned<Entry[]> ring_;

 private:
  std::size_t capacity_ = 0;
  std::size_t promised_ = 0;  // depths of the attached queues
  std::size_t most_;
};

}  // namespace viaduct::via
