#include "tests/fault/set_up/two_ranks.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/src/job_host.hpp"
#include "runtime/src/launch_variables.hpp"
#include "tests/fault/set_up/harness.hpp"

namespace set_up {
namespace {

using viaduct::FileDescriptor;
using viaduct::JobHost;
using viaduct::Rank;
namespace launch = viaduct::launch;

struct Sockets {
  FileDescriptor server;
  FileDescriptor rank;
};

Sockets open_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) != 0)
    throw std::runtime_error("no pair of sockets");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// Until both ranks have hung up.
void serve(JobHost& host) {
  viaduct::BootstrapServer& server = host.server();
  while (server.is_open(Rank{0}) || server.is_open(Rank{1})) {
    std::array<pollfd, 2> watched{};
    for (std::uint32_t i = 0; i < 2; ++i) watched[i] = {server.socket(Rank{i}), POLLIN, 0};
    ::poll(watched.data(), watched.size(), -1);
    for (std::uint32_t i = 0; i < 2; ++i)
      if (watched[i].revents != 0 && !server.readable(Rank{i}).empty()) ::_exit(3);
    for (const Rank gone : server.take_hung_up())
      if (host.state_of(gone) == viaduct::RankState::finalized)
        host.finish(gone, 0);
      else
        host.lose(gone, viaduct::RankState::left, 0);
  }
}

/// The Job takes over @p socket.
void become(std::uint32_t rank, FileDescriptor&& socket) {
  ::setenv(launch::kRank, std::to_string(rank).c_str(), 1);
  ::setenv(launch::kSocket, std::to_string(socket.release()).c_str(), 1);
}

/// Forks a process that runs @p body, and must end in time. Its exit code is 1 after an exception
/// of the library, and 2 when the test finds something wrong.
template <class Body>
void fork_helper(Body&& body) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child != 0) return;
  ::alarm(kMostSeconds);
  int code = 0;
  try {
    body();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "rank 1: %s\n", problem.what());
    code = dynamic_cast<const std::logic_error*>(&problem) != nullptr ? 2 : 1;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace

void fork_peer(const std::function<void(viaduct::Job&)>& peer) {
  // These stay open in this process, and in the others, until they end.
  auto* const host = new JobHost(2);
  std::array<Sockets, 2> sockets{open_sockets(), open_sockets()};
  ::setenv(launch::kJobId, "set-up", 1);
  ::setenv(launch::kMode, "processes", 1);
  ::setenv(launch::kSize, "2", 1);
  ::setenv(launch::kPage, std::to_string(host->page_fd()).c_str(), 1);
  ::setenv(launch::kKeepGoing, "1", 1);
  fork_helper([&] {
    for (std::uint32_t i = 0; i < 2; ++i) {
      host->server().open(Rank{i}, std::move(sockets[i].server));
      sockets[i].rank.reset();
    }
    serve(*host);
  });
  for (Sockets& each : sockets) each.server.reset();
  fork_helper([&] {
    sockets[0].rank.reset();
    become(1, std::move(sockets[1].rank));
    viaduct::Job job;
    peer(job);
  });
  sockets[1].rank.reset();
  become(0, std::move(sockets[0].rank));
}

}  // namespace set_up
