#pragma once
// The parts of single-value access that every type shares.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "viaduct/splitc/detail/hot.hpp"

namespace viaduct::splitc::detail {

/// Types that one instruction loads and stores, at their natural alignment.
template <class T>
inline constexpr bool kIsWord = std::is_trivially_copyable_v<T> &&
                                (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 ||
                                 sizeof(T) == 8) &&
                                alignof(T) == sizeof(T);

template <std::size_t N>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = std::uint64_t;
};
template <class T>
using BitsOf = typename UnsignedOf<sizeof(T)>::type;

/// The places that keep accesses in order. A build with VIADUCT_DROP_FENCE=name leaves that one
/// out: the litmus tests must then fail (docs/memory-model.md says which of them can).
enum class Fence : std::uint8_t { none, load, store, rmw, write_fenced, sync, store_sync, call };
#ifndef VIADUCT_DROP_FENCE
#define VIADUCT_DROP_FENCE none
#endif
[[nodiscard]] constexpr bool stands(Fence where) noexcept {
  return where != Fence::VIADUCT_DROP_FENCE;
}

template <class T>
[[nodiscard]] inline T load_word(const std::byte* place) noexcept {
  const BitsOf<T> bits = __atomic_load_n(reinterpret_cast<const BitsOf<T>*>(place),
                                         stands(Fence::load) ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
  return std::bit_cast<std::remove_cv_t<T>>(bits);
}
template <class T>
inline void store_word(std::byte* place, const T& value) noexcept {
  BitsOf<T> bits;
  std::memcpy(&bits, &value, sizeof(T));
  __atomic_store_n(reinterpret_cast<BitsOf<T>*>(place), bits,
                   stands(Fence::store) ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
}

/// Room for a value of a type that may be without a default constructor.
template <class T>
union Room {
  Room() noexcept {}
  std::remove_cv_t<T> value;
};

/// The bytes of @p count elements; more than any memory has when the product overflows.
template <class T>
[[nodiscard]] constexpr std::size_t bytes_of(std::size_t count) noexcept {
  constexpr std::size_t kMost = static_cast<std::size_t>(-1);
  return count <= kMost / sizeof(T) ? count * sizeof(T) : kMost;
}

/// One split-phase operation; an all-zero one is complete. Tickets number a channel's requests, or
/// its transfers.
struct Handle {
  // An operation is complete when the owner has handled it, when its reply has come, or when
  // the transfer has ended.
  static constexpr std::uint16_t kHandled = 0;
  static constexpr std::uint16_t kReplied = 1;
  static constexpr std::uint16_t kTransferred = 2;
  std::uint64_t ticket = 0;
  std::uint32_t process = 0;
  std::uint16_t channel = 0;
  std::uint16_t kind = kHandled;
};

// For cases that the inline paths do not cover: places that are not in the view, other paths,
// errors.
void read_slow(std::uint64_t from, void* to, std::size_t bytes);
void write_slow(std::uint64_t to, const void* from, std::size_t bytes);
void write_fenced_slow(std::uint64_t to, const void* from, std::size_t bytes);  // without the fence
Handle get_slow(void* to, std::uint64_t from, std::size_t bytes);
Handle put_slow(std::uint64_t to, const void* from, std::size_t bytes);

/// Null: not all of them are mapped.
[[nodiscard]] void* mapped_objects(std::uint64_t first, std::size_t count, std::size_t bytes_each);

// For words that are not aligned. By value, so that the inline paths keep theirs in registers.
template <class T>
[[gnu::noinline]] T read_value(std::uint64_t from) {
  if constexpr (kIsWord<T>) {
    if (const std::byte* place = place_in_view(from)) {
      light_poll();
      return load_word<T>(place);
    }
  }
  Room<T> room;
  read_slow(from, &room.value, sizeof(T));
  return room.value;
}
/// Stores a word that is in the view of its process; false: it is not.
template <class T>
inline bool store_in_view(std::uint64_t to, const T& value) {
  if constexpr (kIsWord<T>) {
    if (std::byte* place = place_in_view(to)) {
      light_poll();
      store_word<T>(place, value);
      return true;
    }
  }
  return false;
}
template <class T>
[[gnu::noinline]] void write_value(std::uint64_t to, T value) {
  if (store_in_view(to, value)) return;
  write_slow(to, &value, sizeof(T));
}
template <class T>
[[gnu::noinline]] void write_fenced_value(std::uint64_t to, T value) {
  if (store_in_view(to, value)) return;
  write_fenced_slow(to, &value, sizeof(T));
}
template <class T>
[[gnu::noinline]] Handle get_value(T* to, std::uint64_t from) {
  if constexpr (kIsWord<T>) {
    if (const std::byte* place = place_in_view(from)) {
      light_poll();
      *to = load_word<T>(place);
      return {};
    }
  }
  return get_slow(to, from, sizeof(T));
}
template <class T>
[[gnu::noinline]] Handle put_value(std::uint64_t to, T value) {
  if (store_in_view(to, value)) return {};
  return put_slow(to, &value, sizeof(T));
}

/// Orders every access before it before every one after it.
template <Fence Where>
inline void full_fence() noexcept {
  if constexpr (stands(Where)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace viaduct::splitc::detail
