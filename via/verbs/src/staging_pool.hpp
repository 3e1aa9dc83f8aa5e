#pragma once
/// @file
/// Registered buffers of one transport, for transfers whose own memory is not registered.

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "via/verbs/src/owned.hpp"

namespace viaduct::via::verbs {

class StagingPool {
 public:
  static constexpr std::size_t kMostBytes = 128 * 1024;  ///< of a buffer

  /// Throws Error.
  explicit StagingPool(ibv_pd* domain);
  StagingPool(const StagingPool&) = delete;
  StagingPool& operator=(const StagingPool&) = delete;

  /// A buffer of @p bytes, up to kMostBytes; null: all of that size are in use.
  [[nodiscard]] std::byte* take(std::size_t bytes) noexcept;
  /// @p buffer is one that take() answered, or null.
  void give(const std::byte* buffer) noexcept;
  [[nodiscard]] std::uint32_t key() const noexcept { return region_->lkey; }

 private:
  struct Size {
    std::size_t bytes;
    std::uint16_t count;
  };
  static constexpr std::uint16_t kMostOfASize = 64;
  // Words and small structures; blocks that are copied so that put() returns at once; pieces of
  // large blocks, of which two fill any link.
  static constexpr std::array<Size, 3> kSizes{
      {{256, kMostOfASize}, {8 * 1024, 16}, {kMostBytes, 2}}};
  static constexpr std::size_t total() noexcept {
    std::size_t sum = 0;
    for (const Size& size : kSizes) sum += size.bytes * size.count;
    return sum;
  }
  struct Free {
    std::array<std::uint16_t, kMostOfASize> numbers;
    std::uint16_t count = 0;
  };

  std::unique_ptr<std::byte[]> memory_;
  OwnedRegion region_;
  std::array<Free, kSizes.size()> free_;
};

}  // namespace viaduct::via::verbs
