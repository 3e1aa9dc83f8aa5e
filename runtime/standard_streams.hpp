#pragma once
/// @file
/// Descriptors 0, 1 and 2 are the standard streams, whether a program has them open or not. A file
/// of the library must never have one of these numbers: the program's output would go into it.

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

namespace viaduct {

/// Opens those of descriptors 0, 1 and 2 that are closed, so that no later file gets their number.
/// They lead to /dev/null; where there is none, to a descriptor that can be neither read nor
/// written, as if they were still closed. Programs that this one executes inherit them.
///
/// Call from   one thread, before other files are opened
/// Cost        three system calls when all are open
inline void open_standard_streams() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int opened = ::open("/dev/null", O_RDWR);
    if (opened < 0) opened = ::open("/", O_PATH);
    if (opened > STDERR_FILENO) ::close(opened);  // another thread was faster
  }
}

/// Answers @p fd, or its copy with a number above 2 in place of it. A program may have closed its
/// standard streams at any time, so everything that the library opens passes through here.
///
/// @return  -1 with errno when @p fd is negative or no further descriptor is free
inline int above_standard(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int problem = errno;
  ::close(fd);
  errno = problem;
  return moved;
}

}  // namespace viaduct
