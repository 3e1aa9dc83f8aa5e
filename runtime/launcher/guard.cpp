#include "runtime/launcher/guard.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <vector>

#include "runtime/launcher/processes.hpp"

namespace viaduct::launcher {
namespace {

constexpr int kAskMs = 50;              // between looks where pidfds are refused
constexpr int kLauncherGraceMs = 1000;  // for the launcher to clear up after its keeper's death

/// Waits at most @p limit_ms (-1: for ever) until one of the two is gone, or, with @p
/// launcher_only, the launcher.
class Watch {
 public:
  explicit Watch(const GuardOrders& orders) : orders_(orders) {}

  [[nodiscard]] bool keeper_gone() const {
    return is_gone(orders_.keeper_pidfd, orders_.keeper, true);
  }
  [[nodiscard]] bool launcher_gone() const {
    return is_gone(orders_.launcher_pidfd, orders_.launcher, false);
  }

  /// Sleeps until something may have changed.
  void sleep(bool keeper_too, int limit_ms) const {
    std::array<pollfd, 2> fds{
        {{orders_.launcher_pidfd, POLLIN, 0}, {keeper_too ? orders_.keeper_pidfd : -1, POLLIN, 0}}};
    const bool blind = orders_.launcher_pidfd < 0 || orders_.keeper_pidfd < 0;
    ::poll(fds.data(), fds.size(), blind ? kAskMs : limit_ms);
  }

 private:
  [[nodiscard]] static bool is_gone(int pidfd, pid_t pid, bool is_parent) {
    if (pidfd >= 0) {
      pollfd fd{pidfd, POLLIN, 0};
      return ::poll(&fd, 1, 0) > 0;
    }
    if (is_parent) return ::getppid() != pid;
    return ::kill(pid, 0) != 0 && errno == ESRCH;
  }

  const GuardOrders& orders_;
};

std::vector<int> open_descriptors() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* entry = listing ? ::readdir(listing.get()) : nullptr) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
      found.push_back(std::atoi(entry->d_name));
  }
  return found;
}

/// Out of the user's sight: no terminal, no streams, no directory held.
void detach(const GuardOrders& orders) {
  ::setsid();
  ::prctl(PR_SET_NAME, "viaduct-keeper");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP})
    ::signal(number, SIG_IGN);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (null >= 0) ::dup2(null, fd);
  }
  static_cast<void>(!::chdir("/"));
  for (const int fd : open_descriptors()) {
    if (fd > STDERR_FILENO && fd != orders.keeper_pidfd && fd != orders.launcher_pidfd) ::close(fd);
  }
}

}  // namespace

void be_guard(const GuardOrders& orders) {
  detach(orders);
  const Watch watch(orders);
  while (!watch.keeper_gone() && !watch.launcher_gone()) watch.sleep(true, -1);
  kill_job(orders.job_id);
  // With the keeper gone the launcher clears up and ends. A launcher that is stopped or stuck
  // cannot.
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::milliseconds(kLauncherGraceMs);
  while (!watch.launcher_gone() && Clock::now() < limit) watch.sleep(false, kAskMs);
  if (!watch.launcher_gone()) ::kill(orders.launcher, SIGKILL);
  kill_job(orders.job_id);
  ::_exit(0);
}

}  // namespace viaduct::launcher
