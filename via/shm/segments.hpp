#pragma once
/// @file
/// Copies between the data segments of a descriptor and one piece of memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "via/copy.hpp"
#include "viaduct/via/descriptor.hpp"

namespace viaduct::via::shm {

/// Copies the segments of @p d from number @p first on to @p to, one behind the other.
/// Precondition: there is room for all of them.  Cost: a copy of each.
inline void gather(const Descriptor& d, std::uint32_t first, std::byte* to) noexcept {
  for (std::uint32_t i = first; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (s.length != 0) copy_bytes(to, s.address, s.length);
    to += s.length;
  }
}

/// Copies @p n bytes at @p from into the segments of @p d from number @p first on; bytes for which
/// the segments have no room are left out.  Cost: a copy for each.
inline void scatter(const Descriptor& d, std::uint32_t first, const std::byte* from,
                    std::uint32_t n) noexcept {
  for (std::uint32_t i = first; i < d.control.segment_count && n != 0; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    const std::uint32_t part = std::min(n, s.length);
    if (part != 0) copy_bytes(s.address, from, part);
    from += part;
    n -= part;
  }
}

}  // namespace viaduct::via::shm
