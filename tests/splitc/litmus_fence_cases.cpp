/// Store buffering with something between the write and the read that must be a full fence.

#include "tests/splitc/litmus.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::read;
using splitc::write;

/// Role 0 writes x and reads y, role 1 the other way round.
template <class Between>
void write_and_read(Instance& in, Between&& between) {
  if (in.role > 1) return between();
  write(in.role == 0 ? in.x : in.y, 1);
  between();
  in.r[0] = read(in.role == 0 ? in.y : in.x);
}

void sync_fence(Instance& in) {
  (void)splitc::put(in.role == 0 ? in.x : in.y, 1);
  splitc::sync();
  in.r[0] = read(in.role == 0 ? in.y : in.x);
}
void store_sync_fence(Instance& in) {
  write_and_read(in, [] { splitc::store_sync(0); });
}
void all_store_sync_fence(Instance& in) {
  write_and_read(in, [] { splitc::all_store_sync(); });
}
void barrier_fence(Instance& in) {
  write_and_read(in, [] { splitc::barrier(); });
}
void fetch_add_fence(Instance& in) {
  write_and_read(in, [&] { (void)splitc::fetch_add(in.own_word, 1); });
}
void swap_fence(Instance& in) {
  write_and_read(in, [&] { (void)splitc::swap(in.own_word, 1); });
}
/// Fails to swap: it must be a fence all the same.
void compare_swap_fence(Instance& in) {
  write_and_read(in, [&] { (void)splitc::compare_swap(in.own_word, -1, 1); });
}
void fetch_add_both(Instance& in) {
  (void)splitc::fetch_add(in.role == 0 ? in.x : in.y, 1);
  in.r[0] = read(in.role == 0 ? in.y : in.x);
}
void lock_fence(Instance& in) {
  write_and_read(in, [&] { splitc::lock(in.own_lock); });
  splitc::unlock(in.own_lock);
}
void unlock_fence(Instance& in) {
  splitc::lock(in.own_lock);
  write_and_read(in, [&] { splitc::unlock(in.own_lock); });
}
void nothing() {}
void atomic_fence(Instance& in) {
  write_and_read(in, [&] { splitc::atomic<nothing>(MYPROC); });
}

bool both_zero(const Outcome& o) { return o.r[0][0] == 0 && o.r[1][0] == 0; }
/// A barrier in between: both writes are there when the reads begin.
bool one_zero(const Outcome& o) { return o.r[0][0] == 0 || o.r[1][0] == 0; }

constexpr auto kAny = Owners::any;

constexpr Case kCases[] = {
    {"sync_fence", 2, kAny, false, false, 128, kNever, sync_fence, both_zero, nullptr},
    {"store_sync_fence", 2, kAny, false, false, 128, kNever, store_sync_fence, both_zero, nullptr},
    {"all_store_sync_fence", 2, kAny, true, false, 64, kNever, all_store_sync_fence, one_zero,
     nullptr},
    {"barrier_fence", 2, kAny, true, false, 64, kNever, barrier_fence, one_zero, nullptr},
    {"fetch_add_fence", 2, kAny, false, false, 128, kNever, fetch_add_fence, both_zero, nullptr},
    {"swap_fence", 2, kAny, false, false, 128, kNever, swap_fence, both_zero, nullptr},
    {"compare_swap_fence", 2, kAny, false, false, 128, kNever, compare_swap_fence, both_zero,
     nullptr},
    {"fetch_add_both", 2, kAny, false, false, 128, kNever, fetch_add_both, both_zero, nullptr},
    {"atomic_fence", 2, kAny, false, false, 128, kNever, atomic_fence, both_zero, nullptr},
    {"lock_fence", 2, kAny, false, false, 128, kNever, lock_fence, both_zero, nullptr},
    {"unlock_fence", 2, kAny, false, false, 128, kNever, unlock_fence, both_zero, nullptr},
};

}  // namespace

std::span<const Case> fence_cases() { return kCases; }

}  // namespace viaduct::splitc_test
