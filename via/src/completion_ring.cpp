#include "viaduct/via/completion_ring.hpp"

#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {

void CompletionRing::resize(std::size_t capacity) {
  if (capacity == 0 || capacity > most_)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                "completion queue of " + std::to_string(capacity) +
                    " entries: the NIC allows 1 to " + std::to_string(most_));
  if (capacity < promised_)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                "completion queue of " + std::to_string(capacity) +
                    " entries: the queues attached to it may hold " + std::to_string(promised_) +
                    " descriptors; destroy a VI first");
  const std::size_t size = std::bit_ceil(capacity);
  auto ring = std::make_unique_for_overwrite<Entry[]>(size);
  std::size_t n = 0;
  for (; ring_head_ != ring_tail_; ++ring_head_) ring[n++] = ring_[ring_head_ & ring_mask_];
  ring_ = std::move(ring);
  ring_mask_ = size - 1;
  ring_head_ = 0;
  ring_tail_ = n;
  capacity_ = capacity;
}

void CompletionRing::promise(std::size_t depth) {
  if (promised_ + depth > capacity_)
    throw Error(errors::bad_attributes, std::errc::no_buffer_space,
                "a work queue of " + std::to_string(depth) +
                    " descriptors does not fit a completion queue of " + std::to_string(capacity_) +
                    " entries, " + std::to_string(promised_) +
                    " of them taken by other queues: resize() it first");
  promised_ += depth;
}

void CompletionRing::forget(const Vi& vi, std::size_t depth) noexcept {
  promised_ -= depth;
  std::size_t to = ring_head_;
  for (std::size_t i = ring_head_; i != ring_tail_; ++i)
    if (ring_[i & ring_mask_].vi != &vi) ring_[to++ & ring_mask_] = ring_[i & ring_mask_];
  ring_tail_ = to;
}

}  // namespace viaduct::via
