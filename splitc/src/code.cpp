#include "splitc/src/code.hpp"

#include <link.h>

namespace viaduct::splitc::detail {
namespace {

struct Code {
  std::uintptr_t load = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Of the executable, which is the first in the list.
int find_code(dl_phdr_info* info, std::size_t, void* data) {
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

const Code& code() noexcept {
  static const Code found = [] {
    Code result;
    dl_iterate_phdr(find_code, &result);
    return result;
  }();
  return found;
}

}  // namespace

std::uint64_t number_of(CallThunk function) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(function);
  return at >= code().begin && at < code().end ? at - code().load : 0;
}

CallThunk code_at(std::uint64_t number) noexcept {
  const std::uintptr_t at = number + code().load;
  return at >= code().begin && at < code().end ? reinterpret_cast<CallThunk>(at) : nullptr;
}

}  // namespace viaduct::splitc::detail
