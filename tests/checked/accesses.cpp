/// Every operation, one element behind a spread array and across its end.

#include <array>
#include <vector>

#include "tests/checked/mistakes.hpp"

namespace viaduct::splitc_test {
namespace {

using namespace splitc;

constexpr const char* kFile = "accesses.cpp";
constexpr std::size_t kCount = 10;  // ints in each process
constexpr std::size_t kArrayBytes = kCount * sizeof(int);
using Large = std::array<int, 25>;  // more than a message carries

/// Of the next process; allocated by all before anything else.
global_ptr<int> the_array() {
  static const auto array = all_malloc<int>(kCount);
  return toglobal(next_process(), array);
}

struct Access {
  const char* name;
  const char* operation;
  std::size_t bytes;
  int line;
  void (*act)(global_ptr<int> behind);
  bool is_usual = false;
};

global_ptr<lock_t> as_lock(global_ptr<int> p) { return global_ptr<lock_t>(p); }
global_ptr<Large> large(global_ptr<int> p) { return global_ptr<Large>(p); }
std::vector<int> g_block(100);
void nothing(int*) {}

// The line of each is that of its call.
#define AS(NAME, OPERATION, BYTES, CALL)                   \
  {                                                        \
    NAME, OPERATION, BYTES, __LINE__, [](auto p) { CALL; } \
  }
#define USUAL(NAME, OPERATION, BYTES, CALL)                      \
  {                                                              \
    NAME, OPERATION, BYTES, __LINE__, [](auto p) { CALL; }, true \
  }

const Access kAccesses[] = {
    USUAL("read", "read", 4, (void)read(p)),
    USUAL("write", "write", 4, write(p, 1)),
    AS("write_fenced", "write_fenced", 4, write_fenced(p, 1)),
    AS("spread", "read", 4, (void)read(spread_ptr<int>(p))),
    USUAL("subscript", "read", 4, (void)static_cast<int>(p[0])),
    USUAL("assign", "write", 4, p[0] = 1),
    AS("add", "write", 4, p[0] += 1),
    AS("get", "get", 4, (void)get(g_block.data(), p)),
    AS("put", "put", 4, put(p, 1)),
    USUAL("store", "store", 4, store(p, 1)),
    AS("store_on", "store", 4, store(p, 1, store_counter{1})),
    AS("store_now", "store_now", 4, store_now(p, 1)),
    AS("read_large", "read", 100, (void)read(large(p))),
    AS("put_large", "put", 100, put(large(p), Large{})),
    USUAL("bulk_read", "bulk_read", 8, bulk_read(g_block.data(), p, 2)),
    AS("bulk_write", "bulk_write", 8, bulk_write(p, g_block.data(), 2)),
    AS("bulk_get", "bulk_get", 8, bulk_get(g_block.data(), p, 2)),
    AS("bulk_put", "bulk_put", 8, bulk_put(p, g_block.data(), 2)),
    AS("bulk_store", "bulk_store", 8, bulk_store(p, g_block.data(), 2)),
    AS("bulk_store_now", "bulk_store_now", 8, bulk_store_now(p, g_block.data(), 2)),
    AS("mapped", "mapped", 8, (void)mapped(p, 2)),
    USUAL("fetch_add", "fetch_add", 4, (void)fetch_add(p, 1)),
    AS("fetch_and", "fetch_and", 4, (void)fetch_and(p, 1)),
    AS("fetch_or", "fetch_or", 4, (void)fetch_or(p, 1)),
    AS("fetch_xor", "fetch_xor", 4, (void)fetch_xor(p, 1)),
    AS("swap", "swap", 4, (void)swap(p, 1)),
    AS("compare_swap", "compare_swap", 4, (void)compare_swap(p, 0, 1)),
    AS("lock", "lock", 8, lock(as_lock(p))),
    AS("try_lock", "try_lock", 8, (void)try_lock(as_lock(p))),
    AS("unlock", "unlock", 8, unlock(as_lock(p))),
    {"reference", "read", 4, 0, [](auto p) { (void)static_cast<int>(*p); }},
    {"assign_reference", "write", 4, 0, [](auto p) { *p = 1; }, true},
    {"add_reference", "write", 4, 0, [](auto p) { *p += 1; }},
    {"atomic", "atomic", 1, 0, [](auto p) { atomic<nothing>(p); }},
};

std::string said_by(const Access& a) {
  return "rank 0. " +
         (a.line != 0 ? operation_at(a.operation, kFile, a.line) : operation_in_code(a.operation));
}

}  // namespace

void add_access_mistakes(Misuses& all) {
  const global_ptr<int> array = the_array();
  for (const Access& a : kAccesses) {
    if (std::string(a.operation) == "mapped" && mapped(array) == nullptr) continue;
    const std::string what = said_by(a) + bytes_of(a.bytes, 1 % PROCS);
    all.push_back({std::string("behind_") + a.name, kStopped,
                   what + " are outside: they begin 0 bytes behind the end of " +
                       block_of(kArrayBytes) +
                       ", allocated at [^ ]*accesses.cpp:[0-9]+: look at .*VIA-4021",
                   [array, &a] { a.act(array + kCount); }, a.is_usual});
    if (a.bytes <= 4) continue;
    all.push_back({std::string("across_") + a.name, kStopped,
                   what + " are partly outside: " + std::to_string(a.bytes - 4) +
                       " of them are behind the end of " + block_of(kArrayBytes) + ", allocated at",
                   [array, &a] { a.act(array + (kCount - 1)); }});
  }
}

}  // namespace viaduct::splitc_test
