#include "splitc/src/image.hpp"

#include <link.h>
#include <algorithm>

#include "viaduct/runtime/memory_file.hpp"

namespace viaduct::splitc::detail {
namespace {

struct Load {
  PageRange pages;
  std::uintptr_t zeroed_from;
  bool writable;
};

void add_load(Image& image, const std::vector<Load>& loads, const Load& load) {
  image.all.begin =
      image.all.end == 0 ? load.pages.begin : std::min(image.all.begin, load.pages.begin);
  image.all.end = std::max(image.all.end, load.pages.end);
  if (!load.writable) return;
  std::vector<PageRange> mine{load.pages};
  for (const Load& other : loads) {
    if (&other != &load) subtract(mine, other.pages);  // a page that two parts share is not moved
  }
  image.statics.insert(image.statics.end(), mine.begin(), mine.end());
  if (load.zeroed_from < load.pages.end) image.zeroed.push_back({load.zeroed_from, load.pages.end});
}

int look(dl_phdr_info* info, std::size_t, void* result) {
  Image& image = *static_cast<Image*>(result);
  image.load = info->dlpi_addr;
  std::vector<Load> loads;
  PageRange read_only;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = image.load + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    if (header.p_type == PT_INTERP) image.has_interpreter = true;
    // The dynamic linker protects whole pages, up to the last whole one.
    if (header.p_type == PT_GNU_RELRO)
      read_only = {round_down(begin, kPageBytes), round_down(end, kPageBytes)};
    if (header.p_type == PT_LOAD && begin != end)
      loads.push_back({{round_down(begin, kPageBytes), round_up(end, kPageBytes)},
                       round_up(begin + header.p_filesz, kPageBytes),
                       (header.p_flags & PF_W) != 0});
  }
  for (const Load& load : loads) add_load(image, loads, load);
  subtract(image.statics, read_only);
  return 1;  // the first object is the program
}

}  // namespace

Image main_image() {
  Image image;
  dl_iterate_phdr(look, &image);
  return image;
}

}  // namespace viaduct::splitc::detail
