#pragma once
/// @file
/// What every process does in one phase, drawn from the seed, and what comes of it one operation
/// after the other. Each process works on its own slice of every process' memory, so that the
/// result does not depend on who is faster.

#include <cstdint>
#include <vector>

#include "tests/splitc/model_memory.hpp"

namespace viaduct::splitc_test {

enum class Kind : std::uint8_t {
  read,
  write,
  write_fenced,
  update,  // += and its like through a reference
  get,
  put,
  store,
  store_now,
  bulk_read,
  bulk_write,
  bulk_get,
  bulk_put,
  bulk_store,
  bulk_store_now,
  fetch_add,
  fetch_and,
  fetch_or,
  fetch_xor,
  swap,
  compare_swap,
  call_at,    // atomic<f>(pointer, ...)
  call_in,    // atomic<f>(process, ...)
  call_void,  // without a result
  poll,
  // Completion: of one operation or of all.
  sync,
  is_sync,
  wait,
  is_done,
};
inline constexpr std::uint32_t kDataKinds = static_cast<std::uint32_t>(Kind::sync);
[[nodiscard]] const char* name_of(Kind kind) noexcept;

/// How a place is named.
enum class Route : std::uint8_t { global, spread, reference };

struct Op {
  Kind kind{};
  Route route{};
  std::uint8_t type = 0;  // index into Types
  std::uint8_t arena = 0;
  std::uint32_t target = 0;
  std::uint32_t offset = 0;
  std::uint32_t count = 1;    // elements
  std::uint32_t operand = 0;  // where in Plan::data: what is written, or added
  std::uint32_t second = 0;   // what compare_swap expects; which += of update
  std::uint32_t result = 0;   // where in Plan::data: what must come back
  std::uint32_t landing = 0;  // of gets: where in the landing place
  std::uint32_t refers = 0;   // of wait, is_done: index of the operation
};

struct Plan {
  std::vector<Op> ops;
  std::vector<std::byte> data;
  std::uint32_t landing_bytes = 0;
};

/// Between landed values, and around them: must not be touched.
inline constexpr std::uint32_t kGuardBytes = 16;
inline constexpr std::uint32_t kMaxLanding = 128 * 1024;

/// What a phase is about.
struct Phase {
  std::uint64_t seed = 0;
  std::uint32_t number = 0;
  std::uint32_t procs = 1;
  std::uint32_t ops = 0;  // of each process
  bool reads_only = false;
};

/// What may be done with values of a type: the operations that a plan goes through in turn.
struct Pair {
  Kind kind;
  std::uint8_t type;
};
[[nodiscard]] const std::vector<Pair>& all_pairs();

/// What process @p process does in @p phase. @p contents become what they are after it; @p stored
/// [q] grows by the bytes that it stores to q.
[[nodiscard]] Plan make_plan(const Phase& phase, std::uint32_t process, Contents& contents,
                             std::vector<std::uint64_t>& stored);

// The functions that run at the owner, and what they do to the value there.
std::uint64_t stir(std::uint64_t* at, std::uint64_t value, std::uint32_t shift);
struct Answer {
  std::uint64_t before;
  std::uint64_t after;
  std::uint64_t value;
};
Answer stir_in(std::uint32_t arena, std::uint32_t offset, std::uint64_t value);
void scrub(std::uint64_t* at, std::uint64_t value);

}  // namespace viaduct::splitc_test
