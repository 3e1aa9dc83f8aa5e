#include "runtime/launcher/supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/processes.hpp"
#include "runtime/launcher/say.hpp"
#include "runtime/launcher/watchdog.hpp"
#include "runtime/src/launch_variables.hpp"
#include "runtime/src/pidfd.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

constexpr auto kAsk = std::chrono::milliseconds(100);
constexpr auto kForWatchdog = std::chrono::milliseconds(1000);
constexpr auto kForLastWords = std::chrono::milliseconds(500);
// The launcher itself needs as long as it takes to kill all ranks.
constexpr auto kForSecondInterrupt = std::chrono::milliseconds(1500);

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignals) sigaddset(&set, number);
  return set;
}

/// Blocks the handled signals and SIGPIPE, without a change to their actions: ranks get their mask
/// back before they start, so that they find the signals as viaduct-run found them (under nohup,
/// for one).
sigset_t block_signals() {
  sigset_t blocked = handled_signals();
  sigset_t before;
  sigaddset(&blocked, SIGPIPE);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  return before;
}

/// Random, and behind the id of the job that this one was started in, if any.
std::string new_job_id() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    throw_errno(errors::system_refused, "cannot get random bytes for the job's id");
  const char* const outer = std::getenv(launch::kJobId);
  return outer != nullptr ? fmt::format("{}.{:016x}", outer, number)
                          : fmt::format("{:016x}", number);
}

bool ignores(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Waits for the other end of @p pipe: for @p limit at most, so that a process that is stopped or
/// stuck in its first steps does not delay the others.
bool readable_within(int pipe, std::chrono::milliseconds limit) {
  pollfd wanted{pipe, POLLIN, 0};
  return ::poll(&wanted, 1, static_cast<int>(limit.count())) > 0;
}

Pipe pipe_or_throw() {
  Pipe pipe = open_pipe();
  if (!pipe.reading.is_open())
    throw_errno(
        errors::system_refused,
        "cannot open a pipe between viaduct-run's own processes: no file descriptor is free "
        "(raise ulimit -n)");
  return pipe;
}

pid_t fork_or_throw() {
  const pid_t pid = ::fork();
  if (pid < 0)
    throw_errno(
        errors::system_refused,
        "cannot start the launcher's own processes (ulimit -u, or the control group's pids.max)");
  return pid;
}

class Supervisor {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Supervisor(const std::function<int(const SupervisorLink&)>& launcher);
  int run();

 private:
  [[noreturn]] void be_launcher(const std::function<int(const SupervisorLink&)>& launcher);
  void await_begin() const;
  void start_watchdog();
  void send(int number, bool from_terminal) const;
  void note_interrupt();
  bool reap();
  int finish();

  SupervisorLink link_;
  FileDescriptor self_;
  Pipe signals_;
  pid_t launcher_ = 0;
  pid_t watchdog_ = 0;
  int launcher_status_ = 0;
  int interrupts_ = 0;
  std::optional<Clock::time_point> kill_launcher_at_;  // which has not obeyed
  bool killed_launcher_ = false;                       // by this process, as its user wished
};

Supervisor::Supervisor(const std::function<int(const SupervisorLink&)>& launcher) {
  link_.ignores_hang_up = ignores(SIGHUP);
  link_.signal_mask = block_signals();
  link_.ignores_children = ignores(SIGCHLD);
  ::signal(SIGCHLD, SIG_DFL);  // else the kernel reaps the children, and nobody hears of their end
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  link_.supervisor = ::getpid();
  link_.job_id = new_job_id();
  self_ = open_pidfd(link_.supervisor);
  link_.supervisor_pidfd = self_.get();
  signals_ = pipe_or_throw();
  ::fcntl(signals_.writing.get(), F_SETFL,
          O_NONBLOCK);  // a launcher that is stopped must not hold up its supervisor
  launcher_ = fork_or_throw();
  if (launcher_ == 0) be_launcher(launcher);
  signals_.reading.reset();
  start_watchdog();
  send(0, false);  // the launcher may begin
}

void Supervisor::be_launcher(const std::function<int(const SupervisorLink&)>& launcher) {
  int status = kExitLauncher;
  try {
    signals_.writing.reset();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    link_.signals = signals_.reading.get();
    await_begin();
    status = launcher(link_);
  } catch (const std::exception& problem) {
    say(sentence_of(problem));
    static_cast<void>(said_all_within(kForLastWords));
  }
  ::_exit(status);
}

/// Ends the launcher's process when its supervisor has ended before the job began.
void Supervisor::await_begin() const {
  ::fcntl(link_.signals, F_SETFL, O_NONBLOCK);
  ForwardedSignal begin{};
  while (::read(link_.signals, &begin, sizeof begin) != sizeof begin) {
    const bool gone = ::getppid() != link_.supervisor;
    if (gone || (errno != EAGAIN && errno != EINTR)) ::_exit(kExitLauncher);
    static_cast<void>(readable_within(link_.signals, kAsk));
  }
}

void Supervisor::start_watchdog() {
  const FileDescriptor launcher = open_pidfd(launcher_);
  Pipe ready = pipe_or_throw();
  watchdog_ = fork_or_throw();
  if (watchdog_ == 0)
    be_watchdog({link_.supervisor, launcher_, self_.get(), launcher.get(), link_.job_id});
  ready.writing.reset();
  static_cast<void>(readable_within(ready.reading.get(), kForWatchdog));  // its end: all is closed
}

void Supervisor::send(int number, bool from_terminal) const {
  const ForwardedSignal signal{number, from_terminal ? 1 : 0};
  static_cast<void>(!::write(signals_.writing.get(), &signal, sizeof signal));
}

/// Reaps the processes that have ended. True when the launcher is among them.
bool Supervisor::reap() {
  bool launcher_ended = false;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == watchdog_) watchdog_ = 0;
    if (pid != launcher_) continue;
    launcher_ended = true;
    launcher_status_ = status;
  }
  return launcher_ended;
}

int Supervisor::run() {
  const sigset_t handled = handled_signals();
  while (true) {
    siginfo_t info{};
    const timespec moment{0, std::chrono::nanoseconds(kAsk).count()};
    const int number = kill_launcher_at_ ? ::sigtimedwait(&handled, &info, &moment)
                                         : ::sigwaitinfo(&handled, &info);
    if (kill_launcher_at_ && Clock::now() >= *kill_launcher_at_) {
      killed_launcher_ = true;
      ::kill(launcher_, SIGKILL);
    }
    if (number == SIGCHLD) {
      if (reap()) return finish();
    } else if (number > 0) {
      if (number == SIGINT) note_interrupt();
      send(number, info.si_code == SI_KERNEL);
      if (number == SIGTSTP) ::raise(SIGSTOP);  // as the shell expects of a job that is suspended
    }
  }
}

/// A second interrupt ends the job, whatever state the launcher is in.
void Supervisor::note_interrupt() {
  if (++interrupts_ == 2) kill_launcher_at_ = Clock::now() + kForSecondInterrupt;
}

int Supervisor::finish() {
  const bool ended_well = WIFEXITED(launcher_status_);
  // Until its work is done for it, the watchdog stays: this process may be killed too.
  if (!ended_well) static_cast<void>(kill_descendants({watchdog_}));
  if (watchdog_ != 0) {
    ::kill(watchdog_, SIGKILL);
    ::waitpid(watchdog_, nullptr, 0);
  }
  if (!kill_descendants({})) say("processes of the job are left that cannot be killed");
  const bool interrupted = !ended_well && killed_launcher_;
  if (interrupted)
    say(with_code(errors::launcher_killed,
                  "interrupted twice; the launcher process did not end by itself, and was killed"));
  else if (!ended_well)
    say(with_code(errors::launcher_killed,
                  fmt::format("the launcher process was killed by signal {}; the job is ended",
                              WTERMSIG(launcher_status_))));
  static_cast<void>(said_all_within(kForLastWords));
  if (interrupted) return 128 + SIGINT;
  return ended_well ? WEXITSTATUS(launcher_status_) : kExitLauncher;
}

}  // namespace

int supervise(const std::function<int(const SupervisorLink&)>& launcher) {
  Supervisor supervisor(launcher);
  return supervisor.run();
}

}  // namespace viaduct::launcher
