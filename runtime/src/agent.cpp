#include "runtime/src/agent.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string_view>

#include "runtime/errors/codes.hpp"
#include "runtime/src/agent_process.hpp"
#include "runtime/src/detach.hpp"
#include "runtime/src/pidfd.hpp"
#include "runtime/src/secret.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr int kAgentBacklog = 1024;
constexpr std::size_t kNameBytes = 16;  // of the digest

struct AbstractName {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

/// Only processes with the job's secret and id know the name, and none before the job.
AbstractName name_of_agent(const std::string& secret, const std::string& job_id,
                           std::uint32_t host) {
  const Digest digest =
      authenticate(bytes_of(secret), {bytes_of("agent"), bytes_of(job_id), bytes_of_object(host)});
  const std::string text = "viaduct-" + hexadecimal(std::span(digest).first(kNameBytes));
  AbstractName name;
  name.address.sun_family = AF_UNIX;
  text.copy(name.address.sun_path + 1, text.size());  // after the zero of an abstract name
  name.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

FileDescriptor local_socket(int flags) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open())
    throw_errno(errors::system_refused,
                "cannot open a socket between this host's ranks and their agent");
  return socket;
}

/// Each rank of the job may be a connection, and each of the host a few.
void take_all_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

[[noreturn]] void be_agent(AgentPlan&& plan) {
  try {
    take_all_descriptors();
    detach("viaduct-agent",
           {plan.listener.get(), plan.hub.fd(), plan.local.get(), plan.founder_pidfd.get()});
    AgentProcess agent(std::move(plan));
    agent.run();
  } catch (const std::exception&) {
    // The agent's ranks find their connections ended, and the watchdog ends those that wait.
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

FileDescriptor listen_for_ranks(const std::string& secret, const std::string& job_id,
                                std::uint32_t host) {
  const AbstractName name = name_of_agent(secret, job_id, host);
  FileDescriptor socket = local_socket(SOCK_NONBLOCK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0 ||
      ::listen(socket.get(), kAgentBacklog) != 0)
    throw_errno(errors::system_refused,
                "cannot open the socket at which the agent of this host listens");
  return socket;
}

FileDescriptor connect_to_agent(const std::string& secret, const std::string& job_id,
                                std::uint32_t host) {
  const AbstractName name = name_of_agent(secret, job_id, host);
  FileDescriptor socket = local_socket(0);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0)
    throw_errno(errors::job_not_begun,
                "cannot reach the agent of this host; is it another container with the same "
                "VIADUCT_HOST_KEY?");
  return socket;
}

/// Twice, so that no wait() of the program finds the agent.
void start_agent(AgentPlan plan) {
  plan.founder_pidfd = open_pidfd(::getpid());
  const pid_t between = ::fork();
  if (between < 0)
    throw_errno(errors::system_refused,
                "cannot start the agent of this host (ulimit -u, or the control group's pids.max)");
  if (between == 0) {
    const pid_t agent = ::fork();
    if (agent == 0) be_agent(std::move(plan));
    ::_exit(agent < 0 ? errno : 0);
  }
  // The agent has these now.
  plan.listener.reset();
  plan.local.reset();
  plan.founder_pidfd.reset();
  int status = 0;
  while (::waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    throw Error(errors::system_refused, WEXITSTATUS(status), "cannot start the agent of this host");
}

}  // namespace viaduct
