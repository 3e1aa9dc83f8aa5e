// Launcher: starting the ranks.

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <array>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/events.hpp"
#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/spawn.hpp"
#include "runtime/src/cores.hpp"
#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

/// The cores that this process may run on.
std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    throw_errno(errors::system_refused, "cannot ask for the allowed cores (--bind)");
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

std::array<FileDescriptor, 2> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_errno(errors::system_refused, "cannot open a socket pair for a rank");
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

void Launcher::start_all() {
  const std::vector<int> cores = options_.bind ? allowed_cores() : std::vector<int>{};
  if (options_.threads) {
    start(0, options_.ranks, cores);
  } else {
    for (std::uint32_t i = 0; i < part_.ranks; ++i) start(part_.first_rank + i, 1, cores);
  }
}

void Launcher::start(std::uint32_t first_rank, std::uint32_t ranks, const std::vector<int>& cores) {
  SpawnPlan plan;
  plan.program = options_.program;
  plan.signal_mask = supervisor_.signal_mask;
  plan.ignores_children = supervisor_.ignores_children;
  plan.descriptor_limit = descriptor_limit_;
  plan.with_stdin = first_rank == 0;
  plan.inherited.push_back(host_.page_fd());
  plan.environment = {{launch::kJobId, supervisor_.job_id},
                      {launch::kSize, std::to_string(options_.ranks)},
                      {launch::kPage, std::to_string(host_.page_fd())},
                      {launch::kCores, std::to_string(usable_cores())},
                      {launch::kKeepGoing, options_.keep_going ? "1" : "0"},
                      {launch::kMode, options_.threads ? "threads" : "processes"}};
  plan.environment.insert(plan.environment.end(), part_.environment.begin(),
                          part_.environment.end());
  if (!options_.provider.empty())
    plan.environment.emplace_back(launch::kProvider, options_.provider);
  std::array<FileDescriptor, 2> sockets;
  if (!options_.threads) {
    sockets = socket_pair();
    plan.inherited.push_back(sockets[1].get());
    plan.environment.emplace_back(launch::kRank, std::to_string(first_rank));
    plan.environment.emplace_back(launch::kSocket, std::to_string(sockets[1].get()));
    if (!cores.empty()) plan.core = cores[(first_rank - part_.first_rank) % cores.size()];
    plan.environment.emplace_back(launch::kBound, cores.empty() ? "0" : "1");
  }
  Labels::Ends ends;
  if (options_.label) {
    ends = labels_.add(options_.threads ? fmt::format("[0-{}] ", ranks - 1)
                                        : fmt::format("[{}] ", first_rank));
    plan.out = ends.out.get();
    plan.err = ends.err.get();
  }
  const pid_t pid = spawn(plan);
  for (std::uint32_t i = 0; i < ranks; ++i) host_.set_pid(Rank{first_rank + i}, pid);
  by_pid_.emplace(pid, processes_.size());
  processes_.push_back({pid, first_rank, ranks, false});
  ++living_;
  if (options_.threads) return;
  watch(sockets[0].get(), event::socket_of(first_rank));
  host_.server().open(Rank{first_rank}, std::move(sockets[0]));
}

}  // namespace viaduct::launcher
