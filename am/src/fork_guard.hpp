#pragma once
// A child that a rank forks shares the rank's rings. Calls that the child must not make are noticed
// at no cost to the rank: fork() itself closes the inline paths in the child.

#include <cstdint>

namespace viaduct::am {

/// From now on a forked child finds @p word one higher than it was; before that @p also(@p
/// argument) is called in it.
void raise_in_forked_children(std::uint32_t& word, void (*also)(void*), void* argument);
/// No longer.
void leave_forked_children(std::uint32_t& word) noexcept;

}  // namespace viaduct::am
