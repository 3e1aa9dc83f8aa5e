#pragma once
/// @file
/// A rank's shared memory: one memfd, mapped by its owner and by every peer that talks to it.
///
/// The memfd is a sparse *window* of fixed virtual size (VIADUCT_SHM_WINDOW); nothing in it costs
/// memory until it is allocated. allocate() reserves the pages with fallocate, so that a shortage
/// is a clear error there and never a SIGBUS later. Offsets are the same in every process;
/// addresses are not.

#include <cstddef>
#include <mutex>
#include <string>

#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/runtime/memory_file.hpp"
#include "viaduct/runtime/span_allocator.hpp"

namespace viaduct {

class Segment {
 public:
  /// Creates the memfd and maps the window.  Throws Error naming VIADUCT_SHM_WINDOW when address
  /// space is short.
  /// @p system_root stands before /proc and /sys wherever memory limits are read: "" but in tests.
  explicit Segment(std::size_t window_bytes, std::string system_root = {});

  /// @return the address of offset 0, in this process.
  [[nodiscard]] std::byte* base() const noexcept { return window_.get(); }
  /// @return the size of the window, the same in every rank.
  [[nodiscard]] std::size_t window_bytes() const noexcept { return file_.bytes(); }
  /// @return the memfd, which stays the segment's.
  [[nodiscard]] int fd() const noexcept { return file_.fd(); }

  /// Reserves @p bytes, aligned to @p alignment (a power of two up to 2 MiB), zeroed. Returns the
  /// offset from base(). Call from any thread.  Cost: a lock and, when new pages are needed, a
  /// system call. Throws Error (what, how much, the limit that was hit, how to raise it) when
  /// memory or the window is exhausted.
  std::size_t allocate(std::size_t bytes, std::size_t alignment = kDefaultAlignment);

  /// Releases memory that allocate() returned. Whole pages go back to the system and read as zero
  /// when allocated again; the rest is cleared here.  Call from any thread. Errors: stops the
  /// program with a sentence where nothing is allocated at @p offset.
  void release(std::size_t offset) noexcept;

  /// @return whether [address, address + bytes) lies inside this window.
  [[nodiscard]] bool contains(const void* address, std::size_t bytes) const noexcept {
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base());
    return at < file_.bytes() && bytes <= file_.bytes() - at;
  }

  /// @return bytes now allocated (the sum of allocate()'s sizes).  Cost: a lock.
  [[nodiscard]] std::size_t allocated_bytes() const noexcept;

  static constexpr std::size_t kDefaultAlignment = 128;

 private:
  MemoryFile file_;
  MappedMemory window_;
  mutable std::mutex mutex_;
  SpanAllocator spans_;
};

/// Maps another rank's window, @p fd being its memfd; the descriptor may be closed afterwards.
/// @return the window, unmapped with the object.  Throws Error naming VIADUCT_SHM_WINDOW when
/// address space is short.
[[nodiscard]] MappedMemory map_window(int fd, std::size_t window_bytes);

}  // namespace viaduct
