#include "compiler-shim/runtime/checked_shadow.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <new>
#include <utility>

namespace viaduct::shim::checked {
namespace {

constexpr std::size_t kChunkPages = 64;

}  // namespace

Shadow::Shadow(std::size_t bytes) : pages_left_(bytes / sizeof(Page)) {}

const Granule* Shadow::find(std::uint64_t word) const {
  const auto found = by_number_.find(word >> kPageShift);
  if (found == by_number_.end()) return nullptr;
  return &found->second->granules[(word >> kGranuleShift) % kGranules];
}

void Shadow::clear() {
  by_number_.clear();
  recent_.fill({});
  free_.insert(free_.end(), used_.begin(), used_.end());
  used_.clear();
}

Page* Shadow::page(std::uint64_t number) {
  if (const auto found = by_number_.find(number); found != by_number_.end()) return found->second;
  Page* const page = new_page();
  if (page == nullptr) {
    is_full_ = true;
    return nullptr;
  }
  new (page) Page{};
  page->number = number;
  used_.push_back(page);
  by_number_.emplace(number, page);
  return page;
}

// Takes memory of its own and not the program's heap, so that the program's allocations have the
// same addresses as without the checker.
Page* Shadow::new_page() {
  if (free_.empty()) {
    const std::size_t count = std::min(kChunkPages, pages_left_);
    if (count == 0) return nullptr;
    MappedMemory memory(::mmap(nullptr, count * sizeof(Page), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                        count * sizeof(Page));
    if (!memory) {
      pages_left_ = 0;
      return nullptr;
    }
    auto* const pages = reinterpret_cast<Page*>(memory.get());
    chunks_.push_back(std::move(memory));
    pages_left_ -= count;
    for (std::size_t i = count; i > 0; --i) free_.push_back(pages + i - 1);
  }
  Page* const page = free_.back();
  free_.pop_back();
  return page;
}

}  // namespace viaduct::shim::checked
