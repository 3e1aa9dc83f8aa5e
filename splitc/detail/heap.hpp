#pragma once
// How a program's malloc comes to take memory that peers reach. The library leaves malloc alone;
// the library of main() (viaduct::splitc) brings one that can be directed and says so here.

#include <atomic>
#include <cstddef>

namespace viaduct::splitc::detail {

/// Directs this process' malloc into [begin, begin + bytes), which is zeroed and stays. False: this
/// process' malloc is another one.
using HeapHook = bool (*)(std::byte* begin, std::size_t bytes);

/// Before run(). Without one malloc stays as it is, and messages carry what lies in its memory.
void set_heap_hook(HeapHook hook) noexcept;
[[nodiscard]] HeapHook heap_hook() noexcept;

/// In checked mode: what operator new and delete tell of. A block is followed by kHeapRedZone bytes
/// that are not used, and begins and ends at a multiple of kHeapRedZone.
struct HeapWatch {
  void (*allocated)(void* block, std::size_t bytes) noexcept;
  /// Takes the block over: gives it to free(), now or later.
  void (*deleted)(void* block) noexcept;
};
extern constinit std::atomic<const HeapWatch*> heap_watch;  // null: not checked
inline constexpr std::size_t kHeapRedZone = 16;

/// Alignment of the heap's part of the region.
inline constexpr std::size_t kHeapAlignment = std::size_t{32} << 20;

}  // namespace viaduct::splitc::detail
