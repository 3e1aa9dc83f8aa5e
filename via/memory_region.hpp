#pragma once
/// @file
/// Registered memory.

#include <cstddef>

#include "via/types.hpp"

namespace viaduct::via {

class Nic;

/// A registered address range. Movable; deregisters at its end. Regions must outlive the
/// descriptors that name them.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  MemoryRegion(Nic* nic, MemoryHandle handle, std::byte* address, std::size_t bytes) noexcept
      : nic_(nic), handle_(handle), address_(address), bytes_(bytes) {}
  MemoryRegion(MemoryRegion&& other) noexcept { swap(other); }
  MemoryRegion& operator=(MemoryRegion&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MemoryRegion();

  [[nodiscard]] MemoryHandle handle() const noexcept { return handle_; }
  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(MemoryRegion& other) noexcept;
  Nic* nic_ = nullptr;
  MemoryHandle handle_ = MemoryHandle::none;
  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace viaduct::via
