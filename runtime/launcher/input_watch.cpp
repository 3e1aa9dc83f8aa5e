#include "runtime/launcher/input_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <array>
#include <cerrno>
#include <cstdint>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/start_thread.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

constexpr int kForTheOrderMs = 1000;

bool wait_for(pollfd* fds, nfds_t count, int limit_ms) noexcept {
  int ready = 0;
  do {
    ready = ::poll(fds, count, limit_ms);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

/// A pipe's end, or a socket's: sshd gives its commands one or the other.
void watch(int stop) noexcept {
  std::array<pollfd, 2> fds{{{stop, POLLIN, 0}, {STDIN_FILENO, POLLRDHUP, 0}}};
  wait_for(fds.data(), fds.size(), -1);
  if (fds[0].revents != 0) return;
  if (wait_for(fds.data(), 1, kForTheOrderMs)) return;
  ::_exit(kExitLauncher);
}

}  // namespace

InputWatch::InputWatch() : stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (!stop_.is_open()) throw_errno(errors::system_refused, "cannot open an eventfd");
  thread_ = start_thread("the end of standard input", [stop = stop_.get()] { watch(stop); });
}

InputWatch::~InputWatch() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.get(), &one, sizeof one));
  thread_.join();
}

}  // namespace viaduct::launcher
