#include "via/protection_tags.hpp"

#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {

ProtectionTag ProtectionTags::create() {
  // Distinct between ranks, so that a tag of one rank never happens to be another's.
  constexpr std::uint32_t kMost = 0xfff;
  static_assert(kMaxJobSize <= 1U << 20);
  if (uses_.size() == kMost)
    throw Error(errors::too_many_objects, std::errc::no_buffer_space,
                "there are 4095 protection tags, and there can be no more: destroy one");
  std::uint32_t tag = 0;
  do {
    last_ = last_ % kMost + 1;
    tag = (index(rank_) << 12 | last_) + 1;
  } while (!uses_.emplace(tag, 0).second);
  return static_cast<ProtectionTag>(tag);
}

void ProtectionTags::destroy(ProtectionTag tag) {
  require(tag, "");
  const auto found = uses_.find(static_cast<std::uint32_t>(tag));
  if (found->second != 0)
    throw Error(errors::tag_in_use, std::errc::device_or_resource_busy,
                "protection tag " + std::to_string(found->first) + " is in use by " +
                    std::to_string(found->second) + " VIs and memory regions: destroy those first");
  uses_.erase(found);
}

void ProtectionTags::require(ProtectionTag tag, const char* failed) const {
  if (contains(tag)) return;
  throw Error(
      errors::no_such_tag, std::errc::invalid_argument,
      failed + ("no such protection tag: " + std::to_string(static_cast<std::uint32_t>(tag))));
}

void ProtectionTags::require_region(ProtectionTag tag, const std::byte* address,
                                    std::size_t bytes) const {
  require(tag, "cannot register memory: ");
  if (address == nullptr || bytes == 0 || reinterpret_cast<std::uintptr_t>(address) + bytes < bytes)
    throw Error(errors::bad_memory_range, std::errc::invalid_argument,
                "cannot register memory: the range of " + std::to_string(bytes) +
                    " bytes is null, empty or wraps round");
}

}  // namespace viaduct::via
