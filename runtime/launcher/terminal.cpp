#include "runtime/launcher/terminal.hpp"

#include <fcntl.h>
#include <poll.h>

namespace viaduct::launcher {

FileDescriptor open_terminal(const SupervisorLink& supervisor) {
  if (supervisor.ignores_hang_up) return {};
  return FileDescriptor(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

bool is_hung_up(int terminal) noexcept {
  pollfd state{terminal, 0, 0};
  return terminal >= 0 && ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace viaduct::launcher
