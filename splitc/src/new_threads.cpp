#include "splitc/src/new_threads.hpp"

#include <link.h>
#include <sys/mman.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/mappings.hpp"
#include "viaduct/runtime/memory_file.hpp"
#include "viaduct/splitc/detail/hot.hpp"

namespace viaduct::splitc::detail {
namespace {

/// Where the C library takes the first value of a new thread's `hot` from: the thread-local data of
/// the program's file, as they are in memory.
struct FirstValue {
  Hot* at = nullptr;
  PageRange read_only;  // of the same file: pages that the dynamic linker has protected
};

int look(dl_phdr_info* info, std::size_t, void* result) {
  FirstValue& first = *static_cast<FirstValue*>(result);
  first = {};
  const auto mine = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO)
      first.read_only = {round_down(begin, kPageBytes),
                         round_down(begin + header.p_memsz, kPageBytes)};
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(&hot) - mine;
    if (header.p_type == PT_TLS && mine != 0 && offset < header.p_filesz)
      first.at = reinterpret_cast<Hot*>(begin + offset);
  }
  return first.at != nullptr ? 1 : 0;
}

}  // namespace

void show_in_new_threads(std::uint32_t myproc, std::uint32_t procs) noexcept {
  FirstValue first;
  if (dl_iterate_phdr(look, &first) == 0) return;
  const auto at = reinterpret_cast<std::uintptr_t>(first.at);
  const PageRange pages{round_down(at, kPageBytes), round_up(at + sizeof(Hot), kPageBytes)};
  const auto protect = [&](int protection) {
    const std::uintptr_t begin = std::max(pages.begin, first.read_only.begin);
    const std::uintptr_t end = std::min(pages.end, first.read_only.end);
    return begin >= end || ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
  };
  if (!protect(PROT_READ | PROT_WRITE)) return;
  first.at->myproc = myproc;
  first.at->procs = procs;
  (void)protect(PROT_READ);
}

}  // namespace viaduct::splitc::detail
