#pragma once
// The symmetric region: the layout of its parts, and the mapping at its address.

#include <cstddef>
#include <cstdint>
#include <string>

#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct::splitc::detail {

/// Offsets from the region's beginning, the same in every process. In the file the region is
/// followed by one page, so that a word may cross the region's end, and by the static data.
struct RegionLayout {
  std::uint64_t base = 0;       ///< address in global pointers
  std::size_t alike_at = 0;  ///< so that a pointer to before the first object is in the region
  std::size_t alike_bytes = 0;
  std::size_t slices_at = 0;    ///< PROCS slices
  std::size_t slice_bytes = 0;
  std::size_t heap_at = 0;
  std::size_t heap_bytes = 0;
  std::size_t region_bytes = 0;
  std::size_t statics_at = 0;  ///< in the file
};

[[nodiscard]] RegionLayout lay_out(std::uint64_t base, std::size_t spread_bytes,
                                   std::size_t heap_bytes, std::uint32_t processes);

/// Maps @p bytes of @p fd at @p address and nowhere else. Throws Error that names the obstacle and
/// a setting that works.  @p fd -1: only reserves the addresses, and any access is an error.
[[nodiscard]] MappedMemory map_region_at(std::uint64_t address, std::size_t bytes, int fd);
/// Maps @p bytes of @p fd, from @p offset on, at any address; empty when the mapping is refused.
[[nodiscard]] MappedMemory map_region(std::size_t bytes, int fd, std::size_t offset = 0) noexcept;
/// Maps @p bytes of @p fd at @p address; empty when there is a mapping already, or when it is
/// refused.
[[nodiscard]] MappedMemory map_region_if_free(std::uint64_t address, std::size_t bytes,
                                              int fd) noexcept;

}  // namespace viaduct::splitc::detail
