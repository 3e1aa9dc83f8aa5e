#pragma once
// How a program's malloc is made to take memory that peers reach. The Split-C library does not
// replace malloc; the library of main() (viaduct::splitc) brings a malloc that can be directed, and
// registers it here.

#include <atomic>
#include <cstddef>

namespace viaduct::splitc::detail {

/// Directs this process' malloc into [begin, begin + bytes), which is zeroed and stays mapped.
/// False: this process has another malloc.
using HeapHook = bool (*)(std::byte* begin, std::size_t bytes);

/// To be called before run(). Without a hook malloc is not directed, and data in its memory go by
/// message.
void set_heap_hook(HeapHook hook) noexcept;
[[nodiscard]] HeapHook heap_hook() noexcept;

/// In checked mode operator new and delete report their blocks to this object. A block is followed
/// by kHeapRedZone bytes that are not used, and begins and ends at a multiple of kHeapRedZone.
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
