#pragma once
/// @file
/// Litmus tests: a few operations that several processes make at the same time, many times over,
/// and which of their outcomes may not come. docs/memory-model.md has the table.

#include <array>
#include <cstdint>
#include <span>

#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {

inline constexpr std::uint32_t kMaxRoles = 4;
inline constexpr std::uint32_t kResults = 2;  // of one role
inline constexpr std::size_t kLarge = 100'000;

/// Words of global memory that one run works on; zero before.
struct Instance {
  splitc::global_ptr<long> x;
  splitc::global_ptr<long> y;
  splitc::global_ptr<std::byte> x_block;  // kBlock bytes behind x
  splitc::global_ptr<std::byte> x_large;  // kLarge bytes, where x is
  // The process' own, and in nobody else's way.
  splitc::global_ptr<long> own_word;
  splitc::global_ptr<splitc::lock_t> own_lock;
  std::uint32_t role = 0;   // this process'; kMaxRoles: none, it takes part in collective calls
  std::uint32_t round = 0;  // differs from run to run, from 1
  bool one_sided = false;   // x is mapped: what is one-sided must not need the target
  std::array<long, kResults> r{};
};
inline constexpr std::size_t kBlock = 100;

/// What came of one run.
struct Outcome {
  std::array<std::array<long, kResults>, kMaxRoles> r{};
  long x = 0;  // at the end
  long y = 0;
};

// between_hosts: a device's RDMA, which need not write a word whole.
enum Paths : unsigned { kNever = 0, kDirect = 1, kRdma = 2, kMessage = 4, kBetweenHosts = 8 };
inline constexpr unsigned kMapped = kDirect | kRdma;
inline constexpr unsigned kNotDirect = kRdma | kMessage;

/// Where the words are.
enum class Owners : std::uint8_t {
  any,        // each in another process from batch to batch
  x_at_0,     // x in role 0's process
  y_at_1,     // y in role 1's process
  both_at_1,  // both in role 1's process
};

struct Case {
  const char* name;
  std::uint32_t roles;
  Owners owners;
  bool collective;     // all processes run it, those without a role too
  bool wants_end;      // the values of x and y at the end are looked at
  std::uint32_t runs;  // in a batch
  unsigned weak_on;    // paths on which the weak outcome may come
  void (*body)(Instance&);
  bool (*is_weak)(const Outcome&);
  bool (*is_wrong)(const Outcome&);  // may come on no path; may be null
};

[[nodiscard]] std::span<const Case> word_cases();
[[nodiscard]] std::span<const Case> fence_cases();
[[nodiscard]] std::span<const Case> split_cases();
[[nodiscard]] std::span<const Case> store_cases();

/// Plain accesses to this process' own memory, that no compiler leaves out.
[[nodiscard]] inline long load_here(splitc::global_ptr<long> p) {
  return *static_cast<volatile long*>(splitc::tolocal(p));
}
/// The same of a word that another process may be writing.
[[nodiscard]] inline long look_here(splitc::global_ptr<long> p) {
  return __atomic_load_n(splitc::tolocal(p), __ATOMIC_RELAXED);
}
inline void store_here(splitc::global_ptr<long> p, long value) {
  *static_cast<volatile long*>(splitc::tolocal(p)) = value;
}

/// Lets about @p cycles pass without polling.
void pause_for(std::uint64_t cycles);
/// Of a clock that all processes share.
[[nodiscard]] long clock_cycles();
/// A random number below @p bound, another sequence in every process.
[[nodiscard]] std::uint32_t random_below(std::uint32_t bound);

}  // namespace viaduct::splitc_test
