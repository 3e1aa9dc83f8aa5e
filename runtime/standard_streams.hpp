#pragma once
/// @file
/// Descriptors 0, 1 and 2 are the standard streams, whether a program has them open or not. A file
/// of the library must never have one of these numbers: the program's output would go into it.

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

#include "viaduct/runtime/file_descriptor.hpp"

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
    if (opened > STDERR_FILENO) close_descriptor(opened);  // another thread was faster
  }
}

}  // namespace viaduct
