/// Stores: delivered at the target's poll points, in order, and counted there.

#include <algorithm>
#include <vector>

#include "tests/splitc/litmus.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::read;
using splitc::store;
using splitc::write;

/// How long a process computes, in cycles, where nobody may change its memory meanwhile.
constexpr std::uint64_t kComputes = 40'000;

void store_barrier(Instance& in) {
  if (in.role == 0) store(in.x, 1);
  splitc::barrier();
  if (in.role == 1) in.r[0] = load_here(in.x);
}
void store_all_store_sync(Instance& in) {
  if (in.role == 0) store(in.x, 1);
  splitc::all_store_sync();
  if (in.role == 1) in.r[0] = load_here(in.x);
}
bool not_there(const Outcome& o) { return o.r[1][0] == 0; }

void store_store(Instance& in) {
  if (in.role == 0) {
    store(in.x, 1);
    store(in.y, 1);
    return;
  }
  for (int i = 0; i < 60 && in.r[0] == 0; ++i) {
    splitc::poll();
    in.r[0] = load_here(in.y);
  }
  in.r[1] = load_here(in.x);
}

/// All runs of a batch store into the same block: the next one waits until this one has been looked
/// at.
void await_reader(Instance& in) {
  while (read(in.y) != 2) {
  }
}

void bulk_store_store(Instance& in) {
  const auto mark = static_cast<std::byte>(in.round % 251 + 1);
  const std::size_t bytes = in.round % 3 == 0 ? kLarge : in.round % 3 == 1 ? 3000 : kBlock;
  if (in.role == 0) {
    const std::vector<std::byte> block(bytes, mark);
    splitc::bulk_store(in.x_large, block.data(), bytes);
    store(in.y, 1);
    return await_reader(in);
  }
  while (in.r[0] == 0) {
    splitc::poll();
    in.r[0] = load_here(in.y);
  }
  const std::byte* const here = splitc::tolocal(in.x_large);
  in.r[1] = std::all_of(here, here + bytes, [&](std::byte b) { return b == mark; });
  write(in.y, 2);
}

void store_sync_counts(Instance& in) {
  if (in.role == 0) return store(in.x, 1);
  splitc::store_sync(sizeof(long));
  in.r[0] = load_here(in.x);
}
void is_stored_counts(Instance& in) {
  if (in.role == 0) return store(in.x, 1);
  while (!splitc::is_stored(sizeof(long))) {
  }
  in.r[0] = load_here(in.x);
  splitc::store_sync(sizeof(long));
}

/// x is where role 2 is, or elsewhere; what counts is that the store comes behind it.
void write_store(Instance& in) {
  if (in.role == 0) {
    write(in.x, 1);
    return store(in.y, 1);
  }
  splitc::store_sync(sizeof(long));
  in.r[0] = load_here(in.y);
  in.r[1] = read(in.x);
}
bool seen_too_early(const Outcome& o) { return o.r[1][0] == 1 && o.r[1][1] == 0; }

void store_write(Instance& in) {
  if (in.role == 0) {
    store(in.x, 1);
    return write(in.y, 1);
  }
  for (int looks = 1; look_here(in.y) == 0; ++looks)
    if (looks % 2000 == 0) splitc::poll();
  in.r[0] = 1;
  in.r[1] = load_here(in.x);
}

/// Role 1 computes; in.r[0] becomes 1 if a store changed its memory meanwhile.
void poll_point(Instance& in) {
  if (in.role == 0) return store(in.x, 1);
  const long before = load_here(in.x);
  pause_for(kComputes);
  in.r[0] = load_here(in.x) != before ? 1 : 0;
  splitc::store_sync(sizeof(long));
  in.r[1] = load_here(in.x);
}
void poll_point_bulk(Instance& in) {
  const auto mark = static_cast<std::byte>(in.round % 251 + 1);
  const std::size_t bytes = in.round % 2 == 0 ? kLarge : kBlock;
  if (in.role == 0) {
    const std::vector<std::byte> block(bytes, mark);
    splitc::bulk_store(in.x_large, block.data(), bytes);
    return await_reader(in);
  }
  volatile const std::byte* const here = splitc::tolocal(in.x_large);
  const auto look = [&] {
    return std::array{here[0] == mark, here[bytes / 2] == mark, here[bytes - 1] == mark};
  };
  const auto before = look();
  pause_for(kComputes);
  in.r[0] = look() != before ? 1 : 0;
  splitc::store_sync(bytes);
  in.r[1] = look() == std::array{true, true, true} ? 1 : 0;
  write(in.y, 2);
}
bool changed_while_computing(const Outcome& o) { return o.r[1][0] != 0; }
bool not_delivered(const Outcome& o) { return o.r[1][1] == 0; }

/// Role 1 does not poll until it has seen the value, where it can come by itself.
void store_now(Instance& in) {
  if (in.role == 0) {
    splitc::store_now(in.x, 1);
    return splitc::sync();
  }
  constexpr double kLimitSeconds = 120;
  const double end = splitc::get_seconds() + (in.one_sided ? kLimitSeconds : 0);
  while (look_here(in.x) == 0 && splitc::get_seconds() < end) {
  }
  in.r[0] = look_here(in.x);
  while (read(in.x) == 0) {
  }
}

constexpr auto kTarget = Owners::both_at_1;

constexpr Case kCases[] = {
    {"store_barrier", 2, kTarget, true, false, 64, kMapped | kMessage, store_barrier, not_there,
     nullptr},
    {"store_all_store_sync", 2, kTarget, true, false, 64, kNever, store_all_store_sync, not_there,
     nullptr},
    {"store_store", 2, kTarget, false, false, 128, kNever, store_store, seen_too_early, nullptr},
    {"bulk_store_store", 2, kTarget, false, false, 16, kNever, bulk_store_store, seen_too_early,
     nullptr},
    {"store_sync_counts", 2, kTarget, false, false, 128, kNever, store_sync_counts, not_there,
     nullptr},
    {"is_stored_counts", 2, kTarget, false, false, 128, kNever, is_stored_counts, not_there,
     nullptr},
    {"write_store", 2, Owners::y_at_1, false, false, 128, kNever, write_store, seen_too_early,
     nullptr},
    {"store_write", 2, kTarget, false, false, 128, kMapped, store_write, seen_too_early, nullptr},
    {"poll_point", 2, kTarget, false, false, 64, kNever, poll_point, changed_while_computing,
     not_delivered},
    {"poll_point_bulk", 2, kTarget, false, false, 16, kNever, poll_point_bulk,
     changed_while_computing, not_delivered},
    {"store_now", 2, kTarget, false, false, 64, kMessage, store_now, not_there, nullptr},
};

}  // namespace

std::span<const Case> store_cases() { return kCases; }

}  // namespace viaduct::splitc_test
