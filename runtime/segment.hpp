#pragma once
/// @file
/// A rank's shared memory: one memfd, mapped by its owner and by every peer that talks to it.
///
/// The memfd is a sparse *window* of fixed virtual size (VIADUCT_SHM_WINDOW); nothing in it costs
/// memory until it is allocated. allocate() reserves the pages with fallocate, so that a shortage
/// is a clear error there and never a SIGBUS later. Offsets are the same in every process;
/// addresses are not.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace viaduct {

class Segment {
 public:
  /// Creates the memfd and maps the window.  Throws Error naming VIADUCT_SHM_WINDOW when address
  /// space is short.
  /// @p system_root stands before /proc and /sys wherever memory limits are read: "" but in tests.
  explicit Segment(std::size_t window_bytes, std::string system_root = {});
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::size_t window_bytes() const noexcept { return window_bytes_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// Reserves @p bytes, aligned to @p alignment (a power of two up to 2 MiB), zeroed. Returns the
  /// offset from base(). Call from any thread.  Cost: a lock and, when new pages are needed, a
  /// system call. Throws Error (what, how much, the limit that was hit, how to raise it) when
  /// memory or the window is exhausted.
  std::size_t allocate(std::size_t bytes, std::size_t alignment = kDefaultAlignment);

  /// Gives back what allocate() returned. Whole pages go back to the system and read as zero when
  /// allocated again; the rest is cleared here.
  void release(std::size_t offset) noexcept;

  /// Whether [address, address + bytes) lies inside this window.
  [[nodiscard]] bool contains(const void* address, std::size_t bytes) const noexcept {
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_);
    return at < window_bytes_ && bytes <= window_bytes_ - at;
  }

  /// Bytes now allocated (the sum of allocate()'s sizes).
  [[nodiscard]] std::size_t allocated_bytes() const noexcept;

  static constexpr std::size_t kDefaultAlignment = 128;

 private:
  struct Block {
    std::size_t bytes;      // from this block's offset to the next one's
    std::size_t requested;  // what allocate() was asked for; 0 when the block is free
    [[nodiscard]] bool free() const noexcept { return requested == 0; }
  };
  using Blocks = std::map<std::size_t, Block>;
  std::size_t place(std::size_t bytes, std::size_t requested, std::size_t alignment);
  void carve(Blocks::iterator block, std::size_t offset, std::size_t bytes, std::size_t requested);
  Blocks::iterator merge_free(Blocks::iterator block) noexcept;
  void check_headroom(std::size_t bytes);
  void reserve_pages(std::size_t first, std::size_t last);
  void clear(std::size_t offset, std::size_t bytes, std::size_t free_from,
             std::size_t free_to) noexcept;

  std::string system_root_;
  int fd_ = -1;
  std::byte* base_ = nullptr;
  std::size_t window_bytes_ = 0;
  mutable std::mutex mutex_;
  Blocks blocks_;  // by offset, covering [0, end of the last block) without gaps; no two free ones
                   // side by side
  std::size_t allocated_ = 0;
  std::size_t unchecked_ = 0;  // bytes reserved since the memory limits were last looked at
};

/// Maps another rank's window, @p fd being its memfd; the descriptor may be closed afterwards.
[[nodiscard]] std::byte* map_window(int fd, std::size_t window_bytes);
void unmap_window(std::byte* base, std::size_t window_bytes) noexcept;

}  // namespace viaduct
