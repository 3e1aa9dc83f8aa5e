#pragma once
/// @file
/// Memory that every process reaches fast.

#include <cstddef>
#include <type_traits>

#include "viaduct/splitc/detail/collective_call.hpp"
#include "viaduct/splitc/spread_ptr.hpp"

namespace viaduct::splitc {

namespace detail {
std::uint64_t all_spread_malloc(std::size_t count, std::size_t bytes);
std::uint64_t spread_malloc(std::size_t count, std::size_t bytes);
void all_spread_free(std::uint64_t word);
void spread_free(std::uint64_t word);
void* all_malloc(std::size_t count, std::size_t bytes);
void all_free(void* address);
}  // namespace detail

/// Collective. A spread array of @p count elements, zeroed: ceil(count / PROCS) of them in each
/// process, at the same address; the first in process 0. Every process gets the same pointer.
///
/// Blocks      until every process has made the call, polling meanwhile, as all collective calls
///             do.
/// Cost        a reduction; the pages of this process' part are reserved.
/// Errors      throws Error that names the exhausted memory and the remedy, in every process alike,
///             when one of them has no room.
template <class T>
[[nodiscard]] inline spread_ptr<T> all_spread_malloc(std::size_t count,
                                                     detail::Here at = detail::here()) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 128);
  const detail::CallScope scope(at);
  return spread_ptr<T>::from_word(detail::all_spread_malloc(count, sizeof(T)));
}
/// Collective: blocks until every process has made the call. Frees an array of all_spread_malloc()
/// or all_malloc(), which take the same memory; null is fine. Stops the program with a sentence for
/// any other pointer.
template <class T>
inline void all_spread_free(spread_ptr<T> array, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  detail::all_spread_free(array.word());
}

/// The same by one process alone: the array lies in all processes, the others learn of it from the
/// caller. Pages are reserved in the caller only: the others' are taken when they are written to.
/// Blocks: never. Throws Error that names the exhausted memory and the remedy.
template <class T>
[[nodiscard]] inline spread_ptr<T> spread_malloc(std::size_t count,
                                                 detail::Here at = detail::here()) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 128);
  const detail::CallScope scope(at);
  return spread_ptr<T>::from_word(detail::spread_malloc(count, sizeof(T)));
}
/// Frees an array of spread_malloc(), by any process, once; null is fine. Stops the program with a
/// sentence for any other pointer.
/// Blocks until every process has cleared its part in one of its polls.
template <class T>
inline void spread_free(spread_ptr<T> array, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  detail::spread_free(array.word());
}

/// Collective. @p count elements in every process at the same address, zeroed: toglobal(q, p) is
/// process q's copy. Otherwise as all_spread_malloc().
template <class T>
[[nodiscard]] inline T* all_malloc(std::size_t count, detail::Here at = detail::here()) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 128);
  const detail::CallScope scope(at);
  return static_cast<T*>(detail::all_malloc(count, sizeof(T)));
}
/// Collective, as all_spread_free(): frees memory of all_malloc().
template <class T>
inline void all_free(T* p, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  detail::all_free(p);
}

}  // namespace viaduct::splitc
