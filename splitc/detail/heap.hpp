#pragma once
// How a program's malloc comes to take memory that peers reach. The library leaves malloc alone;
// the library of main() (viaduct::splitc) brings one that can be directed and says so here.

#include <cstddef>

namespace viaduct::splitc::detail {

/// Directs this process' malloc into [begin, begin + bytes), which is zeroed and stays. False: this
/// process' malloc is another one.
using HeapHook = bool (*)(std::byte* begin, std::size_t bytes);

/// Before run(). Without one malloc stays as it is, and messages carry what lies in its memory.
void set_heap_hook(HeapHook hook) noexcept;
[[nodiscard]] HeapHook heap_hook() noexcept;

/// Alignment of the heap's part of the region.
inline constexpr std::size_t kHeapAlignment = std::size_t{32} << 20;

}  // namespace viaduct::splitc::detail
