#include "splitc/main/heap.hpp"

#ifdef VIADUCT_HAVE_MIMALLOC

#include <mimalloc.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace viaduct::splitc::detail {
namespace {

/// Prints the message only once: a program may ask for more memory than there is and go on without
/// it.
void on_error(int problem, void*) {
  static std::atomic<bool> said{false};
  if (problem != ENOMEM || said.exchange(true)) return;
  constexpr std::string_view kText =
      "viaduct: malloc: the shared heap is exhausted: raise VIADUCT_HEAP_BYTES, or set "
      "VIADUCT_HEAP=private\n";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
}

/// Whether malloc is mimalloc's and takes memory from the range.
bool is_directed(const std::byte* begin, std::size_t bytes) {
  void* const probe = std::malloc(64);
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(probe) - begin);
  std::free(probe);
  return at < bytes;
}

bool direct(std::byte* begin, std::size_t bytes) {
  // mimalloc's calls for unused pages do not return pages of a shared file to the system: they
  // would cost time and free nothing.
  mi_option_set(mi_option_allow_decommit, 0);
  mi_option_set(mi_option_page_reset, 0);
  mi_arena_id_t arena{};
  constexpr bool kCommitted = true;
  constexpr bool kLargePages = false;
  constexpr bool kZeroed = true;
  constexpr bool kExclusive = false;
  constexpr int kAnyNode = -1;
  if (!mi_manage_os_memory_ex(begin, bytes, kCommitted, kLargePages, kZeroed, kAnyNode, kExclusive,
                              &arena))
    return false;
  // This thread's heap has memory already, from which it would go on to allocate; later threads'
  // heaps have none.
  mi_heap_t* const heap = mi_heap_new_in_arena(arena);
  if (heap == nullptr) return false;
  mi_option_enable(mi_option_limit_os_alloc);
  mi_register_error(on_error, nullptr);
  mi_heap_set_default(heap);
  return is_directed(begin, bytes);
}

}  // namespace

HeapHook heap_of_program() noexcept { return &direct; }

}  // namespace viaduct::splitc::detail

#else

namespace viaduct::splitc::detail {

HeapHook heap_of_program() noexcept { return nullptr; }

}  // namespace viaduct::splitc::detail

#endif
