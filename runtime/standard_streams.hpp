#pragma once
/// @file
/// Descriptors 0, 1 and 2 are the standard streams, whether a program has them open or not. A file
/// of the library must never have one of these numbers: the program's output would go into it.

#include <fcntl.h>
#include <poll.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <exception>
#include <future>
#include <thread>
#include <utility>

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

/// Writes what stdio holds of standard output, unless that could wait: for another thread that has
/// the stream, or for a reader of the pipe.
///
/// Call from   any thread
/// Blocks      never
inline void flush_standard_output_at_once() noexcept {
  if (::ftrylockfile(stdout) != 0) return;
  struct stat kind {};
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  const bool is_file = ::fstat(STDOUT_FILENO, &kind) == 0 && S_ISREG(kind.st_mode);
  // A pipe that is ready takes PIPE_BUF bytes at once.
  if (is_file || (::__fpending(stdout) <= PIPE_BUF && ::poll(&output, 1, 0) == 1))
    static_cast<void>(::fflush_unlocked(stdout));
  ::funlockfile(stdout);
}

/// Writes what stdio holds of all streams, for a process that ends without exit().
///
/// Call from   any thread
/// Blocks      for @p limit at most: another thread may read or write a stream whose other end is
///             still
/// Cost        a thread, which stays where the limit has passed
inline void flush_all_within(std::chrono::milliseconds limit) noexcept {
  try {
    std::promise<void> flushed;
    const std::future<void> done = flushed.get_future();
    std::thread([end = std::move(flushed)]() mutable {
      std::fflush(nullptr);
      end.set_value();
    }).detach();
    static_cast<void>(done.wait_for(limit));
  } catch (const std::exception&) {  // no thread, or no memory for one
    flush_standard_output_at_once();
  }
}

}  // namespace viaduct
