#pragma once
/// @file
/// Copies by non-temporal stores.

#include <array>
#include <cstddef>

namespace viaduct::via::detail {

using StreamCopy = void (*)(void* to, const void* from, std::size_t bytes) noexcept;

/// One function for each instruction set and walk, in the order of CopyMethod. Each may be called
/// only where the CPU has its instructions.
extern const std::array<StreamCopy, 6> stream_copies;

}  // namespace viaduct::via::detail
