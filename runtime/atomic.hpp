#pragma once
/// @file
/// Atomic words for headers that programs include. In C++20 the library's <atomic> brings its whole
/// waiting and locking machinery along, and takes longer to compile than all of Split-C.

#include <type_traits>

namespace viaduct {

/// How an access is ordered: one of the constants below, or a std::memory_order, where <atomic> is
/// there anyway.
class Order {
 public:
  constexpr explicit Order(int value) noexcept : value_(value) {}
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
  constexpr Order(E order) noexcept : value_(static_cast<int>(order)) {}
  [[nodiscard]] constexpr int value() const noexcept { return value_; }

 private:
  int value_;
};

inline constexpr Order kRelaxed{__ATOMIC_RELAXED};
inline constexpr Order kAcquire{__ATOMIC_ACQUIRE};
inline constexpr Order kRelease{__ATOMIC_RELEASE};
inline constexpr Order kSequential{__ATOMIC_SEQ_CST};

/// A word that several threads or processes use at the same time: std::atomic, as far as it is used
/// here, with the same meaning and the same place in memory.
template <class T>
class AtomicWord {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(__atomic_always_lock_free(sizeof(T), nullptr));

 public:
  constexpr AtomicWord() noexcept = default;
  constexpr AtomicWord(T value) noexcept : value_(value) {}
  AtomicWord(const AtomicWord&) = delete;
  AtomicWord& operator=(const AtomicWord&) = delete;

  [[nodiscard, gnu::always_inline]] T load(Order order = kSequential) const noexcept {
    T value;
    __atomic_load(&value_, &value, order.value());
    return value;
  }
  [[gnu::always_inline]] void store(T value, Order order = kSequential) noexcept {
    __atomic_store(&value_, &value, order.value());
  }
  [[gnu::always_inline]] T exchange(T value, Order order = kSequential) noexcept {
    T before;
    __atomic_exchange(&value_, &value, &before, order.value());
    return before;
  }
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T desired,
                                                      Order order = kSequential) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, order.value(),
                                     when_it_fails(order));
  }
  [[gnu::always_inline]] T fetch_add(T by, Order order = kSequential) noexcept {
    return __atomic_fetch_add(&value_, by, order.value());
  }
  [[gnu::always_inline]] T fetch_sub(T by, Order order = kSequential) noexcept {
    return __atomic_fetch_sub(&value_, by, order.value());
  }
  [[gnu::always_inline]] T fetch_or(T bits, Order order = kSequential) noexcept {
    return __atomic_fetch_or(&value_, bits, order.value());
  }
  [[gnu::always_inline]] T fetch_and(T bits, Order order = kSequential) noexcept {
    return __atomic_fetch_and(&value_, bits, order.value());
  }

 private:
  /// A failed exchange stores nothing: there is nothing to release.
  [[nodiscard]] static constexpr int when_it_fails(Order order) noexcept {
    if (order.value() == __ATOMIC_ACQ_REL) return __ATOMIC_ACQUIRE;
    return order.value() == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order.value();
  }

  alignas(sizeof(T)) T value_{};
};

/// One access to a word that is no AtomicWord, because other code uses it as a plain one:
/// std::atomic_ref, for load and store.
template <class T>
[[nodiscard, gnu::always_inline]] inline T load_word(const T& word, Order order) noexcept {
  T value;
  __atomic_load(&word, &value, order.value());
  return value;
}
template <class T>
[[gnu::always_inline]] inline void store_word(T& word, std::type_identity_t<T> value,
                                              Order order) noexcept {
  __atomic_store(&word, &value, order.value());
}

}  // namespace viaduct
