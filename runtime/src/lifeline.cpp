#include "runtime/src/lifeline.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <csignal>
#include <utility>

namespace viaduct {

Lifeline::Lifeline(FileDescriptor pipe) noexcept : pipe_(std::move(pipe)) {
  const int fd = pipe_.get();
  if (fd < 0) return;
  const int flags = ::fcntl(fd, F_GETFL);
  if (::fcntl(fd, F_SETOWN, ::getpid()) != 0 || ::fcntl(fd, F_SETSIG, SIGKILL) != 0) return;
  ::fcntl(fd, F_SETFL, flags | O_ASYNC);
  pollfd ended{fd, POLLIN, 0};
  if (::poll(&ended, 1, 0) > 0) ::raise(SIGKILL);  // before anybody listened
}

/// A child that was forked may still hold the pipe: the flag goes, not only this descriptor.
Lifeline::~Lifeline() {
  if (pipe_.is_open()) ::fcntl(pipe_.get(), F_SETFL, ::fcntl(pipe_.get(), F_GETFL) & ~O_ASYNC);
}

}  // namespace viaduct
