#pragma once
// Functions by a number that is the same in all processes of a program: their distance from where
// the executable is loaded.

#include <cstdint>

#include "viaduct/splitc/atomic.hpp"

namespace viaduct::splitc::detail {

/// Where the executable's own code lies.
struct Code {
  std::uintptr_t load = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  /// 0: the function is not in it.
  [[nodiscard]] std::uint64_t number_of(CallThunk function) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(function);
    return at >= begin && at < end ? at - load : 0;
  }
  /// Null: there is none.
  [[nodiscard]] CallThunk at(std::uint64_t number) const noexcept {
    const std::uintptr_t at = number + load;
    return at >= begin && at < end ? reinterpret_cast<CallThunk>(at) : nullptr;
  }
};

[[nodiscard]] Code find_code() noexcept;

}  // namespace viaduct::splitc::detail
