#include "runtime/launcher/watchdog.hpp"

#include <poll.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "runtime/launcher/processes.hpp"
#include "runtime/src/detach.hpp"

namespace viaduct::launcher {
namespace {

constexpr int kAskMs = 50;              // between looks where pidfds are refused
constexpr int kLauncherGraceMs = 1000;  // for the launcher to clear up after its supervisor's death

/// Waits at most @p limit_ms (-1: for ever) until one of the two is gone, or, with @p
/// launcher_only, the launcher.
class Watch {
 public:
  explicit Watch(const WatchdogOrders& orders) : orders_(orders) {}

  [[nodiscard]] bool supervisor_gone() const {
    return is_gone(orders_.supervisor_pidfd, orders_.supervisor, true);
  }
  [[nodiscard]] bool launcher_gone() const {
    return is_gone(orders_.launcher_pidfd, orders_.launcher, false);
  }

  /// Sleeps until something may have changed.
  void sleep(bool supervisor_too, int limit_ms) const {
    std::array<pollfd, 2> fds{{{orders_.launcher_pidfd, POLLIN, 0},
                               {supervisor_too ? orders_.supervisor_pidfd : -1, POLLIN, 0}}};
    const bool blind = orders_.launcher_pidfd < 0 || orders_.supervisor_pidfd < 0;
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

  const WatchdogOrders& orders_;
};

}  // namespace

void be_watchdog(const WatchdogOrders& orders) {
  detach("viaduct-watch", {orders.supervisor_pidfd, orders.launcher_pidfd});
  const Watch watch(orders);
  while (!watch.supervisor_gone() && !watch.launcher_gone()) watch.sleep(true, -1);
  kill_job(orders.job_id);
  // With the supervisor gone the launcher clears up and ends. A launcher that is stopped or stuck
  // cannot.
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::milliseconds(kLauncherGraceMs);
  while (!watch.launcher_gone() && Clock::now() < limit) watch.sleep(false, kAskMs);
  if (!watch.launcher_gone()) ::kill(orders.launcher, SIGKILL);
  kill_job(orders.job_id);
  ::_exit(0);
}

}  // namespace viaduct::launcher
