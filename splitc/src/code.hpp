#pragma once
// Functions by a number that is the same in all processes of a program: their distance from where
// the executable is loaded.

#include <cstdint>

#include "splitc/atomic.hpp"

namespace viaduct::splitc::detail {

/// 0: the function is not in the executable's own code.
[[nodiscard]] std::uint64_t number_of(CallThunk function) noexcept;
/// Null: there is none.
[[nodiscard]] CallThunk code_at(std::uint64_t number) noexcept;

}  // namespace viaduct::splitc::detail
