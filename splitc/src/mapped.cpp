#include "splitc/src/mapped.hpp"

#include <sys/mman.h>
#include <array>
#include <cerrno>
#include <cstdint>

#include "runtime/memory_file.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::size_t kRemembered = 64;
thread_local constinit std::array<std::uintptr_t, kRemembered> found_pages{};

/// MS_ASYNC looks at the mappings and does nothing else.
bool look(std::uintptr_t page, std::size_t bytes) noexcept {
  return ::msync(reinterpret_cast<void*>(page), bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace

bool is_mapped(const std::byte* address, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t page = begin / kPageBytes * kPageBytes;
  if (begin - page + bytes > kPageBytes) return look(page, begin - page + bytes);
  std::uintptr_t& found = found_pages[page / kPageBytes % kRemembered];
  if (found == page) [[likely]]
    return true;
  if (!look(page, kPageBytes)) return false;
  found = page;
  return true;
}

}  // namespace viaduct::splitc::detail
