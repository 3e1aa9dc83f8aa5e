/// Gets and puts: unordered until sync().

#include "tests/splitc/litmus.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::barrier;
using splitc::get;
using splitc::put;
using splitc::read;
using splitc::sync;

void put_sync_barrier(Instance& in) {
  if (in.role == 0) {
    put(in.x, 1);
    sync();
  }
  barrier();
  if (in.role == 1) in.r[0] = read(in.x);
}
void put_barrier(Instance& in) {
  if (in.role == 0) put(in.x, 1);
  barrier();
  if (in.role == 1) in.r[0] = read(in.x);
  if (in.role == 0) sync();
}
bool not_there(const Outcome& o) { return o.r[1][0] == 0; }

void put_sync_write(Instance& in) {
  if (in.role == 0) {
    put(in.x, 1);
    sync();
    splitc::write(in.y, 1);
  } else {
    for (int i = 0; i < 60 && in.r[0] == 0; ++i) in.r[0] = read(in.y);
    in.r[1] = read(in.x);
  }
}
void put_wait_write(Instance& in) {
  if (in.role == 0) {
    splitc::wait(put(in.x, 1));
    splitc::write(in.y, 1);
  } else {
    for (int i = 0; i < 60 && in.r[0] == 0; ++i) in.r[0] = read(in.y);
    in.r[1] = read(in.x);
  }
}
bool seen_too_early(const Outcome& o) { return o.r[1][0] == 1 && o.r[1][1] == 0; }

void put_get(Instance& in) {
  put(in.x, 1);
  get(&in.r[0], in.x);
  sync();
}
bool got_old(const Outcome& o) { return o.r[0][0] == 0; }
bool neither_old_nor_new(const Outcome& o) {
  return (o.r[0][0] != 0 && o.r[0][0] != 1) || o.x != 1;
}

void put_put(Instance& in) {
  put(in.x, 1);
  put(in.x, 2);
  sync();
}
bool ends_with_first(const Outcome& o) { return o.x == 1; }
bool ends_with_none(const Outcome& o) { return o.x != 1 && o.x != 2; }

void get_write(Instance& in) {
  get(&in.r[0], in.x);
  splitc::write(in.x, 1);
  sync();
}
bool got_later(const Outcome& o) { return o.r[0][0] == 1; }

/// Between sync() and sync() a process may do as it likes: each pair of them is a fence for gets.
void sync_get(Instance& in) {
  put(in.x, 1);
  sync();
  get(&in.r[0], in.x);
  sync();
}
bool got_before_sync(const Outcome& o) { return o.r[0][0] != 1; }

constexpr auto kAny = Owners::any;

constexpr Case kCases[] = {
    {"put_sync_barrier", 2, kAny, true, false, 64, kNever, put_sync_barrier, not_there, nullptr},
    {"put_barrier", 2, kAny, true, false, 64, kNotDirect, put_barrier, not_there, nullptr},
    {"put_sync_write", 2, kAny, false, false, 128, kNever, put_sync_write, seen_too_early, nullptr},
    {"put_wait_write", 2, kAny, false, false, 128, kNever, put_wait_write, seen_too_early, nullptr},
    {"put_get", 1, kAny, false, true, 128, kNotDirect, put_get, got_old, neither_old_nor_new},
    {"put_put", 1, kAny, false, true, 128, kNotDirect, put_put, ends_with_first, ends_with_none},
    {"get_write", 1, kAny, false, true, 128, kNotDirect, get_write, got_later, neither_old_nor_new},
    {"sync_get", 1, kAny, false, true, 128, kNever, sync_get, got_before_sync, nullptr},
};

}  // namespace

std::span<const Case> split_cases() { return kCases; }

}  // namespace viaduct::splitc_test
