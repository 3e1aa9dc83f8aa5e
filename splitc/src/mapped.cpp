#include "splitc/src/mapped.hpp"

#include <array>
#include <cstdint>

#include "runtime/mappings.hpp"
#include "viaduct/runtime/memory_file.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::size_t kRemembered = 64;
/// Pages that were found to be mapped, as their address plus kKnown; 0: no page.
using Pages = std::array<std::uintptr_t, kRemembered>;
constexpr std::uintptr_t kKnown = 1;
thread_local constinit Pages found_pages{};
thread_local constinit Pages writable_pages{};

bool is_writable_page(std::uintptr_t page) noexcept {
  std::uintptr_t& found = writable_pages[page / kPageBytes % kRemembered];
  if (found == page + kKnown) [[likely]]
    return true;
  if (!is_page_writable(reinterpret_cast<const void*>(page))) return false;
  found = page + kKnown;
  return true;
}

}  // namespace

bool is_mapped(const std::byte* address, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t page = begin / kPageBytes * kPageBytes;
  if (begin - page + bytes > kPageBytes) return viaduct::is_mapped(address, bytes);
  std::uintptr_t& found = found_pages[page / kPageBytes % kRemembered];
  if (found == page + kKnown) [[likely]]
    return true;
  if (!viaduct::is_mapped(address, bytes)) return false;
  found = page + kKnown;
  return true;
}

bool is_writable(std::byte* address, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = begin / kPageBytes * kPageBytes;
  const std::uintptr_t last = (begin + bytes - 1) / kPageBytes * kPageBytes;
  return is_writable_page(first) && (last == first || is_writable_page(last));
}

}  // namespace viaduct::splitc::detail
