#pragma once
/// @file
/// Random gather and scatter lists over a buffer.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/conformance/buffer.hpp"
#include "tests/conformance/rig.hpp"

namespace viaduct::conformance {

using AnyDescriptor = via::DescriptorWith<via::kMaxSegments + 2>;

/// Segments of a buffer in random order, with gaps between them, whose lengths (0 to @p longest,
/// most of them odd) sum up to @p total.
class List {
 public:
  List(std::mt19937_64& random, const Buffer& buffer, std::uint32_t segments, std::uint32_t total);

  [[nodiscard]] const via::LocalSegment* data() const noexcept { return segments_.data(); }
  [[nodiscard]] std::uint16_t count() const noexcept {
    return static_cast<std::uint16_t>(segments_.size());
  }
  [[nodiscard]] std::uint32_t total() const noexcept { return total_; }
  /// Room that a buffer needs for such a list.
  [[nodiscard]] static std::size_t room(std::uint32_t segments, std::uint32_t total) noexcept {
    return total + segments * kGap;
  }

  /// Writes the message @p seed over the segments.
  void fill(std::uint64_t seed) const noexcept;
  /// Checks that the first @p bytes of the segments hold the message @p seed.
  void expect(std::uint64_t seed, std::size_t bytes, Where where = Where::here()) const;

 private:
  static constexpr std::uint32_t kGap = 16;
  std::vector<via::LocalSegment> segments_;
  std::uint32_t total_;
};

/// An RDMA descriptor with a list of local segments.
void make_rdma_list(via::Descriptor& d, via::Operation operation, const List& list,
                    std::uint64_t remote_address, via::MemoryHandle remote_handle) noexcept;

}  // namespace viaduct::conformance
