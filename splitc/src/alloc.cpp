/// Spread memory: allocation by all processes together, or by one process for all.

#include "viaduct/splitc/alloc.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/detail/machine.hpp"
#include "splitc/src/machine_impl.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc/atomic.hpp"
#include "viaduct/splitc/collective.hpp"
#include "viaduct/splitc/detail/reduce.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::size_t kTooMuch = std::numeric_limits<std::size_t>::max();

/// count * bytes; kTooMuch, which no memory has, when the product overflows.
std::size_t multiply(std::size_t count, std::size_t bytes) {
  std::size_t product = 0;
  return __builtin_mul_overflow(count, bytes, &product) ? kTooMuch : product;
}

/// Bytes of one process' elements.
std::size_t share_of(std::size_t count, std::size_t bytes) {
  return multiply(count / hot.procs + (count % hot.procs != 0 ? 1 : 0), bytes);
}

/// The result of an allocation: of one process, or combined over all.
struct Outcome {
  std::uint64_t low;       // address
  std::uint64_t high;      //
  std::uint32_t refusing;  // the first process that has no room; PROCS: all have
};

/// The arguments of a call, which all processes must call with the same ones.
struct Arguments {
  std::uint64_t first;  // a count or a pointer
  std::uint64_t bytes_each = 0;
};

/// A process that calls anything else than @p kind with @p arguments ends the job with a sentence.
Outcome meet(CollectiveKind kind, Arguments arguments, std::uint64_t address, bool refuses) {
  const Outcome mine{address, address, refuses ? hot.myproc : hot.procs};
  return agree(kind, arguments.first, arguments.bytes_each, mine, [](Outcome a, Outcome b) {
    return Outcome{std::min(a.low, b.low), std::max(a.high, b.high),
                   std::min(a.refusing, b.refusing)};
  });
}

/// The sentence of one process' Error, for all.
struct Sentence {
  std::array<char, 600> text{};
  int code = 0;
};

Sentence sentence_of(const Error& problem) {
  Sentence s;
  problem.sentence().copy(s.text.data(), s.text.size() - 1);
  s.code = problem.code().value();
  return s;
}

/// Allocates the same span of @p bytes bytes in every process, or throws the same Error in each.
std::uint64_t allocate_alike(CollectiveKind kind, Arguments arguments, std::size_t bytes) {
  const char* const operation = to_string(kind);
  Memory& memory = machine(operation).memory();
  std::uint64_t address = 0;
  Sentence why;
  try {
    address = memory.allocate_alike(bytes);
  } catch (const Error& problem) {
    why = sentence_of(problem);
  }
  const Outcome all = meet(kind, arguments, address, address == 0);
  if (all.refusing == hot.procs) {
    if (all.low != all.high)
      stop(errors::collectives_differ, operation,
           fmt::format("answers {:#x} in one process and {:#x} in another: earlier "
                       "collective allocations or frees were not the same in all",
                       all.low, all.high));
    return address;
  }
  if (address != 0) memory.cancel_alike(address);
  const Sentence theirs = all_bcast(why, static_cast<int>(all.refusing));
  throw Error(
      errors::spread_memory_full, theirs.code,
      fmt::format("{}: process {} has no room: {}", operation, all.refusing, theirs.text.data()));
}

/// Waits for all processes, so that no part is freed while another process still uses it.
void free_alike(CollectiveKind kind, std::uint64_t word) {
  const char* const operation = to_string(kind);
  Memory& memory = machine(operation).memory();
  const std::uint64_t address = address_of(word);
  (void)meet(kind, {word}, 0, false);
  if (address == 0) return;
  if (process_of(word) != 0 || memory.owner_of(address) != kMaxProcesses ||
      memory.bytes_at(address) == 0)
    stop(errors::not_an_array, operation,
         fmt::format("process {}, address {:#x} is not where an array begins that is allocated: "
                     "pass what {} answered, once",
                     process_of(word), address,
                     kind == CollectiveKind::release ? "all_malloc" : "all_spread_malloc"));
  memory.release_alike(address);
}

// The parts of spread_free() at the owner of a slice, and in every process.
std::uint64_t begin_free(std::uint64_t address) {
  return machine_in_call("spread_free").memory().begin_release_own(address);
}
void clear_here(std::uint64_t address, std::uint64_t bytes) {
  machine_in_call("spread_free").memory().clear(address, bytes);
}
void end_free(std::uint64_t address) {
  machine_in_call("spread_free").memory().release_own(address);
}

}  // namespace

std::uint64_t all_spread_malloc(std::size_t count, std::size_t bytes) {
  return make_word(
      0, allocate_alike(CollectiveKind::allocate_spread, {count, bytes}, share_of(count, bytes)));
}

void all_spread_free(std::uint64_t word) { free_alike(CollectiveKind::release_spread, word); }

void* all_malloc(std::size_t count, std::size_t bytes) {
  return machine("all_malloc")
      .memory()
      .localize(allocate_alike(CollectiveKind::allocate, {multiply(count, bytes)},
                               multiply(count, bytes)));
}

void all_free(void* address) {
  const std::uint64_t word =
      address == nullptr ? 0 : machine("all_free").memory().globalize(address);
  free_alike(CollectiveKind::release, word);
}

std::uint64_t spread_malloc(std::size_t count, std::size_t bytes) {
  Memory& memory = machine("spread_malloc").memory();
  try {
    return make_word(0, memory.allocate_own(share_of(count, bytes)));
  } catch (const Error& problem) {
    const Sentence s = sentence_of(problem);
    throw Error(errors::spread_memory_full, s.code,
                fmt::format("spread_malloc: {}", s.text.data()));
  }
}

void spread_free(std::uint64_t word) {
  constexpr const char* kOperation = "spread_free";
  Memory& memory = machine(kOperation).memory();
  const std::uint64_t address = address_of(word);
  if (address == 0) return;
  machine(kOperation).impl().check_may_wait(kOperation);
  const std::uint32_t owner = memory.owner_of(address);
  const bool begins = process_of(word) == 0 && owner < kMaxProcesses;
  const std::uint64_t bytes = begins ? atomic<begin_free>(static_cast<int>(owner), address) : 0;
  if (bytes == 0)
    stop(errors::not_an_array, kOperation,
         fmt::format("process {}, address {:#x} is not where an array begins that is allocated: "
                     "pass what spread_malloc answered, once",
                     process_of(word), address));
  for (std::uint32_t process = 0; process < hot.procs; ++process)
    atomic<clear_here>(static_cast<int>(process), address, bytes);
  atomic<end_free>(static_cast<int>(owner), address);
}

}  // namespace viaduct::splitc::detail
