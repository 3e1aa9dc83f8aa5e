#pragma once
/// @file
/// Reads, writes, gets and puts of any number of elements. Source: Begel et al. 2001, section 6.

#include <cstddef>

#include "viaduct/splitc/access.hpp"

namespace viaduct::splitc {

namespace detail {
void bulk_read(void* to, std::uint64_t from, std::size_t bytes);
void bulk_write(std::uint64_t to, const void* from, std::size_t bytes);
Handle bulk_get(void* to, std::uint64_t from, std::size_t bytes);
Handle bulk_put(std::uint64_t to, const void* from, std::size_t bytes);
}  // namespace detail

/// @p count elements at @p from into @p to. All of them lie in one process, one behind the other:
/// the next elements of a spread array lie in other processes.
///
/// Blocks      until they are here.  Progress: a poll point.
/// Order       as read(), for the block as a whole; its bytes are not atomic.
/// Cost        one copy where the memory is mapped; on the message path requests of up to 4 KiB,
///             through shared memory: one copy on either side. Between hosts by RDMA, without the
///             owner's part, from 256 bytes on (VIADUCT_SPLITC_RDMA_FROM), and below that where it
///             is faster; else requests of up to 64 KiB, which the owner's device carries out
///             (docs/splitc.md).
/// Errors      as read(); stops the program with a sentence when @p to is null.
template <Value T>
inline void bulk_read(std::type_identity_t<std::remove_cv_t<T>>* to, global_ptr<T> from,
                      std::size_t count, detail::Here at = detail::here()) {
  at.check("bulk_read", from.word(), detail::bytes_of<T>(count));
  detail::bulk_read(to, from.word(), detail::bytes_of<T>(count));
}
/// @p count elements at @p from to @p to. Blocks until all are there.
/// Order: as write(), for the block as a whole. Otherwise as bulk_read().
template <Variable T>
inline void bulk_write(global_ptr<T> to, const std::type_identity_t<T>* from, std::size_t count,
                       detail::Here at = detail::here()) {
  at.check("bulk_write", to.word(), detail::bytes_of<T>(count));
  const detail::Source source(at, "bulk_write", to.word(), from, detail::bytes_of<T>(count));
  detail::bulk_write(to.word(), from, detail::bytes_of<T>(count));
  source.check();
}
/// Split-phase: sync() or wait() completes it; @p to is unspecified until then.
/// Blocks: only while requests to that process use up its credits, or blocks under way the staging
/// memory (VIADUCT_SPLITC_STAGING). Order: none, with anything, until sync(). Otherwise as
/// bulk_read().
template <Value T>
inline Handle bulk_get(std::type_identity_t<std::remove_cv_t<T>>* to, global_ptr<T> from,
                       std::size_t count, detail::Here at = detail::here()) {
  at.check("bulk_get", from.word(), detail::bytes_of<T>(count));
  return detail::bulk_get(to, from.word(), detail::bytes_of<T>(count));
}
/// Split-phase, as bulk_get(). @p from may be changed when the call returns.  Order as there.
/// Blocks: as bulk_get(); 8 KiB and more by RDMA until the device has read them.
template <Variable T>
inline Handle bulk_put(global_ptr<T> to, const std::type_identity_t<T>* from, std::size_t count,
                       detail::Here at = detail::here()) {
  at.check("bulk_put", to.word(), detail::bytes_of<T>(count));
  const detail::Source source(at, "bulk_put", to.word(), from, detail::bytes_of<T>(count));
  const Handle handle = detail::bulk_put(to.word(), from, detail::bytes_of<T>(count));
  source.check();
  return handle;
}

}  // namespace viaduct::splitc
