/// Accesses that the inline functions of split-c/runtime.h do not cover: memory that is not mapped,
/// other paths, values of any size.

#include "viaduct/splitc/access.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "compiler-shim/runtime/c_callable.hpp"
#include "viaduct/splitc/bulk.hpp"
#include "viaduct/splitc/store.hpp"

namespace {

using viaduct::splitc::detail::Alignment;
using viaduct::splitc::detail::Hot;

/// Stores to this process itself without a message.
template <class Word>
void store_word(vsc_word to, Word value) {
  const viaduct::splitc::detail::View view = viaduct::splitc::detail::hot.views->at(vsc_hot.myproc);
  const unsigned long at = to - view.first;
  if (at >= view.bytes) return viaduct::splitc::detail::store_bits(to, value, sizeof value);
  vsc_light_poll();
  std::memcpy(view.base + at, &value, sizeof value);
  viaduct::splitc::detail::count_own_store(sizeof value);
}

// Generated C reads these structs, so that their layouts must agree.
#define VIADUCT_SAME_PLACE(cpp, c, member)                      \
  static_assert(offsetof(cpp, member) == offsetof(c, member) && \
                sizeof(cpp::member) == sizeof(c::member))
VIADUCT_SAME_PLACE(Hot, vsc_hot_part, aligned_bit);
VIADUCT_SAME_PLACE(Hot, vsc_hot_part, next_header);
VIADUCT_SAME_PLACE(Hot, vsc_hot_part, empty_header);
VIADUCT_SAME_PLACE(Hot, vsc_hot_part, attention);
VIADUCT_SAME_PLACE(Hot, vsc_hot_part, myproc);
VIADUCT_SAME_PLACE(Hot, vsc_hot_part, procs);
static_assert(sizeof(Hot) == sizeof(vsc_hot_part));
VIADUCT_SAME_PLACE(Alignment, vsc_alignment_part, first);
VIADUCT_SAME_PLACE(Alignment, vsc_alignment_part, bytes);
VIADUCT_SAME_PLACE(Alignment, vsc_alignment_part, origin);
VIADUCT_SAME_PLACE(Alignment, vsc_alignment_part, step);
VIADUCT_SAME_PLACE(Alignment, vsc_alignment_part, procs);
static_assert(sizeof(Alignment) == sizeof(vsc_alignment_part));
static_assert(viaduct::splitc::detail::kProcessShift == 48);
static_assert(viaduct::splitc::detail::kAddressMask == VSC_ADDRESS_MASK);
static_assert(viaduct::splitc::detail::kAlignedBit == VSC_ALIGNED_BIT);

}  // namespace

extern "C" {

void vsc_poll_slow() { viaduct::splitc::detail::poll_slow(); }

void vsc_read(void* to, vsc_word from, unsigned long bytes) {
  viaduct::splitc::detail::read_slow(from, to, bytes);
}
void vsc_write(vsc_word to, const void* from, unsigned long bytes) {
  viaduct::splitc::detail::write_slow(to, from, bytes);
}
void vsc_get(void* to, vsc_word from, unsigned long bytes) {
  (void)viaduct::splitc::detail::get_slow(to, from, bytes);
}
void vsc_put(vsc_word to, const void* from, unsigned long bytes) {
  (void)viaduct::splitc::detail::put_slow(to, from, bytes);
}
void vsc_write_bits(vsc_word to, const void* value, const void* mask, unsigned long bytes) {
  const auto* const bits = static_cast<const unsigned char*>(mask);
  const auto* const from = static_cast<const unsigned char*>(value);
  unsigned long first = 0;
  unsigned long end = bytes;
  while (first < end && bits[first] == 0) ++first;
  while (end > first && bits[end - 1] == 0) --end;
  constexpr unsigned long kMost = 16;  // that a bit-field lies in: 8 and one on either side
  unsigned char there[kMost] = {};
  if (end == first || end - first > kMost) return;
  viaduct::splitc::detail::read_slow(to + first, there, end - first);
  for (unsigned long i = first; i < end; ++i)
    there[i - first] =
        static_cast<unsigned char>((there[i - first] & ~bits[i]) | (from[i] & bits[i]));
  viaduct::splitc::detail::write_slow(to + first, there, end - first);
}
void vsc_store(vsc_word to, const void* from, unsigned long bytes) {
  viaduct::splitc::detail::bulk_store(to, from, bytes);
}

namespace {

/// How many accesses of a walk go without a poll.
constexpr unsigned long kStretch = 128;

}  // namespace

// A walk that has just passed its stretch's beginning goes down, any other one up. A step up takes
// as much from `left` as it adds to the distance from `first`, so that `left` begins with twice as
// much.
vsc_walk vsc_walk_start(unsigned long before, vsc_word at, unsigned long bytes) {
  viaduct::splitc::detail::light_poll();
  const viaduct::splitc::detail::View view =
      viaduct::splitc::detail::hot.views->at(viaduct::splitc::detail::process_of(at));
  const unsigned long offset = at - view.first;
  if (offset >= view.bytes || view.bytes - offset < bytes) return {};
  const unsigned long most = kStretch * bytes;
  const bool down = before - at <= most;
  const unsigned long below = down ? std::min(offset, most) / bytes * bytes : 0;
  const unsigned long above = std::min(view.bytes - offset, down ? bytes : 2 * most);
  return {below + above / bytes * bytes, at - below,
          reinterpret_cast<unsigned long>(view.base) - view.first};
}
long vsc_spread_rows(long i) {
  const auto procs = static_cast<long>(vsc_hot.procs);
  return i / procs - (i % procs < 0 ? 1 : 0);
}
void vsc_own_store(unsigned long bytes) { viaduct::splitc::detail::count_own_store(bytes); }
vsc_span vsc_span_start(unsigned long before, vsc_word array, long i, unsigned long bytes) {
  const vsc_word at = vsc_spread_add(array, i, bytes);
  const vsc_walk walk =
      vsc_walk_start(vsc_spread_add(array, static_cast<long>(before), bytes), at, bytes);
  const auto index = static_cast<unsigned long>(i);
  return {walk.left / bytes, index - (at - walk.first) / bytes, walk.shift + at - index * bytes,
          array};
}

#define VIADUCT_WORDS(bytes, type)                                          \
  type vsc_read##bytes##_slow(vsc_word from) {                              \
    return viaduct::splitc::detail::read_value<type>(from);                 \
  }                                                                         \
  void vsc_write##bytes##_slow(vsc_word to, type value) {                   \
    viaduct::splitc::detail::write_value<type>(to, value);                  \
  }                                                                         \
  void vsc_get##bytes##_slow(void* to, vsc_word from) {                     \
    (void)viaduct::splitc::detail::get_value(static_cast<type*>(to), from); \
  }                                                                         \
  void vsc_put##bytes##_slow(vsc_word to, type value) {                     \
    (void)viaduct::splitc::detail::put_value<type>(to, value);              \
  }                                                                         \
  void vsc_store##bytes(vsc_word to, type value) { store_word(to, value); } \
  type vsc_element_read##bytes(vsc_word array, long i) {                    \
    return vsc_read##bytes(vsc_spread_add(array, i, bytes));                \
  }                                                                         \
  void vsc_element_write##bytes(vsc_word array, long i, type value) {       \
    (void)vsc_write##bytes(vsc_spread_add(array, i, bytes), value);         \
  }                                                                         \
  void vsc_element_store##bytes(vsc_word array, long i, type value) {       \
    store_word(vsc_spread_add(array, i, bytes), value);                     \
  }

VIADUCT_WORDS(1, unsigned char)
VIADUCT_WORDS(2, unsigned short)
VIADUCT_WORDS(4, unsigned int)
VIADUCT_WORDS(8, unsigned long)

}  // extern "C"
