#include <cstring>

#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardstick_block.hpp"

namespace viaduct::bench {
namespace {

constexpr std::uint64_t kHeadEvery = 64;
constexpr std::uint64_t kAhead = 8;
constexpr std::size_t kPayloadWords = 7;

using Slot = std::uint64_t[8];

constexpr std::size_t mark_at(RingLayout layout) {
  return layout == RingLayout::mark_first ? 0 : 7;
}
constexpr std::size_t payload_at(RingLayout layout) {
  return layout == RingLayout::mark_first ? 1 : 0;
}

template <RingLayout Layout>
std::uint64_t* slot_of(void* slots, std::uint64_t message) noexcept {
  std::uint64_t at = message % Yardsticks::kSlots;
  if constexpr (Layout == RingLayout::spread) {
    at = at * 2 % Yardsticks::kSlots + at * 2 / Yardsticks::kSlots;  // even ones first, then odd
  }
  return static_cast<Slot*>(slots)[at];
}

// The sender's side of flow control: the head is looked at again only when there seems to be no
// room.
class Room {
 public:
  explicit Room(const std::atomic<std::uint64_t>& head) noexcept : head_(head) {}
  void await(std::uint64_t message) noexcept {
    while (message >= limit_) {
      limit_ = head_.load(std::memory_order_acquire) + Yardsticks::kSlots;
    }
  }
  void await_consumed(std::uint64_t messages) const noexcept {
    while (head_.load(std::memory_order_acquire) != messages) {
    }
  }

 private:
  const std::atomic<std::uint64_t>& head_;
  std::uint64_t limit_ = Yardsticks::kSlots;
};

// Words are copied one by one, as relaxed atomics: else the compiler makes vectors of the seven
// words, whose stores and loads straddle the mark's, and the ring runs at two thirds of its rate.
void put_word(std::uint64_t& word, std::uint64_t value) noexcept {
  std::atomic_ref(word).store(value, std::memory_order_relaxed);
}
std::uint64_t get_word(std::uint64_t& word) noexcept {
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

template <RingLayout Layout>
void publish(std::uint64_t* slot, std::uint64_t message) noexcept {
  for (std::size_t word = 0; word < kPayloadWords; ++word) {
    put_word(slot[payload_at(Layout) + word], message + word);
  }
  std::atomic_ref(slot[mark_at(Layout)]).store(message + 1, std::memory_order_release);
}

template <RingLayout Layout>
std::uint64_t* await_slot(void* slots, std::uint64_t message) noexcept {
  std::uint64_t* const slot = slot_of<Layout>(slots, message);
  const std::atomic_ref mark(slot[mark_at(Layout)]);
  while (mark.load(std::memory_order_acquire) != message + 1) {
  }
  __builtin_prefetch(slot_of<Layout>(slots, message + kAhead));
  return slot;
}

void return_head(std::atomic<std::uint64_t>& head, std::uint64_t consumed,
                 std::uint64_t messages) noexcept {
  if (consumed % kHeadEvery == 0 || consumed == messages) {
    head.store(consumed, std::memory_order_release);
  }
}

}  // namespace

template <RingLayout Layout>
double Yardsticks::ring_round(std::uint64_t messages) {
  std::atomic<std::uint64_t>& head = block_->page.head.value;
  std::uint64_t sum = 0;
  std::uint64_t expected = 0;
  const Stopwatch watch;
  if (pair_.is_sender()) {
    Room room(head);
    for (std::uint64_t message = 0; message < messages; ++message) {
      room.await(message);
      publish<Layout>(slot_of<Layout>(block_->slots, message), message);
    }
    room.await_consumed(messages);
    expected = kPayloadWords * (messages * (messages - 1) / 2) +
               messages * (kPayloadWords * (kPayloadWords - 1) / 2);
  } else {
    for (std::uint64_t message = 0; message < messages; ++message) {
      std::uint64_t* const slot = await_slot<Layout>(block_->slots, message);
      for (std::size_t word = 0; word < kPayloadWords; ++word) {
        sum += get_word(slot[payload_at(Layout) + word]);
      }
      return_head(head, message + 1, messages);
    }
  }
  const double elapsed = watch.elapsed_ns();
  check_sum(sum, expected, "ring");
  return pair_.from_sender(static_cast<double>(messages) / elapsed * 1e3);
}

double Yardsticks::ring_rate_mps(RingLayout layout, std::uint64_t messages) {
  pair_.meet();
  if (pair_.is_sender()) {
    std::memset(block_->slots, 0, sizeof block_->slots);
    block_->page.head.value.store(0, std::memory_order_relaxed);
  }
  pair_.meet();
  switch (layout) {
    case RingLayout::mark_first:
      return ring_round<RingLayout::mark_first>(messages);
    case RingLayout::mark_last:
      return ring_round<RingLayout::mark_last>(messages);
    case RingLayout::spread:
      return ring_round<RingLayout::spread>(messages);
  }
  return 0;
}

double Yardsticks::medium_ring_4k_gbs(std::uint64_t messages) {
  constexpr auto kLayout = RingLayout::mark_last;
  std::atomic<std::uint64_t>& head = block_->page.head.value;
  pair_.meet();
  if (pair_.is_sender()) {
    std::memset(block_->slots, 0, sizeof block_->slots);
    head.store(0, std::memory_order_relaxed);
  }
  pair_.meet();
  std::uint64_t sum = 0;
  std::uint64_t expected = 0;
  const Stopwatch watch;
  if (pair_.is_sender()) {
    Room room(head);
    for (std::uint64_t message = 0; message < messages; ++message) {
      room.await(message);
      std::memcpy(block_->payloads[message % kSlots],
                  medium_sources_.get() + message % kMediumSources * kMediumBytes, kMediumBytes);
      publish<kLayout>(slot_of<kLayout>(block_->slots, message), message);
    }
    room.await_consumed(messages);
  } else {
    for (std::uint64_t message = 0; message < messages; ++message) {
      await_slot<kLayout>(block_->slots, message);
      sum += sum_words(block_->payloads[message % kSlots], kMediumBytes);
      return_head(head, message + 1, messages);
    }
  }
  const double elapsed = watch.elapsed_ns();
  if (pair_.is_sender()) {
    for (std::uint64_t message = 0; message < messages; ++message) {
      expected +=
          sum_words(medium_sources_.get() + message % kMediumSources * kMediumBytes, kMediumBytes);
    }
  }
  check_sum(sum, expected, "medium ring");
  return pair_.from_sender(static_cast<double>(messages * kMediumBytes) / elapsed);
}

}  // namespace viaduct::bench
