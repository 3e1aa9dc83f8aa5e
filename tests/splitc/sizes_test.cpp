/// @file
/// Structures of every size from 1 to 100 bytes, by every operation that takes a value, in memory
/// of every kind of the next process.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/splitc/off_node.hpp"
#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

constexpr std::size_t kMost = 100;
constexpr std::size_t kElements = 3;  // of bulk operations
constexpr std::size_t kRoom = kMost * kElements + 64;
constexpr std::uint8_t kUntouched = 0xA5;

enum Way {
  kWrite,
  kFenced,
  kAssign,
  kPut,
  kStore,
  kStoreNow,
  kBulkWrite,
  kBulkPut,
  kBulkStore,
  kBulkStoreNow,
  kWays
};
constexpr const char* kWayNames[kWays] = {"write",      "write_fenced",  "assignment", "put",
                                          "store",      "store_now",     "bulk_write", "bulk_put",
                                          "bulk_store", "bulk_store_now"};

template <std::size_t N>
struct Value {
  std::uint8_t at[N];
};

using Room = std::array<std::uint8_t, kRoom>;
Room g_zeroed;
Room g_initialised{1};
enum Kind { kSpread, kHeap, kZeroed, kInitialised, kStack, kKinds };
constexpr const char* kKindNames[kKinds] = {"spread memory", "heap", "zeroed static",
                                            "initialised static", "stack"};

template <std::size_t N>
Value<N> value_of(int process, std::size_t element, std::size_t way) {
  Value<N> v;
  for (std::size_t i = 0; i < N; ++i)
    v.at[i] = static_cast<std::uint8_t>(i * 7 + element * 31 + way * 57 + N +
                                        static_cast<std::size_t>(process) * 13);
  return v;
}

class Sizes {
 public:
  explicit Sizes(std::uint8_t* stack)
      : heap_(std::make_unique<Room>()), spread_(all_malloc<Room>(1)) {
    mine_ = {spread_->data(), heap_->data(), g_zeroed.data(), g_initialised.data(), stack};
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      next_[kind] =
          all_gather(toglobal(mine_[kind]))[static_cast<std::size_t>((MYPROC + 1) % PROCS)];
  }

  template <std::size_t... I>
  bool run(std::index_sequence<I...>) {
    bool right = in_place();
    for (std::size_t way = 0; way < kWays; ++way) ((right = right && one<I + 1>(way)), ...);
    return right;
  }

 private:
  /// What mapped() answers for the next process' memory, and that it is that memory.
  bool in_place() {
    const char* const path = std::getenv("VIADUCT_SPLITC_PATH");
    const bool direct =
        (path == nullptr || path == std::string("auto") || path == std::string("direct")) &&
        !viaduct::splitc_test::is_remote((MYPROC + 1) % PROCS);
    bool right = mapped(next_[kSpread], SIZE_MAX) == nullptr;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      std::memset(mine_[kind], MYPROC + 1, kRoom);
      barrier();
      std::uint8_t* const there = mapped(next_[kind], kRoom);
      if (PROCS == 1)
        right = right && there == mine_[kind];
      else if (!direct)
        right = right && there == nullptr;
      else if (kind == kSpread)
        right = right && there != nullptr;
      if (there != nullptr)
        for (std::size_t i = 0; i < kRoom; ++i)
          right = right && there[i]++ == (MYPROC + 1) % PROCS + 1;
      const bool previous_did =
          all_gather(there != nullptr
                         ? 1
                         : 0)[static_cast<std::size_t>((MYPROC + PROCS - 1) % PROCS)] == 1;
      for (std::size_t i = 0; i < kRoom; ++i)
        right = right && mine_[kind][i] == MYPROC + 1 + (previous_did ? 1 : 0);
      barrier();
    }
    if (!right) std::printf("process %d: mapped() is wrong\n", MYPROC);
    return right;
  }

  /// To the next process by @p way, looked at there, and read back by all ways of reading.
  template <std::size_t N>
  bool one(std::size_t way) {
    const std::size_t kind = (N + way) % kKinds;  // the same in all processes
    const std::size_t offset = (N * 3 + way) % 32;
    const std::size_t count = way >= kBulkWrite ? kElements : 1;
    std::memset(mine_[kind], kUntouched, kRoom);
    barrier();
    const auto to = global_ptr<Value<N>>(next_[kind] + static_cast<std::ptrdiff_t>(offset));
    send<N>(to, way);
    finish(way, count * N);
    barrier();
    bool right = true;
    Room wanted;
    wanted.fill(kUntouched);
    for (std::size_t e = 0; e < count; ++e) {
      const Value<N> v = value_of<N>((MYPROC + PROCS - 1) % PROCS, e, way);
      std::memcpy(wanted.data() + offset + e * N, v.at, N);
    }
    if (std::memcmp(wanted.data(), mine_[kind], kRoom) != 0) right = complain<N>(way, kind, "came");
    if (!reads_back<N>(to, way, count)) right = complain<N>(way, kind, "was read back");
    barrier();
    return right;
  }

  template <std::size_t N>
  void send(global_ptr<Value<N>> to, std::size_t way) {
    std::array<Value<N>, kElements> v;
    for (std::size_t e = 0; e < kElements; ++e) v[e] = value_of<N>(MYPROC, e, way);
    switch (way) {
      case kWrite:
        return write(to, v[0]);
      case kFenced:
        return write_fenced(to, v[0]);
      case kAssign:
        *to = v[0];
        return;
      case kPut:
        put(to, v[0]);
        return;
      case kStore:
        return store(to, v[0]);
      case kStoreNow:
        return store_now(to, v[0]);
      case kBulkWrite:
        return bulk_write(to, v.data(), kElements);
      case kBulkPut:
        bulk_put(to, v.data(), kElements);
        return;
      case kBulkStore:
        return bulk_store(to, v.data(), kElements);
      default:
        return bulk_store_now(to, v.data(), kElements);
    }
  }

  void finish(std::size_t way, std::size_t bytes) {
    splitc::sync();
    if (way == kStore || way == kBulkStore) store_sync(bytes);
  }

  template <std::size_t N>
  bool reads_back(global_ptr<Value<N>> from, std::size_t way, std::size_t count) {
    const Value<N> wanted = value_of<N>(MYPROC, 0, way);
    const auto same = [&](const Value<N>& v) { return std::memcmp(v.at, wanted.at, N) == 0; };
    const Value<N> by_reference = *from;
    Value<N> got;
    std::array<Value<N>, kElements> block;
    std::array<Value<N>, kElements> gotten;
    get(&got, from);
    bulk_get(gotten.data(), from, count);
    bulk_read(block.data(), from, count);
    splitc::sync();
    bool right = same(read(from)) && same(by_reference) && same(got);
    for (std::size_t e = 0; e < count; ++e) {
      const Value<N> v = value_of<N>(MYPROC, e, way);
      right = right && std::memcmp(v.at, block[e].at, N) == 0;
      right = right && std::memcmp(v.at, gotten[e].at, N) == 0;
    }
    return right;
  }

  template <std::size_t N>
  bool complain(std::size_t way, std::size_t kind, const char* what) {
    std::printf("process %d: %zu bytes by %s, %s: not what was sent %s\n", MYPROC, N,
                kWayNames[way], kKindNames[kind], what);
    return false;
  }

  std::unique_ptr<Room> heap_;
  Room* spread_;
  std::array<std::uint8_t*, kKinds> mine_{};
  std::array<global_ptr<std::uint8_t>, kKinds> next_{};
};

}  // namespace

int splitc_main(int, char**) {
  Room stack;
  Sizes sizes(stack.data());
  const bool right = sizes.run(std::make_index_sequence<kMost>());
  return all_reduce_and(right ? 1 : 0) == 1 ? 0 : 1;
}
