#pragma once
/// @file
/// This process' mappings, what its pages allow, and sets of pages.

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
  int access = 0;          ///< PROT_READ, PROT_WRITE, PROT_EXEC
  std::string name;        ///< of the file, or "[heap]"; empty: none
};

/// @return the mappings that touch @p range, in the order of their addresses; none where the file
/// cannot be read.  Cost: the kernel writes all of them.
[[nodiscard]] std::vector<Mapping> mappings_at(PageRange range);

/// @return whether all pages of [address, address + bytes) are mapped.  Cost: a system call.
[[nodiscard]] bool is_mapped(const void* address, std::size_t bytes) noexcept;

/// @return whether this process may write to the page of @p address; true where the kernel does not
/// say.  Nothing is altered, but the page becomes present.  Cost: a system call.
[[nodiscard]] bool is_page_writable(const void* address) noexcept;

}  // namespace viaduct
