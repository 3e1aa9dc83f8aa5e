// Ranks of launcher_actor whose standard streams are closed, full or blocked.

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/multiprocess/programs/launcher_actor.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/memory_file.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/nic.hpp"

namespace actor {

using viaduct::Job;
using viaduct::Rank;
using viaduct::Status;

namespace {

constexpr std::size_t kFilled = std::size_t{256} << 10;

std::byte pattern(std::uint32_t rank, std::size_t at) {
  return static_cast<std::byte>(rank * 31 + at % 251);
}

bool holds_pattern(const std::byte* from, std::uint32_t rank) {
  for (std::size_t i = 0; i < kFilled; ++i) {
    if (from[i] != pattern(rank, i)) return false;
  }
  return true;
}

/// Whether one of the standard streams leads to what only the library opens.
bool is_of_library(int fd) {
  std::array<char, 256> target{};
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(name.c_str(), target.data(), target.size() - 1) < 0) return false;
  const std::string text(target.data());
  const auto begins = [&text](const char* start) { return text.rfind(start, 0) == 0; };
  return begins("/memfd:") || begins("socket:") || begins("anon_inode:");
}

void use_streams() {
  constexpr int kLines = 4000;
  const std::string line = "a line that goes into a stream, whatever that is\n";
  for (int i = 0; i < kLines; ++i) {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      static_cast<void>(!::write(fd, line.data(), line.size()));
  }
  std::array<char, 4096> input{};
  static_cast<void>(!::read(STDIN_FILENO, input.data(), input.size()));
}

}  // namespace

// streams [close]: fills shared memory, writes and reads standard streams, looks at the memory.
int streams(Job& job, char** argv) {
  if (argv[3] != nullptr && std::string(argv[3]) == "close") {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  }
  const auto nic = viaduct::via::open_nic(job);
  // A Split-C program's, for one, which is made long after the job.
  const viaduct::MemoryFile later[]{{{"later", "file", "a setting"}, kFilled},
                                    {{"later", "file", "a setting"}, kFilled}};
  const std::uint32_t me = index(job.rank());
  const std::size_t offset = job.segment().allocate(kFilled);
  std::byte* const mine = job.segment().base() + offset;
  for (std::size_t i = 0; i < kFilled; ++i) mine[i] = pattern(me, i);
  if (barrier(job) != Status::ok) return 3;
  use_streams();
  for (const viaduct::MemoryFile& each : later) {
    std::byte first{};
    if (::pread(each.fd(), &first, 1, 0) != 1 || first != std::byte{}) return 8;
  }
  if (barrier(job) != Status::ok) return 4;
  const std::uint32_t next = (me + 1) % job.size();
  if (!holds_pattern(mine, me)) return 5;
  if (!holds_pattern(job.window_of(Rank{next}) + offset, next)) return 6;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (is_of_library(fd)) return 7;
  }
  return barrier(job) == Status::ok ? 0 : 9;
}

// flood [ignore]: writes both streams until they take no more, and on.
int flood(Job&, char** argv) {
  if (argv[3] != nullptr && std::string(argv[3]) == "ignore") ::signal(SIGTERM, SIG_IGN);
  const std::string text = std::string(1000, 'x') + "\n";
  if (::fork() == 0) {
    while (::write(STDERR_FILENO, text.data(), text.size()) > 0 || errno == EINTR) {
    }
    ::_exit(0);
  }
  while (::write(STDOUT_FILENO, text.data(), text.size()) > 0 || errno == EINTR) {
  }
  hang();
}

// blocked return|throw: rank 0 writes its output until nobody takes more, and on, with the stream's
// lock. Meanwhile rank 1 ends as it is told, where ranks are processes with a line in stdio.
int blocked(Job& job, char** argv) {
  if (index(job.rank()) == 0) {
    while (true) std::puts("a line that nobody reads");
  }
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  for (int full = 0; full < 20; full = ::poll(&output, 1, 5) == 0 ? full + 1 : 0) {
  }
  if (!job.threads_mode()) std::fputs("a line that is left\n", stdout);
  if (std::string(argv[3]) == "throw") throw std::runtime_error("thrown on purpose");
  return 3;
}

}  // namespace actor
