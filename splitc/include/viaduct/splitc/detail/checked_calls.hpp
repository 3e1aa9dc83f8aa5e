#pragma once
// The functions of Split-C that are no templates, as checked sources have them: each knows the
// place of its call. A pointer to such a function points to the template of the same name, which
// does not know the place.

#include "viaduct/splitc/detail/collective_call.hpp"
#include "viaduct/splitc/detail/here.hpp"
#include "viaduct/splitc/global_ptr.hpp"

namespace viaduct::splitc {

struct lock_t;

namespace detail {
// The functions that sources call which are not checked: checked_calls.cpp.
void plain_barrier();
void plain_barrier_notify();
void plain_all_store_sync();
void plain_lock(global_ptr<lock_t> l);
[[nodiscard]] bool plain_try_lock(global_ptr<lock_t> l);
void plain_unlock(global_ptr<lock_t> l);

inline constexpr std::size_t kLockBytes = 8;
}  // namespace detail

#if VIADUCT_CHECKED + 0
/// As in sync.hpp.
inline void barrier(detail::Located at = detail::here()) {
  const detail::CallScope scope(at);
  detail::plain_barrier();
}
template <class Nothing = void>
Nothing barrier() {
  detail::plain_barrier();
}
/// As in sync.hpp.
inline void barrier_notify(detail::Located at = detail::here()) {
  const detail::CallScope scope(at);
  detail::plain_barrier_notify();
}
template <class Nothing = void>
Nothing barrier_notify() {
  detail::plain_barrier_notify();
}
/// As in store.hpp.
inline void all_store_sync(detail::Located at = detail::here()) {
  const detail::CallScope scope(at);
  detail::plain_all_store_sync();
}
template <class Nothing = void>
Nothing all_store_sync() {
  detail::plain_all_store_sync();
}

/// As in atomic.hpp.
inline void lock(global_ptr<lock_t> l, detail::Located at = detail::here()) {
  at.check("lock", l.word(), detail::kLockBytes);
  detail::plain_lock(l);
}
/// As in atomic.hpp.
[[nodiscard]] inline bool try_lock(global_ptr<lock_t> l, detail::Located at = detail::here()) {
  at.check("try_lock", l.word(), detail::kLockBytes);
  return detail::plain_try_lock(l);
}
/// As in atomic.hpp.
inline void unlock(global_ptr<lock_t> l, detail::Located at = detail::here()) {
  at.check("unlock", l.word(), detail::kLockBytes);
  detail::plain_unlock(l);
}
#endif

}  // namespace viaduct::splitc
