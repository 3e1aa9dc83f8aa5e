#include "runtime/launcher/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>

#include "runtime/errors/codes.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {
namespace {

constexpr std::uint64_t kOtherDescriptors = 32;

void redirect(const SpawnPlan& plan) noexcept {
  if (plan.in >= 0) {
    ::dup2(plan.in, STDIN_FILENO);
  } else if (!plan.with_stdin) {
    close_descriptor(STDIN_FILENO);
    open_standard_streams();
  }
  if (plan.out >= 0) ::dup2(plan.out, STDOUT_FILENO);
  if (plan.err >= 0) ::dup2(plan.err, STDERR_FILENO);
  for (const int fd : plan.inherited) ::fcntl(fd, F_SETFD, 0);
}

void bind_to(int core) noexcept {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

/// In the child: never returns. An error is sent to @p report as an errno value.
[[noreturn]] void become(const SpawnPlan& plan, char* const* argv, pid_t parent,
                         int report) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before it could be watched
  if (plan.own_session) ::setsid();
  redirect(plan);
  bind_to(plan.core);
  for (const auto& [name, value] : plan.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::setrlimit(RLIMIT_NOFILE, &plan.descriptor_limit);
  if (plan.ignores_children) ::signal(SIGCHLD, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  ::execvp(argv[0], argv);
  const int problem = errno;
  static_cast<void>(!::write(report, &problem, sizeof problem));
  ::_exit(1);
}

std::vector<char*> argument_vector(const std::vector<std::string>& program) {
  std::vector<char*> argv;
  for (const std::string& word : program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

}  // namespace

pid_t spawn(const SpawnPlan& plan) {
  Pipe report = open_pipe();
  if (!report.reading.is_open())
    throw_errno(errors::system_refused, "cannot open a pipe to start a rank with");
  const std::vector<char*> argv = argument_vector(plan.program);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    throw_errno(errors::system_refused,
                "cannot start one more process (ulimit -u, or the control group's pids.max)");
  if (pid == 0) become(plan, argv.data(), parent, report.writing.get());
  report.writing.reset();
  int problem = 0;
  ssize_t got = 0;
  do {
    // Ends empty when exec closes the other end.
    got = ::read(report.reading.get(), &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof problem) return pid;
  ::waitpid(pid, nullptr, 0);
  const std::string& name = plan.program.front();
  const bool searched = problem == ENOENT && name.find('/') == std::string::npos;
  throw Error(errors::program_not_started, problem,
              fmt::format("cannot execute {}{}{}", name,
                          searched ? fmt::format(" (it is in no folder of PATH; one of "
                                                 "this folder is ./{})",
                                                 name)
                                   : "",
                          name.starts_with('-')
                              ? ": the word behind -- is the program, and viaduct-run's own "
                                "options stand before --"
                              : ""));
}

rlimit make_room_for_descriptors(std::uint64_t count, const char* things, std::uint64_t each) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw_errno(errors::system_refused, "cannot ask for the file descriptor limit");
  const rlimit before = limit;
  const std::uint64_t needed = count * each + kOtherDescriptors;
  if (limit.rlim_max < needed) {
    throw Error(errors::descriptor_limit, std::errc::too_many_files_open,
                fmt::format("a job of {} {} needs {} file descriptors and the limit is {}: "
                            "raise it (ulimit -Hn) or use fewer {}",
                            count, things, needed, limit.rlim_max, things));
  }
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

}  // namespace viaduct::launcher
