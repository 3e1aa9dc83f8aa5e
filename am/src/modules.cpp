#include "am/src/modules.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

namespace viaduct::am {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(b));
  return text;
}

// The notes of one PT_NOTE segment stand one after the other: header, name, description, each
// padded.
std::string build_id_among(std::span<const std::byte> notes, std::size_t alignment) {
  constexpr std::string_view kOwner{"GNU", 4};  // its final zero belongs to it
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t description = round_up(sizeof header + header.n_namesz, alignment);
    const std::size_t end = description + header.n_descsz;
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == kOwner.size() &&
        header.n_descsz != 0 &&
        std::memcmp(notes.data() + sizeof header, kOwner.data(), kOwner.size()) == 0) {
      return hexadecimal(notes.subspan(description, header.n_descsz));
    }
    notes = notes.subspan(std::min(round_up(end, alignment), notes.size()));
  }
  return {};
}

std::string file_name_of(const dl_phdr_info& info) {
  const std::string path = info.dlpi_name[0] != '\0' ? info.dlpi_name : executable_path();
  return path.substr(path.rfind('/') + 1);
}

Module describe(const dl_phdr_info& info) {
  Module module;
  module.base = info.dlpi_addr;
  std::size_t code_bytes = 0;
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      module.loaded.push_back({begin, begin + segment.p_memsz});
      if ((segment.p_flags & PF_X) != 0) code_bytes += segment.p_memsz;
    } else if (segment.p_type == PT_NOTE && module.identity.empty()) {
      module.identity = build_id_among({reinterpret_cast<const std::byte*>(begin), segment.p_memsz},
                                       segment.p_align == 8 ? 8 : 4);
    }
  }
  if (module.identity.empty())
    module.identity = fmt::format("{}+{}", file_name_of(info), code_bytes);
  return module;
}

}  // namespace

bool Module::contains(std::uintptr_t address) const noexcept {
  for (const Range& range : loaded) {
    if (address >= range.begin && address < range.end) return true;
  }
  return false;
}

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  const auto add = [](dl_phdr_info* info, std::size_t, void* out) {
    static_cast<std::vector<Module>*>(out)->push_back(describe(*info));
    return 0;
  };
  dl_iterate_phdr(add, &modules);
  return modules;
}

std::string executable_path() {
  std::array<char, 4096> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length))
                    : "an executable without a path";
}

}  // namespace viaduct::am
