/// Operator new that throws std::bad_alloc when the heap is exhausted: mimalloc's operator new,
/// being C, aborts.

#ifdef VIADUCT_HAVE_MIMALLOC

#include <cstddef>
#include <cstdlib>
#include <new>

#include "splitc/detail/heap.hpp"

namespace {

using viaduct::splitc::detail::heap_watch;
using viaduct::splitc::detail::HeapWatch;
using viaduct::splitc::detail::kHeapRedZone;

/// Null when there is no memory and no handler that may free some; the handler's exceptions pass
/// through.
void* allocate_any(std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) bytes = 1;
  while (true) {
    void* place = nullptr;
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      place = std::malloc(bytes);
    else if (::posix_memalign(&place, alignment, bytes) != 0)
      place = nullptr;
    if (place != nullptr) return place;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) return nullptr;
    handler();
  }
}

/// In checked mode with unused bytes behind the block.
[[gnu::noinline]] void* allocate_watched(const HeapWatch& watch, std::size_t bytes,
                                         std::size_t alignment) {
  constexpr std::size_t kMore = 2 * kHeapRedZone;
  if (bytes + kMore < bytes) return nullptr;
  void* const place = allocate_any((bytes + kMore - 1) / kHeapRedZone * kHeapRedZone, alignment);
  if (place != nullptr) watch.allocated(place, bytes);
  return place;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  const HeapWatch* const watch = heap_watch.load(std::memory_order_acquire);
  if (watch != nullptr) [[unlikely]]
    return allocate_watched(*watch, bytes, alignment);
  return allocate_any(bytes, alignment);
}

void release(void* block) noexcept {
  const HeapWatch* const watch = heap_watch.load(std::memory_order_acquire);
  if (watch != nullptr && block != nullptr) [[unlikely]]
    return watch->deleted(block);
  std::free(block);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const place = allocate(bytes, alignment);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

void* allocate_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  try {
    return allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::size_t value_of(std::align_val_t alignment) noexcept {
  return static_cast<std::size_t>(alignment);
}

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(n, 0); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 0); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, value_of(a)); }
void* operator new[](std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, value_of(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_null(n, 0); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return allocate_or_null(n, 0);
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_null(n, value_of(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_null(n, value_of(a));
}

void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }

#endif
