#pragma once
/// @file
/// This process' mappings, and sets of pages.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace viaduct {

/// Addresses, mostly of whole pages.
struct PageRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] std::size_t bytes() const noexcept { return end - begin; }
};

/// Takes the pages in @p hole out of @p from.  Throws std::bad_alloc.
void subtract(std::vector<PageRange>& from, PageRange hole);

/// A line of /proc/self/maps.
struct Mapping {
  PageRange range;
  bool anonymous = false;  ///< and private
  std::string name;        ///< of the file, or "[heap]"; empty: none
};

/// @return the mappings that touch @p range, in the order of their addresses; none where the file
/// cannot be read.  Cost: the kernel writes all of them.
[[nodiscard]] std::vector<Mapping> mappings_at(PageRange range);

}  // namespace viaduct
