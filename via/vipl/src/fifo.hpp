#pragma once
/// @file
/// A queue that gets along with the memory that it has once had: a list of the standard library
/// takes and gives back blocks while entries pass through it.

#include <cstddef>
#include <vector>

namespace viaduct::via::vipl {

template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }
  /// The oldest.  Precondition: there is one.
  [[nodiscard]] T take() noexcept { return places_[head_++ & (places_.size() - 1)]; }
  /// Throws std::bad_alloc.
  void push(const T& entry) {
    if (size() == places_.size()) [[unlikely]]
      grow();
    places_[tail_++ & (places_.size() - 1)] = entry;
  }
  /// Takes out those for which @p is_one says so.
  template <class IsOne>
  void remove(IsOne is_one) noexcept {
    std::size_t kept = head_;
    for (std::size_t at = head_; at != tail_; ++at) {
      const T entry = places_[at & (places_.size() - 1)];
      if (!is_one(entry)) places_[kept++ & (places_.size() - 1)] = entry;
    }
    tail_ = kept;
  }

 private:
  void grow() {
    std::vector<T> more(places_.empty() ? 16 : 2 * places_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) more[i] = places_[(head_ + i) & (places_.size() - 1)];
    places_.swap(more);
    head_ = 0;
    tail_ = count;
  }

  std::size_t head_ = 0, tail_ = 0;
  std::vector<T> places_;  // a power of two
};

}  // namespace viaduct::via::vipl
