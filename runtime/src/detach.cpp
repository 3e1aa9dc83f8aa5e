#include "runtime/src/detach.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <limits>
#include <vector>

#include "runtime/standard_streams.hpp"

namespace viaduct {
namespace {

/// Closes descriptors @p first to @p last. Nothing is listed: /proc may be missing, and no
/// descriptor may be free to read it with.
void close_all(int first, int last) noexcept {
  if (first > last) return;
#ifdef SYS_close_range
  const auto from = static_cast<unsigned>(first);
  if (::syscall(SYS_close_range, from, static_cast<unsigned>(last), 0U) == 0) return;
#endif
  rlimit limit{};
  constexpr rlim_t kMost = rlim_t{1} << 20;  // as many as the kernel gives unless it was told to
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const rlim_t end = known ? std::min(limit.rlim_max, kMost) : kMost;
  for (int fd = first; fd <= last && static_cast<rlim_t>(fd) < end; ++fd) close_descriptor(fd);
}

}  // namespace

void detach(const char* name, std::initializer_list<int> kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, name);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE})
    ::signal(number, SIG_IGN);
  static_cast<void>(!::chdir("/"));
  close_all(STDIN_FILENO, STDERR_FILENO);
  open_standard_streams();
  std::vector<int> sorted(kept);
  std::sort(sorted.begin(), sorted.end());
  int next = STDERR_FILENO + 1;
  for (const int fd : sorted) {
    if (fd < next) continue;  // -1 for none
    close_all(next, fd - 1);
    next = fd + 1;
  }
  close_all(next, std::numeric_limits<int>::max());
}

}  // namespace viaduct
