#pragma once
/// @file
/// A sparse file in memory (memfd) of fixed size, to be mapped by its owner and by other processes.
/// Nothing in it costs memory until it is reserved or touched. When memory is short, a reservation
/// is a clear error, and no SIGBUS or out-of-memory killer follows later.

#include <cstddef>
#include <string>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

inline constexpr std::size_t kPageBytes = 4096;

/// @return the least multiple of @p to that is not below @p value.
[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t to) noexcept {
  return (value + to - 1) / to * to;
}
/// @return the greatest multiple of @p to that is not above @p value.
[[nodiscard]] constexpr std::size_t round_down(std::size_t value, std::size_t to) noexcept {
  return value / to * to;
}

class MemoryFile {
 public:
  /// The names of the file: for the system, in sentences, and of the setting of its size.
  struct Names {
    const char* file;
    const char* object;
    const char* setting;
  };

  /// No process can shorten or grow the file.  Throws Error.
  /// @p system_root stands before /proc and /sys wherever memory limits are read: "" but in tests.
  MemoryFile(const Names& names, std::size_t bytes, std::string system_root = {});

  /// @return the descriptor, which stays the file's.
  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  /// @return the size, in whole pages.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Throws Error, naming the limit, when @p bytes more would go over one. The limits are looked at
  /// again whenever 1 MiB has been asked for since the last look.
  void check_headroom(std::size_t bytes);

  /// Makes the pages [first, last) present. Throws Error when the system refuses; then the pages
  /// that it gave have gone back, but the first one, which may be a neighbour's.
  void reserve(std::size_t first, std::size_t last);

  /// Gives the pages [first, last) back to the system; they read as zero.  Cost: a system call
  /// where the range is not empty.
  void punch(std::size_t first, std::size_t last) noexcept;

  /// Makes [offset, offset + bytes) read as zero, the file being mapped at @p base: pages that lie
  /// wholly in [free_from, free_to) go back to the system, the rest is written.  Cost: a system
  /// call and the bytes written.
  void clear(std::byte* base, std::size_t offset, std::size_t bytes, std::size_t free_from,
             std::size_t free_to) noexcept;

 private:
  std::string system_root_;
  FileDescriptor file_;
  std::size_t bytes_;
  std::size_t unchecked_ = 0;  // bytes asked for since the limits were last looked at
};

}  // namespace viaduct
