/// The library's functions that are not collective: bulk operations, completion, time.

#include <cstddef>

#include "compiler-shim/runtime/c_callable.hpp"
#include "compiler-shim/runtime/checked.hpp"
#include "compiler-shim/runtime/leave_together.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/splitc.hpp"
#include "viaduct/splitc/bulk.hpp"

namespace splitc_of_c = viaduct::splitc;
namespace checked = viaduct::shim::checked;

/// The address behind the call of the enclosing function.
#define VIADUCT_CALLER __builtin_return_address(0)

VIADUCT_C_CALLABLE void bulk_read(void* to, vsc_word from, std::size_t bytes) {
  splitc_of_c::detail::bulk_read(to, from, bytes);
  checked::note_bulk(checked::Kind::bulk_read, from, to, bytes, VIADUCT_CALLER);
}
VIADUCT_C_CALLABLE void bulk_write(vsc_word to, const void* from, std::size_t bytes) {
  splitc_of_c::detail::bulk_write(to, from, bytes);
  checked::note_bulk(checked::Kind::bulk_write, to, from, bytes, VIADUCT_CALLER);
}
VIADUCT_C_CALLABLE void bulk_get(void* to, vsc_word from, std::size_t bytes) {
  (void)splitc_of_c::detail::bulk_get(to, from, bytes);
  checked::note_bulk(checked::Kind::bulk_get, from, to, bytes, VIADUCT_CALLER);
}
VIADUCT_C_CALLABLE void bulk_put(vsc_word to, const void* from, std::size_t bytes) {
  (void)splitc_of_c::detail::bulk_put(to, from, bytes);
  checked::note_bulk(checked::Kind::bulk_put, to, from, bytes, VIADUCT_CALLER);
}
VIADUCT_C_CALLABLE void bulk_store(vsc_word to, const void* from, std::size_t bytes) {
  splitc_of_c::detail::bulk_store(to, from, bytes);
  checked::note_bulk(checked::Kind::bulk_store, to, from, bytes, VIADUCT_CALLER);
}

VIADUCT_C_CALLABLE void barrier() {
  splitc_of_c::barrier();
  viaduct::shim::leave_together("barrier");
}
extern "C" void splitc_sync() {
  splitc_of_c::sync();
  checked::note_poll();
}
VIADUCT_C_CALLABLE int is_sync() {
  checked::note_poll();
  return splitc_of_c::is_sync() ? 1 : 0;
}
VIADUCT_C_CALLABLE void store_sync(std::size_t bytes) {
  splitc_of_c::store_sync(bytes);
  checked::note_acquire();
}
VIADUCT_C_CALLABLE int is_store_sync(std::size_t bytes) {
  if (!splitc_of_c::is_stored(bytes)) return 0;
  checked::note_acquire();
  return 1;
}
VIADUCT_C_CALLABLE void reset_store_sync() { splitc_of_c::reset_store_sync(); }
VIADUCT_C_CALLABLE void all_store_sync() {
  splitc_of_c::all_store_sync();
  viaduct::shim::leave_together("all_store_sync");
}
VIADUCT_C_CALLABLE void splitc_poll() {
  splitc_of_c::poll();
  checked::note_poll();
}

VIADUCT_C_CALLABLE double get_seconds() { return splitc_of_c::get_seconds(); }
/// Nanoseconds, from a clock that does not jump.
VIADUCT_C_CALLABLE unsigned long get_ctr() { return viaduct::monotonic_ns(); }
