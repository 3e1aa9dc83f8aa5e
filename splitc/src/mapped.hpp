#pragma once
// Whether there is memory at an address.

#include <cstddef>

namespace viaduct::splitc::detail {

/// Whether something is mapped at all of [address, address + bytes). Cost: a system call, unless
/// all of it lies in one page that was found before. What is unmapped after it was found is not
/// noticed.
[[nodiscard]] bool is_mapped(const std::byte* address, std::size_t bytes) noexcept;

}  // namespace viaduct::splitc::detail
