#pragma once
/// @file
/// Spread pointers: element i of a spread array lies in process i mod PROCS, like cards dealt round
/// a table.

#include "viaduct/splitc/global_ptr.hpp"

namespace viaduct::splitc {

/// As a global pointer, but arithmetic runs across the processes first: with n processes, p + 1 is
/// the same address in the next process, and one element further in process 0 behind the last.
/// Negative steps go backwards in the same order.
template <class T>
class spread_ptr : public detail::PointerTraits<T> {
 public:
  using element_type = T;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  using pointer = void;

  /// Null.  Never waits.
  constexpr spread_ptr() noexcept = default;
  /// Null.  Never waits.
  constexpr spread_ptr(std::nullptr_t) noexcept {}
  /// To a base or a more const type, as between local pointers.  Never waits.
  template <class U>
  requires detail::PointerTo<U, T>
  constexpr spread_ptr(spread_ptr<U> other) noexcept : word_(other.word()) {}
  /// As a cast between pointer types: the bits stay.  Never waits.
  template <class U>
  requires(!detail::PointerTo<U, T>) constexpr explicit spread_ptr(spread_ptr<U> other) noexcept
      : word_(other.word()) {}
  /// The bits stay; arithmetic changes its meaning.  Never waits.
  constexpr explicit spread_ptr(global_ptr<T> p) noexcept : word_(p.word()) {}
  /// The element as an object of its process.  Never waits.
  constexpr operator global_ptr<T>() const noexcept { return global_ptr<T>::from_word(word_); }

  /// The pointer whose word() was @p word, here or in another process.  Never waits.
  [[nodiscard]] static constexpr spread_ptr from_word(std::uint64_t word) noexcept {
    spread_ptr p;
    p.word_ = word;
    return p;
  }
  /// @return the pointer as one word, which may be stored and sent.
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
  /// @return the process that the element lies in.
  [[nodiscard]] constexpr std::uint32_t process() const noexcept {
    return detail::process_of(word_);
  }
  /// @return whether the pointer is not null: its address, not its process, decides.
  constexpr explicit operator bool() const noexcept { return !detail::is_null(word_); }

  /// A reference that reads and writes the element. Never waits: reading and writing do
  /// (access.hpp).
  [[nodiscard, gnu::always_inline]] auto operator*() const noexcept requires std::is_object_v<T> {
    return global_ref<T>(*this);
  }
  /// As operator*, of the element i further in the array.  Cost: as operator+=.
  [[nodiscard]] auto operator[](detail::Subscript i) const noexcept requires std::is_object_v<T> {
    return global_ref<T>(*this + detail::number_of(i), detail::place_of_subscript(i));
  }

  /// Moves by @p n elements, across the processes first.  Cost: a division by PROCS.
  spread_ptr& operator+=(std::ptrdiff_t n) noexcept requires std::is_object_v<T> {
    const auto count = static_cast<std::ptrdiff_t>(detail::hot.procs);
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(process()) + n;
    std::ptrdiff_t row = line / count;
    std::ptrdiff_t process = line % count;
    if (process < 0) {
      process += count;
      --row;
    }
    const auto processes = static_cast<std::uint64_t>(process) - this->process();
    word_ += processes * detail::process_step(word_) + static_cast<std::uint64_t>(row) * sizeof(T);
    return *this;
  }
  /// Moves back by @p n elements.  Cost: a division by PROCS.
  spread_ptr& operator-=(std::ptrdiff_t n) noexcept requires std::is_object_v<T> {
    return *this += -n;
  }
  /// To the next element, in the next process.  Cost: a comparison with PROCS, no division.
  spread_ptr& operator++() noexcept {
    word_ = process() + 1 == detail::hot.procs ? detail::word_of_first(word_) + sizeof(T)
                                               : word_ + detail::process_step(word_);
    return *this;
  }
  /// To the element before, in the process before.  Cost: a comparison, no division.
  spread_ptr& operator--() noexcept {
    const std::uint64_t step = detail::process_step(word_);
    word_ = process() == 0 ? word_ + (detail::hot.procs - 1) * step - sizeof(T) : word_ - step;
    return *this;
  }
  /// As ++p.  @return the pointer as it was.
  spread_ptr operator++(int) noexcept {
    const spread_ptr old = *this;
    ++*this;
    return old;
  }
  /// As --p.  @return the pointer as it was.
  spread_ptr operator--(int) noexcept {
    const spread_ptr old = *this;
    --*this;
    return old;
  }
  /// @return the pointer @p n elements further.  Cost: a division by PROCS.
  friend spread_ptr operator+(spread_ptr p, std::ptrdiff_t n) noexcept { return p += n; }
  /// @return the pointer @p n elements further.  Cost: a division by PROCS.
  friend spread_ptr operator+(std::ptrdiff_t n, spread_ptr p) noexcept { return p += n; }
  /// @return the pointer @p n elements before.  Cost: a division by PROCS.
  friend spread_ptr operator-(spread_ptr p, std::ptrdiff_t n) noexcept { return p -= n; }
  /// Elements from b to a. Precondition: both point into one spread array.
  friend std::ptrdiff_t operator-(spread_ptr a,
                                  spread_ptr b) noexcept requires std::is_object_v<T> {
    const std::ptrdiff_t rows = static_cast<std::ptrdiff_t>(detail::word_of_first(a.word_) -
                                                            detail::word_of_first(b.word_)) /
                                static_cast<std::ptrdiff_t>(sizeof(T));
    return rows * static_cast<std::ptrdiff_t>(detail::hot.procs) +
           static_cast<std::ptrdiff_t>(a.process()) - static_cast<std::ptrdiff_t>(b.process());
  }
  /// @return whether the words are equal, or both pointers null.
  friend constexpr bool operator==(spread_ptr a, spread_ptr b) noexcept {
    return a.word_ == b.word_ || (!a && !b);
  }
  /// @return the array's order: by address, then by process.
  friend std::strong_ordering operator<=>(spread_ptr a, spread_ptr b) noexcept {
    if (a == b) return std::strong_ordering::equal;
    const auto rows = detail::word_of_first(a.word_) <=> detail::word_of_first(b.word_);
    return rows != 0 ? rows : a.process() <=> b.process();
  }

 private:
  std::uint64_t word_ = 0;
};

/// @return the process that the element lies in.
template <class T>
[[nodiscard]] constexpr int toproc(spread_ptr<T> p) noexcept {
  return static_cast<int>(p.process());
}
/// The address alone: the object of *this* process that has it. Null stays null.  Never waits.
template <class T>
[[nodiscard]] T* tolocal(spread_ptr<T> p) noexcept {
  return tolocal(global_ptr<T>(p));
}

/// Elements first to last of a spread array, for range-based loops. The whole of it, or with
/// mine() the elements of this process alone.
template <class T>
class spread_range {
 public:
  /// The @p count elements from @p first on.  Never waits.
  spread_range(spread_ptr<T> first, std::ptrdiff_t count) noexcept : first_(first), count_(count) {}
  /// @return the pointer to the first element.
  [[nodiscard]] spread_ptr<T> begin() const noexcept { return first_; }
  /// @return the pointer behind the last element.  Cost: a division by PROCS.
  [[nodiscard]] spread_ptr<T> end() const noexcept { return first_ + count_; }
  /// @return the number of elements, in all processes.
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return count_; }
  /// @return whether there is no element.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// A reference to element i, in any process.  Never waits: reading and writing do.
  [[nodiscard]] global_ref<T> operator[](detail::Subscript i) const noexcept { return first_[i]; }

  /// This process' elements are consecutive in its memory.
  class mine_range {
   public:
    /// The @p count objects from @p begin on.  Never waits.
    mine_range(T* begin, std::ptrdiff_t count) noexcept : begin_(begin), count_(count) {}
    /// @return the address of the first one.
    [[nodiscard]] T* begin() const noexcept { return begin_; }
    /// @return the address behind the last one.
    [[nodiscard]] T* end() const noexcept { return begin_ + count_; }
    /// @return the number of this process' elements.
    [[nodiscard]] std::ptrdiff_t size() const noexcept { return count_; }
    /// @return the address of the first one.
    [[nodiscard]] T* data() const noexcept { return begin_; }
    /// @return element i of this process' own.  Precondition: i is below size().
    [[nodiscard]] T& operator[](std::ptrdiff_t i) const noexcept { return begin_[i]; }

   private:
    T* begin_;
    std::ptrdiff_t count_;
  };
  /// The elements that lie in this process, as plain memory.  Never waits. Cost: a division by
  /// PROCS.
  [[nodiscard]] mine_range mine() const noexcept {
    const auto count = static_cast<std::ptrdiff_t>(detail::hot.procs);
    std::ptrdiff_t skip = static_cast<std::ptrdiff_t>(detail::hot.myproc) -
                          static_cast<std::ptrdiff_t>(first_.process());
    if (skip < 0) skip += count;
    if (skip >= count_) return {nullptr, 0};
    return {tolocal(first_ + skip), (count_ - skip + count - 1) / count};
  }

 private:
  spread_ptr<T> first_;
  std::ptrdiff_t count_;
};

static_assert(sizeof(spread_ptr<int>) == 8 && std::is_trivially_copyable_v<spread_ptr<int>>);

}  // namespace viaduct::splitc
