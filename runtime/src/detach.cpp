#include "runtime/src/detach.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <vector>

namespace viaduct {
namespace {

std::vector<int> open_descriptors() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* entry = listing ? ::readdir(listing.get()) : nullptr) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
      found.push_back(std::atoi(entry->d_name));
  }
  return found;
}

}  // namespace

void detach(const char* name, std::initializer_list<int> kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, name);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE})
    ::signal(number, SIG_IGN);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (null >= 0) ::dup2(null, fd);
  }
  static_cast<void>(!::chdir("/"));
  for (const int fd : open_descriptors()) {
    if (fd > STDERR_FILENO && std::find(kept.begin(), kept.end(), fd) == kept.end()) ::close(fd);
  }
}

}  // namespace viaduct
