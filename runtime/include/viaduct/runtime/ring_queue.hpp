#pragma once
/// @file
/// A queue of small values for a message's path, which must not allocate there.

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace viaduct {

/// A queue in a ring that never shrinks. The ring doubles when it is full: the queue allocates only
/// when it holds more values than ever before. (std::deque allocates again and again, also for a
/// queue that never holds more than one value.)
///
/// Blocks      never.
/// Cost        push: a comparison and a store. All others: one load or addition.
template <class T>
class RingQueue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Without memory: the first push() allocates.
  RingQueue() noexcept = default;
  /// Has room for @p count values.  Throws std::bad_alloc.
  explicit RingQueue(std::size_t count) : ring_(places_for(count)) {}

  /// @return whether there is no value.
  [[nodiscard]] bool is_empty() const noexcept { return begin_ == end_; }
  /// @return the number of values.
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  /// @return the oldest value.  Precondition: there is one.
  [[nodiscard]] T& front() noexcept { return (*this)[0]; }
  /// @return the value behind @p i older ones.  Precondition: @p i is below size().
  [[nodiscard]] T& operator[](std::size_t i) noexcept {
    return ring_[(begin_ + i) & (ring_.size() - 1)];
  }
  /// Adds @p value as the newest.  Throws std::bad_alloc, where the ring is full.
  void push(const T& value) {
    if (size() == ring_.size()) [[unlikely]]
      grow();
    ring_[end_++ & (ring_.size() - 1)] = value;
  }
  /// Removes the oldest value.  Precondition: there is one.
  void pop() noexcept { ++begin_; }

 private:
  /// A power of two.
  [[nodiscard]] static constexpr std::size_t places_for(std::size_t count) noexcept {
    std::size_t places = 1;
    while (places < count) places *= 2;
    return places;
  }
  [[gnu::cold, gnu::noinline]] void grow() {
    constexpr std::size_t kLeast = 8;
    std::vector<T> larger(std::max(kLeast, 2 * ring_.size()));
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = (*this)[i];
    ring_.swap(larger);
    begin_ = 0;
    end_ = count;
  }

  std::vector<T> ring_;  // a power of two of places
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace viaduct
