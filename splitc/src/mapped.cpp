#include "splitc/src/mapped.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdint>

#include "viaduct/runtime/memory_file.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::size_t kRemembered = 64;
/// Pages that were found to be mapped, as their address plus kKnown; 0: no page.
using Pages = std::array<std::uintptr_t, kRemembered>;
constexpr std::uintptr_t kKnown = 1;
thread_local constinit Pages found_pages{};
thread_local constinit Pages writable_pages{};

/// Whether [page, page + bytes) is mapped. msync with MS_ASYNC looks at the mappings and does
/// nothing else.
bool look(std::uintptr_t page, std::size_t bytes) noexcept {
  return ::msync(reinterpret_cast<void*>(page), bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

/// Lets the kernel add 0 to the first word, atomically: the addition disturbs no user of the word,
/// and fails with a code where a store would end the process. True where the kernel does not know
/// the call.
bool try_to_write(std::uintptr_t page) noexcept {
  constexpr int kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0);
  std::uint32_t nobody_waits_here = 0;
  return ::syscall(SYS_futex, &nobody_waits_here, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, page,
                   kAddNothing) >= 0 ||
         errno != EFAULT;
}

bool is_writable_page(std::uintptr_t page) noexcept {
  std::uintptr_t& found = writable_pages[page / kPageBytes % kRemembered];
  if (found == page + kKnown) [[likely]]
    return true;
  if (!try_to_write(page)) return false;
  found = page + kKnown;
  return true;
}

}  // namespace

bool is_mapped(const std::byte* address, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t page = begin / kPageBytes * kPageBytes;
  if (begin - page + bytes > kPageBytes) return look(page, begin - page + bytes);
  std::uintptr_t& found = found_pages[page / kPageBytes % kRemembered];
  if (found == page + kKnown) [[likely]]
    return true;
  if (!look(page, kPageBytes)) return false;
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
