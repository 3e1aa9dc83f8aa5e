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
  /// @p value: one of the compiler's __ATOMIC_ constants.  Never blocks.
  constexpr explicit Order(int value) noexcept : value_(value) {}
  /// The same order as a std::memory_order.  Never blocks.
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
  constexpr Order(E order) noexcept : value_(static_cast<int>(order)) {}
  /// @return the compiler's __ATOMIC_ constant.
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
  /// Holds @p value.  Order: none; other threads must not use the word yet.
  constexpr AtomicWord(T value) noexcept : value_(value) {}
  AtomicWord(const AtomicWord&) = delete;
  AtomicWord& operator=(const AtomicWord&) = delete;

  /// @return the value.  Cost: one load.
  [[nodiscard, gnu::always_inline]] T load(Order order = kSequential) const noexcept {
    T value;
    __atomic_load(&value_, &value, order.value());
    return value;
  }
  /// Replaces the value.  Cost: one store; a locked exchange where @p order is sequential.
  [[gnu::always_inline]] void store(T value, Order order = kSequential) noexcept {
    __atomic_store(&value_, &value, order.value());
  }
  /// Replaces the value.  @return the value before.  Cost: one locked instruction.
  [[gnu::always_inline]] T exchange(T value, Order order = kSequential) noexcept {
    T before;
    __atomic_exchange(&value_, &value, &before, order.value());
    return before;
  }
  /// Stores @p desired where the value is @p expected; else puts the value into @p expected.
  /// @return whether it has stored.  Cost: one locked instruction.
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T desired,
                                                      Order order = kSequential) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, order.value(),
                                     when_it_fails(order));
  }
  /// Adds @p by, wrapping around.  @return the value before.  Cost: one locked instruction.
  [[gnu::always_inline]] T fetch_add(T by, Order order = kSequential) noexcept {
    return __atomic_fetch_add(&value_, by, order.value());
  }
  /// Subtracts @p by, wrapping around.  @return the value before.  Cost: one locked instruction.
  [[gnu::always_inline]] T fetch_sub(T by, Order order = kSequential) noexcept {
    return __atomic_fetch_sub(&value_, by, order.value());
  }
  /// Sets @p bits.  @return the value before.  Cost: one locked instruction, or a loop
  /// of them where the result is used.
  [[gnu::always_inline]] T fetch_or(T bits, Order order = kSequential) noexcept {
    return __atomic_fetch_or(&value_, bits, order.value());
  }
  /// Clears all but @p bits.  @return the value before.  Cost: one locked instruction, or a loop
  /// of them where the result is used.
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
/// std::atomic_ref, for load and store.  Precondition: @p word is aligned to its size.
template <class T>
[[nodiscard, gnu::always_inline]] inline T load_word(const T& word, Order order) noexcept {
  T value;
  __atomic_load(&word, &value, order.value());
  return value;
}
/// As load_word(), for a store.  Precondition: @p word is aligned to its size.
template <class T>
[[gnu::always_inline]] inline void store_word(T& word, std::type_identity_t<T> value,
                                              Order order) noexcept {
  __atomic_store(&word, &value, order.value());
}

}  // namespace viaduct
