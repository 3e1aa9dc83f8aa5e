#include "viaduct/runtime/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

namespace viaduct {

void close_descriptor(int fd) noexcept {
  if (fd < 0) return;
  const int before = errno;
  ::close(fd);  // once: after EINTR Linux has closed it, too
  errno = before;
}

int above_standard(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close_descriptor(fd);
  return moved;
}

Pipe open_pipe() noexcept {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  if (!pipe.reading.is_open() || !pipe.writing.is_open()) return {};
  return pipe;
}

}  // namespace viaduct
