#pragma once
/// @file
/// Reserving and giving back parts of a file.

#include <fcntl.h>
#include <cerrno>
#include <cstddef>

namespace viaduct {

/// fallocate(2), begun again after a signal: the kernel has undone it then.
///
/// @return  0, or an errno value
inline int fallocate_whole(int fd, int mode, std::size_t from, std::size_t bytes) noexcept {
  int result = 0;
  do {
    result = ::fallocate(fd, mode, static_cast<off_t>(from), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace viaduct
