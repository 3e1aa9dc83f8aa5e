/// The functions that files compiled by splitcc --checked call: gcc's -fsanitize=thread puts a call
/// of one of the functions __tsan_... before each access of memory that others can reach, and
/// split-c/checked.h makes one of each access by a global or spread pointer. The sanitizer's own
/// runtime is not linked.

#include <cstddef>

#include "compiler-shim/include/split-c/runtime.h"

#include "compiler-shim/include/split-c/checked.h"
#include "compiler-shim/runtime/checked_state.hpp"

#define VIADUCT_CALLER __builtin_return_address(0)

namespace {

using viaduct::shim::checked::is_noting;
using viaduct::shim::checked::Kind;
using viaduct::shim::checked::note_local;
using viaduct::shim::checked::state;

void local(const volatile void* at, std::size_t bytes, bool is_write, const void* caller) {
  if (is_noting()) note_local(at, bytes, is_write, Kind::local, caller);
}

/// An access by a global or spread pointer: the call polls first.
void word(vsc_word at, std::size_t bytes, bool is_write, Kind kind, const void* caller) {
  if (!is_noting()) return;
  state->clock.poll();
  viaduct::shim::checked::note(at, bytes, is_write, kind, caller);
  if (!is_write) state->clock.read();
}
void got(const void* to, std::size_t bytes, const void* caller) {
  if (is_noting()) note_local(to, bytes, true, Kind::get, caller);
}
/// The target may learn of the store by store_sync().
void stored() {
  if (is_noting()) state->clock.release();
}
[[gnu::constructor]] void turn_on() {
  viaduct::shim::checked::hooks = &viaduct::shim::checked::checker_hooks();
}
void after_write() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

}  // namespace

extern "C" {

// ---- The own memory ----

// A constructor of each checked file calls __tsan_init(), and splitcc --checked names it when it
// links, so that the checker is linked too.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** at, void*) { local(at, sizeof(void*), true, VIADUCT_CALLER); }
void __tsan_vptr_read(void** at) { local(at, sizeof(void*), false, VIADUCT_CALLER); }

#define VIADUCT_ACCESSES(prefix, bytes)                                           \
  void prefix##read##bytes(void* at) { local(at, bytes, false, VIADUCT_CALLER); } \
  void prefix##write##bytes(void* at) { local(at, bytes, true, VIADUCT_CALLER); }
VIADUCT_ACCESSES(__tsan_, 1)
VIADUCT_ACCESSES(__tsan_, 2)
VIADUCT_ACCESSES(__tsan_, 4)
VIADUCT_ACCESSES(__tsan_, 8)
VIADUCT_ACCESSES(__tsan_, 16)
VIADUCT_ACCESSES(__tsan_unaligned_, 2)
VIADUCT_ACCESSES(__tsan_unaligned_, 4)
VIADUCT_ACCESSES(__tsan_unaligned_, 8)
VIADUCT_ACCESSES(__tsan_unaligned_, 16)
VIADUCT_ACCESSES(__tsan_volatile_, 1)
VIADUCT_ACCESSES(__tsan_volatile_, 2)
VIADUCT_ACCESSES(__tsan_volatile_, 4)
VIADUCT_ACCESSES(__tsan_volatile_, 8)
VIADUCT_ACCESSES(__tsan_volatile_, 16)
void __tsan_read_range(void* at, unsigned long bytes) { local(at, bytes, false, VIADUCT_CALLER); }
void __tsan_write_range(void* at, unsigned long bytes) { local(at, bytes, true, VIADUCT_CALLER); }

// Atomic built-ins become calls, too. They race with no access, so that each only does its
// operation.
#define VIADUCT_ATOMIC(bits, type)                                                                 \
  type __tsan_atomic##bits##_load(const volatile type* at, int) {                                  \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int) {                           \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, void* expected, type value, \
                                                    int, int) {                                    \
    return __atomic_compare_exchange_n(at, static_cast<type*>(expected), value, false,             \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)                         \
               ? 1                                                                                 \
               : 0;                                                                                \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, void* expected, type value,   \
                                                  int, int) {                                      \
    return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, 0, 0);               \
  }                                                                                                \
  VIADUCT_ATOMIC_CHANGE(bits, type, exchange, exchange_n)                                          \
  VIADUCT_ATOMIC_CHANGE(bits, type, fetch_add, fetch_add)                                          \
  VIADUCT_ATOMIC_CHANGE(bits, type, fetch_sub, fetch_sub)                                          \
  VIADUCT_ATOMIC_CHANGE(bits, type, fetch_and, fetch_and)                                          \
  VIADUCT_ATOMIC_CHANGE(bits, type, fetch_or, fetch_or)                                            \
  VIADUCT_ATOMIC_CHANGE(bits, type, fetch_xor, fetch_xor)                                          \
  VIADUCT_ATOMIC_CHANGE(bits, type, fetch_nand, fetch_nand)
#define VIADUCT_ATOMIC_CHANGE(bits, type, name, builtin)                  \
  type __tsan_atomic##bits##_##name(volatile type* at, type value, int) { \
    return __atomic_##builtin(at, value, __ATOMIC_SEQ_CST);               \
  }
VIADUCT_ATOMIC(8, unsigned char)
VIADUCT_ATOMIC(16, unsigned short)
VIADUCT_ATOMIC(32, unsigned int)
VIADUCT_ATOMIC(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// ---- By global and spread pointers ----

void vsc_checked_read(void* to, vsc_word from, unsigned long bytes) {
  word(from, bytes, false, Kind::read, VIADUCT_CALLER);
  vsc_read(to, from, bytes);
}
void vsc_checked_write(vsc_word to, const void* from, unsigned long bytes) {
  word(to, bytes, true, Kind::write, VIADUCT_CALLER);
  vsc_write(to, from, bytes);
  after_write();
}
void vsc_checked_get(void* to, vsc_word from, unsigned long bytes) {
  word(from, bytes, false, Kind::get, VIADUCT_CALLER);
  got(to, bytes, VIADUCT_CALLER);
  vsc_get(to, from, bytes);
}
void vsc_checked_put(vsc_word to, const void* from, unsigned long bytes) {
  word(to, bytes, true, Kind::put, VIADUCT_CALLER);
  vsc_put(to, from, bytes);
}
void vsc_checked_store(vsc_word to, const void* from, unsigned long bytes) {
  word(to, bytes, true, Kind::store, VIADUCT_CALLER);
  stored();
  vsc_store(to, from, bytes);
}
void vsc_checked_write_bits(vsc_word to, const void* value, const void* mask, unsigned long bytes) {
  const auto* const bits = static_cast<const unsigned char*>(mask);
  for (unsigned long i = 0; i < bytes; ++i)
    if (bits[i] != 0) word(to + i, 1, true, Kind::write, VIADUCT_CALLER);
  vsc_write_bits(to, value, mask, bytes);
  after_write();
}

#define VIADUCT_CHECKED_WORDS(bytes, type)                 \
  type vsc_checked_read##bytes(vsc_word from) {            \
    word(from, bytes, false, Kind::read, VIADUCT_CALLER);  \
    return vsc_read##bytes(from);                          \
  }                                                        \
  type vsc_checked_write##bytes(vsc_word to, type value) { \
    word(to, bytes, true, Kind::write, VIADUCT_CALLER);    \
    vsc_write##bytes(to, value);                           \
    after_write();                                         \
    return value;                                          \
  }                                                        \
  void vsc_checked_get##bytes(void* to, vsc_word from) {   \
    word(from, bytes, false, Kind::get, VIADUCT_CALLER);   \
    got(to, bytes, VIADUCT_CALLER);                        \
    vsc_get##bytes(to, from);                              \
  }                                                        \
  type vsc_checked_put##bytes(vsc_word to, type value) {   \
    word(to, bytes, true, Kind::put, VIADUCT_CALLER);      \
    return vsc_put##bytes(to, value);                      \
  }                                                        \
  void vsc_checked_store##bytes(vsc_word to, type value) { \
    word(to, bytes, true, Kind::store, VIADUCT_CALLER);    \
    stored();                                              \
    vsc_store##bytes(to, value);                           \
  }
VIADUCT_CHECKED_WORDS(1, unsigned char)
VIADUCT_CHECKED_WORDS(2, unsigned short)
VIADUCT_CHECKED_WORDS(4, unsigned int)
VIADUCT_CHECKED_WORDS(8, unsigned long)

#define VIADUCT_CHECKED_FLOATS(name, type)                       \
  type vsc_checked_read_##name(vsc_word from) {                  \
    word(from, sizeof(type), false, Kind::read, VIADUCT_CALLER); \
    return vsc_read_##name(from);                                \
  }                                                              \
  type vsc_checked_write_##name(vsc_word to, type value) {       \
    word(to, sizeof(type), true, Kind::write, VIADUCT_CALLER);   \
    vsc_write_##name(to, value);                                 \
    after_write();                                               \
    return value;                                                \
  }                                                              \
  type vsc_checked_put_##name(vsc_word to, type value) {         \
    word(to, sizeof(type), true, Kind::put, VIADUCT_CALLER);     \
    return vsc_put_##name(to, value);                            \
  }                                                              \
  type vsc_checked_store_##name(vsc_word to, type value) {       \
    word(to, sizeof(type), true, Kind::store, VIADUCT_CALLER);   \
    stored();                                                    \
    return vsc_store_##name(to, value);                          \
  }
VIADUCT_CHECKED_FLOATS(f, float)
VIADUCT_CHECKED_FLOATS(d, double)

#define VIADUCT_CHECKED_WALKS(name, type)                                            \
  type vsc_checked_walk_read##name(vsc_walk*, vsc_word from) {                       \
    word(from, sizeof(type), false, Kind::read, VIADUCT_CALLER);                     \
    return vsc_read##name(from);                                                     \
  }                                                                                  \
  type vsc_checked_walk_write##name(vsc_walk*, vsc_word to, type value) {            \
    word(to, sizeof(type), true, Kind::write, VIADUCT_CALLER);                       \
    vsc_write##name(to, value);                                                      \
    after_write();                                                                   \
    return value;                                                                    \
  }                                                                                  \
  type vsc_checked_span_read##name(vsc_span*, vsc_word array, long i) {              \
    const vsc_word from = vsc_spread_add(array, i, sizeof(type));                    \
    word(from, sizeof(type), false, Kind::read, VIADUCT_CALLER);                     \
    return vsc_read##name(from);                                                     \
  }                                                                                  \
  type vsc_checked_span_write##name(vsc_span*, vsc_word array, long i, type value) { \
    const vsc_word to = vsc_spread_add(array, i, sizeof(type));                      \
    word(to, sizeof(type), true, Kind::write, VIADUCT_CALLER);                       \
    vsc_write##name(to, value);                                                      \
    after_write();                                                                   \
    return value;                                                                    \
  }                                                                                  \
  void vsc_checked_span_store##name(vsc_span*, vsc_word array, long i, type value) { \
    const vsc_word to = vsc_spread_add(array, i, sizeof(type));                      \
    word(to, sizeof(type), true, Kind::store, VIADUCT_CALLER);                       \
    stored();                                                                        \
    vsc_store##name(to, value);                                                      \
  }
VIADUCT_CHECKED_WALKS(1, unsigned char)
VIADUCT_CHECKED_WALKS(2, unsigned short)
VIADUCT_CHECKED_WALKS(4, unsigned int)
VIADUCT_CHECKED_WALKS(8, unsigned long)
VIADUCT_CHECKED_WALKS(_f, float)
VIADUCT_CHECKED_WALKS(_d, double)

}  // extern "C"
