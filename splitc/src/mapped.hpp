#pragma once
// Whether there is memory at an address, and whether it may be written to.

#include <cstddef>

namespace viaduct::splitc::detail {

/// Whether all of [address, address + bytes) is mapped. Cost: a system call, unless all of it lies
/// in one page that was found before. Memory that is unmapped after it was found is not noticed.
[[nodiscard]] bool is_mapped(const std::byte* address, std::size_t bytes) noexcept;

/// The same for memory that may be written to; of several pages the first and the last are tried.
[[nodiscard]] bool is_writable(std::byte* address, std::size_t bytes) noexcept;

}  // namespace viaduct::splitc::detail
