#pragma once
// The malloc that Split-C programs are linked with.

#include "splitc/detail/heap.hpp"

namespace viaduct::splitc::detail {

/// Null where a sanitizer's malloc must stay.
[[nodiscard]] HeapHook heap_of_program() noexcept;

}  // namespace viaduct::splitc::detail
