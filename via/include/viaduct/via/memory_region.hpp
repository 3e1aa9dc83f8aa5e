#pragma once
/// @file
/// Registered memory.

#include <cstddef>

#include "viaduct/via/types.hpp"

namespace viaduct::via {

class Nic;

/// A registered address range. Movable; deregisters at its end. Regions must outlive the
/// descriptors that name them.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  /// For providers: the region @p handle of @p nic, which this object deregisters at its end.
  /// Never blocks.
  MemoryRegion(Nic* nic, MemoryHandle handle, std::byte* address, std::size_t bytes) noexcept
      : nic_(nic), handle_(handle), address_(address), bytes_(bytes) {}
  /// Takes over @p other's region; @p other has none afterwards.  Never blocks.
  MemoryRegion(MemoryRegion&& other) noexcept { swap(other); }
  /// Exchanges the two regions: the region that this object had is deregistered at the end of
  /// @p other.  Never blocks.
  MemoryRegion& operator=(MemoryRegion&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MemoryRegion();

  /// @return the handle for descriptors; MemoryHandle::none where there is no region.
  [[nodiscard]] MemoryHandle handle() const noexcept { return handle_; }
  /// @return where the range begins; null where there is no region.
  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  /// @return the length of the range.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(MemoryRegion& other) noexcept;
  Nic* nic_ = nullptr;
  MemoryHandle handle_ = MemoryHandle::none;
  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace viaduct::via
