#pragma once
/// @file
/// Elapsed nanoseconds by the invariant time-stamp counter; by CLOCK_MONOTONIC where the CPU has
/// none.

#include <cstdint>

#include "viaduct/runtime/clock.hpp"

namespace viaduct::bench {

class Stopwatch {
 public:
  Stopwatch() noexcept : start_(now()) {}
  [[nodiscard]] double elapsed_ns() const noexcept {
    return static_cast<double>(now() - start_) * ns_per_unit();
  }

 private:
  static bool by_counter() noexcept {
    static const bool invariant = has_invariant_tsc();
    return invariant;
  }
  static std::uint64_t now() noexcept { return by_counter() ? ticks_now() : monotonic_ns(); }
  static double ns_per_unit() noexcept {
    static const double ns = by_counter() ? 1 / ticks_per_ns() : 1.0;
    return ns;
  }
  std::uint64_t start_;
};

}  // namespace viaduct::bench
