#pragma once
/// @file
/// Mapped memory with an owner, so that an exception leaves nothing mapped.

#include <cstddef>

namespace viaduct {

/// Owns pages of this process' address space, or none.
class MappedMemory {
 public:
  MappedMemory() noexcept = default;
  /// Takes over the @p bytes at @p at as mmap() answers them: MAP_FAILED is none. errno stays.
  MappedMemory(void* at, std::size_t bytes) noexcept;
  ~MappedMemory() { reset(); }
  MappedMemory(MappedMemory&& other) noexcept : base_(other.base_), bytes_(other.bytes_) {
    static_cast<void>(other.release());
  }
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    if (this == &other) return *this;
    reset();
    bytes_ = other.bytes_;
    base_ = other.release();
    return *this;
  }

  /// @return the first byte; null for none.
  [[nodiscard]] std::byte* get() const noexcept { return base_; }
  /// @return the size; 0 for none.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// @return whether there are pages.
  [[nodiscard]] explicit operator bool() const noexcept { return base_ != nullptr; }
  /// Gives the pages away, which stay mapped.  @return the first byte; null for none.
  [[nodiscard]] std::byte* release() noexcept {
    std::byte* const given = base_;
    base_ = nullptr;
    bytes_ = 0;
    return given;
  }
  /// Unmaps the pages now. errno stays as it is.  Cost: a system call, unless there are none.
  void reset() noexcept;

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace viaduct
