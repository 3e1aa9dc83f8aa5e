#include "runtime/src/lifeline.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <csignal>
#include <utility>

namespace viaduct {

Lifeline::Lifeline(int pipe) noexcept : pipe_(pipe) {
  if (pipe_ < 0) return;
  const int flags = ::fcntl(pipe_, F_GETFL);
  if (::fcntl(pipe_, F_SETOWN, ::getpid()) != 0 || ::fcntl(pipe_, F_SETSIG, SIGKILL) != 0) return;
  ::fcntl(pipe_, F_SETFL, flags | O_ASYNC);
  pollfd ended{pipe_, POLLIN, 0};
  if (::poll(&ended, 1, 0) > 0) ::raise(SIGKILL);  // before anybody listened
}

/// A child that was forked may still hold the pipe: the flag goes, not only this descriptor.
Lifeline::~Lifeline() {
  if (pipe_ < 0) return;
  ::fcntl(pipe_, F_SETFL, ::fcntl(pipe_, F_GETFL) & ~O_ASYNC);
  ::close(pipe_);
}

Lifeline::Lifeline(Lifeline&& other) noexcept : pipe_(std::exchange(other.pipe_, -1)) {}

Lifeline& Lifeline::operator=(Lifeline&& other) noexcept {
  std::swap(pipe_, other.pipe_);
  return *this;
}

}  // namespace viaduct
