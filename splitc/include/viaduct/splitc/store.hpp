#pragma once
/// @file
/// Stores: one-way writes; only the target learns of them, by counting bytes. Source: Culler et
/// al., Introduction to Split-C, 1995, section on signalling stores; Begel et al. 2001, section 6.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "viaduct/splitc/access.hpp"
#include "viaduct/splitc/detail/checked_calls.hpp"
#include "viaduct/splitc/store_counter.hpp"

namespace viaduct::splitc {

namespace detail {
void store_slow(std::uint64_t to, const void* from, std::size_t bytes);
/// @p bits: the value, in the lower @p bytes bytes.
void store_bits(std::uint64_t to, std::uint64_t bits, std::uint32_t bytes);
/// Counts @p bytes bytes that this process has stored to itself.
void count_own_store(std::size_t bytes) noexcept;
void bulk_store(std::uint64_t to, const void* from, std::size_t bytes);
// The same three, counted at place @p count of the target, a store_counter's.
void store_slow_on(std::uint64_t to, const void* from, std::size_t bytes, std::uint32_t count);
/// @p form: store_form() of the value's bytes and the place.
void store_bits_on(std::uint64_t to, std::uint64_t bits, std::uint64_t form);
/// The part of a slot's header that depends on a store's size and counter; the compiler computes
/// it.
[[nodiscard]] constexpr std::uint64_t store_form(std::size_t bytes, std::uint32_t count) noexcept {
  return std::uint64_t{count} << 21 | std::uint64_t{bytes} << 8;
}
void bulk_store_on(std::uint64_t to, const void* from, std::size_t bytes, std::uint32_t count);
void bulk_store_now(std::uint64_t to, const void* from, std::size_t bytes);
void store_now_slow(std::uint64_t to, const void* from, std::size_t bytes);
template <class T>
[[gnu::noinline]] void store_now_value(std::uint64_t to, T value) {
  if (store_in_view(to, value)) return;
  store_now_slow(to, &value, sizeof(T));
}
}  // namespace detail

/// Stores @p value at @p to. The store is *delivered at a poll point of the target*: never while
/// the target computes, so that the target may go on using its memory until it polls.
///
/// Blocks      only while unacknowledged stores use up the credits of that process; polls then.
/// Progress    a poll point at least once in 16 calls for one process: processes that store to each
///             other in loops take several arrived stores at a time.
/// Order       stores of one process to another are delivered in call order; see store_sync().
/// Cost        one line of the ring to that process; one acknowledgement for a quarter of the
///             credits.
/// Errors      throws Error when that process is lost, as far as this call learns of it.
template <Variable T>
inline void store(global_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  at.check("store", to.word(), sizeof(T));
  if constexpr (detail::kIsWord<T>)
    detail::store_bits(to.word(), std::bit_cast<detail::BitsOf<T>>(value), sizeof(T));
  else
    detail::store_slow(to.word(), &value, sizeof(T));
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <Variable T>
inline void store(spread_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  store(global_ptr<T>(to), value, at);
}

/// The same, counted on the target's @p counter and not by store_sync(). Blocks, order and cost: as
/// above.
template <Variable T>
inline void store(global_ptr<T> to, std::type_identity_t<T> value, store_counter counter,
                  detail::Here at = detail::here()) {
  at.check("store", to.word(), sizeof(T));
  if constexpr (detail::kIsWord<T>)
    detail::store_bits_on(to.word(), std::bit_cast<detail::BitsOf<T>>(value),
                          detail::store_form(sizeof(T), counter.place()));
  else
    detail::store_slow_on(to.word(), &value, sizeof(T), counter.place());
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <Variable T>
inline void store(spread_ptr<T> to, std::type_identity_t<T> value, store_counter counter,
                  detail::Here at = detail::here()) {
  store(global_ptr<T>(to), value, counter, at);
}

/// Stores @p count elements. Above 4 KiB, to a process on this host that polls already, the target
/// copies straight from @p from. Where the target does not come within some microseconds, the data
/// go into staging memory, out of which the target copies at its poll point. A target on another
/// host copies by RDMA, and waits for its device at that poll point.
///
/// Blocks      while the staging memory has no room (VIADUCT_SPLITC_STAGING; blocks under way to
///             any process take it), polling, and until the target has copied more than it holds;
///             else as store().
/// Order       as store(). @p from may be changed when the call returns.
/// Errors      as store().
/// Cost        one copy, or two and a message for each 4 KiB (to another host: 64 KiB).
template <Variable T>
inline void bulk_store(global_ptr<T> to, const std::type_identity_t<T>* from, std::size_t count,
                       detail::Here at = detail::here()) {
  at.check("bulk_store", to.word(), detail::bytes_of<T>(count));
  const detail::Source source(at, "bulk_store", to.word(), from, detail::bytes_of<T>(count));
  detail::bulk_store(to.word(), from, detail::bytes_of<T>(count));
  source.check();
}
/// The same, counted on the target's @p counter and not by store_sync(). Blocks, order and cost: as
/// above.
template <Variable T>
inline void bulk_store(global_ptr<T> to, const std::type_identity_t<T>* from, std::size_t count,
                       store_counter counter, detail::Here at = detail::here()) {
  at.check("bulk_store", to.word(), detail::bytes_of<T>(count));
  const detail::Source source(at, "bulk_store", to.word(), from, detail::bytes_of<T>(count));
  detail::bulk_store_on(to.word(), from, detail::bytes_of<T>(count), counter.place());
  source.check();
}

/// One-sided: where the target's memory is mapped, the write takes effect at once and needs no poll
/// of the target; else it is a put. Not counted by store_sync(); sync(), then barrier() completes
/// it.  Blocks and costs as put().
template <Variable T>
inline void store_now(global_ptr<T> to, std::type_identity_t<T> value,
                      detail::Here at = detail::here()) {
  at.check("store_now", to.word(), sizeof(T));
  if constexpr (detail::kIsWord<T>) {
    if (std::byte* place = detail::aligned_place(to.word())) [[likely]] {
      detail::light_poll();
      detail::store_word<T>(place, value);
      return;
    }
  }
  detail::store_now_value(to.word(), value);
}
/// The same through a spread pointer. Blocks and costs as above.
template <Variable T>
inline void store_now(spread_ptr<T> to, std::type_identity_t<T> value,
                      detail::Here at = detail::here()) {
  store_now(global_ptr<T>(to), value, at);
}
/// store_now() of @p count elements.  Blocks and costs as bulk_put().
template <Variable T>
inline void bulk_store_now(global_ptr<T> to, const std::type_identity_t<T>* from, std::size_t count,
                           detail::Here at = detail::here()) {
  at.check("bulk_store_now", to.word(), detail::bytes_of<T>(count));
  const detail::Source source(at, "bulk_store_now", to.word(), from, detail::bytes_of<T>(count));
  detail::bulk_store_now(to.word(), from, detail::bytes_of<T>(count));
  source.check();
}

/// Blocks until @p bytes bytes of stores have been delivered to this process that no earlier
/// store_sync() has waited for, and takes them off the count.
///
/// store_sync() counts bytes and does not distinguish their senders. The trap: a process that waits
/// for the 8 bytes of each of two neighbours by store_sync(16) may be given both values of the
/// faster neighbour, of this step and of the next, and none of the slower one. Wherever more than
/// one process stores here, name a counter for each (store_counter), or use all_store_sync().
///
/// Errors: throws Error when a process is lost, and when no bytes have come for two seconds while
/// all other processes have returned from splitc_main or wait for this one in a collective call.
/// (Not in a program that also uses Active Messages, where a handler may still store.)
void store_sync(std::size_t bytes);
/// Whether store_sync(bytes) would return at once.  Progress: a poll point.
[[nodiscard]] bool is_stored(std::size_t bytes);
/// Forgets the bytes that have been delivered and not waited for.  Never waits; a poll point.
void reset_store_sync();
// Checked sources have it from detail/checked_calls.hpp.
#if !(VIADUCT_CHECKED + 0)
/// Collective. Blocks until every store of every process has been delivered; all counts of
/// store_sync() are 0 afterwards.
void all_store_sync();
#endif

}  // namespace viaduct::splitc
