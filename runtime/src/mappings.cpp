#include "runtime/mappings.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "viaduct/runtime/memory_file.hpp"

namespace viaduct {

void subtract(std::vector<PageRange>& from, PageRange hole) {
  std::vector<PageRange> rest;
  for (const PageRange& r : from) {
    const PageRange before{r.begin, std::min(r.end, hole.begin)};
    const PageRange after{std::max(r.begin, hole.end), r.end};
    if (hole.begin >= hole.end || hole.end <= r.begin || hole.begin >= r.end) {
      rest.push_back(r);
      continue;
    }
    if (before.begin < before.end) rest.push_back(before);
    if (after.begin < after.end) rest.push_back(after);
  }
  from = std::move(rest);
}

std::vector<Mapping> mappings_at(PageRange range) {
  std::vector<Mapping> found;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/maps", "re"),
                                                   std::fclose);
  if (file == nullptr) return found;
  char* line = nullptr;
  std::size_t room = 0;
  ssize_t length = 0;
  while ((length = ::getline(&line, &room, file.get())) > 0) {
    PageRange at;
    char rights[5] = {};
    std::uint64_t inode = 0;
    int name = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %" SCNu64 " %n", &at.begin,
                    &at.end, rights, &inode, &name) != 4)
      continue;
    if (at.begin >= range.end) break;
    if (at.end <= range.begin) continue;
    std::string text(line + name, static_cast<std::size_t>(length - name));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const int access = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                       (rights[2] == 'x' ? PROT_EXEC : 0);
    found.push_back({at, rights[3] == 'p' && inode == 0, access, std::move(text)});
  }
  std::free(line);
  return found;
}

/// MS_ASYNC looks at the mappings and does nothing else.
bool is_mapped(const void* address, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t page = begin / kPageBytes * kPageBytes;
  return ::msync(reinterpret_cast<void*>(page), begin - page + bytes, MS_ASYNC) == 0 ||
         errno != ENOMEM;
}

/// Lets the kernel add 0 to the page's first word, atomically: the addition disturbs no user of the
/// word, and fails with a code where a store would end the process.
bool is_page_writable(const void* address) noexcept {
  constexpr int kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0);
  const auto page = reinterpret_cast<std::uintptr_t>(address) / kPageBytes * kPageBytes;
  std::uint32_t nobody_waits_here = 0;
  return ::syscall(SYS_futex, &nobody_waits_here, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, page,
                   kAddNothing) >= 0 ||
         errno != EFAULT;
}

}  // namespace viaduct
