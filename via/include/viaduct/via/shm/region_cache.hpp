#pragma once
/// @file
/// The memory region that a VI has used last.

#include <cstddef>
#include <cstdint>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via::shm {

class Nic;

/// A registered range that the last descriptor named: the common case needs no look into the
/// region table. region_cache.cpp.
struct RegionCache {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  MemoryHandle handle = MemoryHandle::none;
  // The entry's handle word, cleared by deregistration.
  const AtomicWord<std::uint32_t>* live = nullptr;
  const std::byte* window = nullptr;  // own window's base when the range lies in it
  [[nodiscard]] bool covers(const LocalSegment& s) const noexcept {
    const auto at = static_cast<std::size_t>(s.address - begin);
    return s.handle == handle && live != nullptr && at <= bytes && s.length <= bytes - at &&
           live->load(kRelaxed) == static_cast<std::uint32_t>(handle);
  }
  /// What an operation does with a segment.
  enum class Use : std::uint8_t { read, written };
  /// @return whether @p s lies in a region of @p tag, and whether the process may write to it where
  /// it is written; the region is remembered then.  Never blocks.  Cost: for another region than
  /// the last one a look into the NIC's table.
  [[nodiscard]] bool find(Nic& nic, ProtectionTag tag, const LocalSegment& s, Use use) noexcept;
};

}  // namespace viaduct::via::shm
