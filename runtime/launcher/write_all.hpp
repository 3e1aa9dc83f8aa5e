#pragma once
/// @file
/// Writing to a stream that others share.

#include <poll.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>

namespace viaduct::launcher {

/// Writes all of @p text. @p left, if given, tells other threads how much is still to be written.
///
/// Blocks      as long as @p target takes nothing, also where a process that shares it has made it
///             non-blocking: call it in a thread that can be left behind
/// @return     0, or why it cannot be written: EPIPE when the reader is gone
inline int write_all(int target, const std::string& text,
                     std::atomic<std::size_t>* left = nullptr) noexcept {
  std::size_t done = 0;
  while (done < text.size()) {
    if (left != nullptr) left->store(text.size() - done, std::memory_order_relaxed);
    const ssize_t wrote = ::write(target, text.data() + done, text.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      pollfd ready{target, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  if (left != nullptr) left->store(0, std::memory_order_relaxed);
  return 0;
}

}  // namespace viaduct::launcher
