#include "runtime/launcher/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <cerrno>

namespace viaduct::launcher {
namespace {

constexpr int kLookMs = 100;  // for the foreground

/// A terminal that does not control this process has none.
bool is_in_foreground() noexcept {
  const pid_t group = ::tcgetpgrp(STDIN_FILENO);
  return group == ::getpgrp() || (group < 0 && errno == ENOTTY);
}

}  // namespace

FileDescriptor open_terminal(const SupervisorLink& supervisor) {
  if (supervisor.ignores_hang_up) return {};
  return FileDescriptor(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

bool is_hung_up(int terminal) noexcept {
  pollfd state{terminal, 0, 0};
  return terminal >= 0 && ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

ssize_t read_standard_input(std::span<char> to) noexcept {
  const bool is_terminal = ::isatty(STDIN_FILENO) == 1;
  while (true) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (is_terminal) ::poll(&input, 1, -1);
    if (is_terminal && !is_hung_up(STDIN_FILENO) && !is_in_foreground()) {
      ::poll(nullptr, 0, kLookMs);
      continue;
    }
    const ssize_t got = ::read(STDIN_FILENO, to.data(), to.size());
    if (got >= 0) return got;
    // The job was sent to the background just now.
    const bool background = errno == EIO && is_terminal && !is_hung_up(STDIN_FILENO);
    if (errno != EINTR && !background) return got;
  }
}

}  // namespace viaduct::launcher
