#pragma once
/// @file
/// A NIC's protection tags: which there are, and how many VIs and memory regions use each.

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "viaduct/runtime/types.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

class ProtectionTags {
 public:
  explicit ProtectionTags(Rank rank) noexcept : rank_(rank) {}

  /// @return a tag that no rank of the job has. A destroyed one comes again when 4094 others have
  /// been created.  Throws Error: all exist.
  [[nodiscard]] ProtectionTag create();
  /// Throws Error: there is no such tag, or it is in use.
  void destroy(ProtectionTag tag);
  /// @return whether the tag exists.
  [[nodiscard]] bool contains(ProtectionTag tag) const noexcept {
    return uses_.contains(static_cast<std::uint32_t>(tag));
  }
  /// Throws Error, whose sentence begins with @p failed ("cannot create a VI: "): there is no such
  /// tag.
  void require(ProtectionTag tag, const char* failed) const;
  /// Throws Error: an argument of register_memory() is wrong with every provider.
  void require_region(ProtectionTag tag, const std::byte* address, std::size_t bytes) const;
  /// Precondition: the tag exists.
  void add_use(ProtectionTag tag) { ++uses_.at(static_cast<std::uint32_t>(tag)); }
  /// Precondition: the tag exists, and has been given a use.
  void drop_use(ProtectionTag tag) { --uses_.at(static_cast<std::uint32_t>(tag)); }

 private:
  Rank rank_;
  std::uint32_t last_ = 0;  // the number of the last one that was created
  std::unordered_map<std::uint32_t, std::uint32_t> uses_;  // by tag
};

}  // namespace viaduct::via
