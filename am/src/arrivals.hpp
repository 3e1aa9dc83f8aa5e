#pragma once
// What a dispatcher looks at before it hands a message over.

#include <cstdint>

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am::detail {

/// @return why the line at @p slot does not begin a message; null: it does.
[[nodiscard]] const char* find_nonsense(Map& map, const via::Slot& slot,
                                        std::uint64_t head) noexcept;
/// @return why @p m is none of the messages that a peer may send now; null: it is one, and a
/// payload in the medium ring is held for it.
[[nodiscard]] const char* find_nonsense(Map& map, Deferred& m) noexcept;

/// @return the place of a medium reply that did not fit the ring.
[[nodiscard, gnu::cold]] OverflowBlock& arrived_overflow(Map& map, const Deferred& m) noexcept;

}  // namespace viaduct::am::detail
