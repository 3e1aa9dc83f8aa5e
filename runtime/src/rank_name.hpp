#pragma once
/// @file
/// Which rank the calling thread is, for messages written where no Job is at hand.

#include <cstdint>
#include <string>

namespace viaduct {

/// Remembers that the calling thread is @p rank; kNoRankName forgets it.
inline constexpr std::uint32_t kNoRankName = 0xffffffff;
void name_this_thread(std::uint32_t rank) noexcept;

/// The rank that the calling thread is, or kNoRankName.
[[nodiscard]] std::uint32_t rank_of_this_thread() noexcept;

/// "[rank N] " in a thread or a process that is one, else "".
[[nodiscard]] std::string rank_prefix();

}  // namespace viaduct
