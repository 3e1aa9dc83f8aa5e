#include "splitc/src/code.hpp"

#include <link.h>

namespace viaduct::splitc::detail {
namespace {

/// Of the executable, which is the first in the list.
int look_at(dl_phdr_info* info, std::size_t, void* data) {
  auto& code = *static_cast<Code*>(data);
  code.load = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    code.begin = info->dlpi_addr + part.p_vaddr;
    code.end = code.begin + part.p_memsz;
  }
  return 1;
}

}  // namespace

Code find_code() noexcept {
  Code code;
  dl_iterate_phdr(look_at, &code);
  return code;
}

}  // namespace viaduct::splitc::detail
