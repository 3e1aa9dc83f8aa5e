#pragma once
/// @file
/// A queue that keeps its memory: a list of the standard library allocates and frees blocks while
/// entries pass through it.

#include <cstddef>
#include <vector>

namespace viaduct::via::vipl {

template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }
  /// The oldest.  Precondition: there is one.
  [[nodiscard]] T take() noexcept { return places_[head_++ & (room_ - 1)]; }
  /// Throws std::bad_alloc.
  void push(const T& entry) {
    if (size() == room_) [[unlikely]]
      grow();
    places_[tail_++ & (room_ - 1)] = entry;
  }
  /// Removes the entries for which @p is_one is true.
  template <class IsOne>
  void remove(IsOne is_one) noexcept {
    std::size_t kept = head_;
    for (std::size_t at = head_; at != tail_; ++at) {
      const T entry = places_[at & (room_ - 1)];
      if (!is_one(entry)) places_[kept++ & (room_ - 1)] = entry;
    }
    tail_ = kept;
  }

 private:
  [[gnu::cold, gnu::noinline]] void grow() {
    constexpr std::size_t kAtFirst = 16;
    std::vector<T> more(room_ == 0 ? kAtFirst : 2 * room_);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) more[i] = places_[(head_ + i) & (room_ - 1)];
    places_.swap(more);
    room_ = places_.size();
    head_ = 0;
    tail_ = count;
  }

  std::size_t head_ = 0, tail_ = 0;
  std::size_t room_ = 0;  // of places_: a power of two
  std::vector<T> places_;
};

/// A Fifo of pointers whose oldest one is at hand: mostly there is no more than one.
template <class T>
class ShortFifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return oldest_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return empty() ? 0 : 1 + rest_.size(); }
  /// The oldest.  Precondition: there is one.
  [[nodiscard]] T* take() noexcept {
    T* const taken = oldest_;
    oldest_ = rest_.empty() ? nullptr : rest_.take();
    return taken;
  }
  /// Throws std::bad_alloc.
  void push(T* entry) {
    if (oldest_ == nullptr) [[likely]]
      oldest_ = entry;
    else
      push_behind(entry);
  }

 private:
  // A function of its own: it would cost the callers registers.
  [[gnu::noinline]] void push_behind(T* entry) { rest_.push(entry); }

  T* oldest_ = nullptr;  // null: none at all
  Fifo<T*> rest_;
};

}  // namespace viaduct::via::vipl
