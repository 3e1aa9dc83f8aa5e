/// atomic(), read-modify-write, locks.

#include "viaduct/splitc/atomic.hpp"

#include <cstddef>
#include <cstring>

#include "compiler-shim/runtime/c_callable.hpp"
#include "compiler-shim/runtime/checked.hpp"

namespace {

namespace splitc = viaduct::splitc;
using viaduct::shim::checked::Ordering;

template <class T>
splitc::global_ptr<T> pointer(vsc_word word) {
  return splitc::global_ptr<T>::from_word(word);
}

}  // namespace

extern "C" void vsc_atomic(vsc_word object, void (*thunk)(const void*, void*),
                           const void* arguments, unsigned long bytes, void* result,
                           unsigned long result_bytes) {
  const Ordering ordering;
  if (splitc::detail::address_of(object) == 0) splitc::detail::stop_null_call("atomic");
  // Pointers to objects of all types are passed alike.
  const auto call = reinterpret_cast<splitc::detail::CallThunk>(reinterpret_cast<void*>(thunk));
  splitc::detail::call_at_slow(splitc::detail::process_of(object), call, arguments, bytes, result,
                               result_bytes);
}

VIADUCT_C_CALLABLE int fetch_and_add(vsc_word to, int value) {
  const Ordering ordering;
  return splitc::fetch_add(pointer<int>(to), value);
}
VIADUCT_C_CALLABLE int fetch_add(vsc_word to, int value) {
  const Ordering ordering;
  return splitc::fetch_add(pointer<int>(to), value);
}
VIADUCT_C_CALLABLE int exchange(vsc_word to, int value) {
  const Ordering ordering;
  return splitc::swap(pointer<int>(to), value);
}
/// Sets the word to 1; answers the value before.
VIADUCT_C_CALLABLE int test_and_set(vsc_word to) {
  const Ordering ordering;
  return splitc::swap(pointer<int>(to), 1);
}
/// Writes `desired` where `expected` is; answers the value before.
VIADUCT_C_CALLABLE int cmp_and_swap(vsc_word to, int expected, int desired) {
  const Ordering ordering;
  return splitc::compare_swap(pointer<int>(to), expected, desired);
}

VIADUCT_C_CALLABLE void splitc_lock(vsc_word lock) {
  const Ordering ordering;
  splitc::lock(pointer<splitc::lock_t>(lock));
}
VIADUCT_C_CALLABLE int splitc_try_lock(vsc_word lock) {
  const Ordering ordering;
  return splitc::try_lock(pointer<splitc::lock_t>(lock)) ? 1 : 0;
}
VIADUCT_C_CALLABLE void splitc_unlock(vsc_word lock) {
  const Ordering ordering;
  splitc::unlock(pointer<splitc::lock_t>(lock));
}
