#include "runtime/launcher/hosts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/agent.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/last_output.hpp"
#include "runtime/launcher/processes.hpp"
#include "runtime/launcher/remote_command.hpp"
#include "runtime/launcher/say.hpp"
#include "runtime/launcher/spawn.hpp"
#include "runtime/launcher/start_thread.hpp"
#include "runtime/launcher/terminal.hpp"
#include "runtime/src/address.hpp"
#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/settings.hpp"

namespace viaduct::launcher {
namespace {

constexpr auto kAfterCommand = std::chrono::seconds(2);
constexpr auto kAfterTheEnd = std::chrono::milliseconds(500);
constexpr auto kOutputOfHurried = std::chrono::milliseconds(400);  // of hosts, once told to end
constexpr auto kLastOutput = std::chrono::seconds(10);
constexpr std::uint64_t kPerHostDescriptors = 2;  // connection, input
constexpr std::uint64_t kPerHostForLabels = 2;    // two pipes
constexpr int kAskMs = 100;                       // where pidfds are refused

std::string own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t bytes = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (bytes <= 0)
    throw_errno(errors::system_refused, "cannot find out where viaduct-run itself is");
  return std::string(path.data(), static_cast<std::size_t>(bytes));
}

std::string own_directory() {
  std::array<char, PATH_MAX> path{};
  if (::getcwd(path.data(), path.size()) == nullptr)
    throw_errno(errors::system_refused, "cannot ask for the directory");
  return path.data();
}

/// The user's settings, for the ranks of other hosts. Variables that viaduct-run sets itself are
/// not among them.
std::vector<std::pair<std::string, std::string>> own_settings() {
  std::vector<std::pair<std::string, std::string>> settings;
  for (char** each = ::environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (name.substr(0, 8) != "VIADUCT_" || equals == std::string_view::npos) continue;
    if (!is_launch_variable(name) || name == launch::kProvider)
      settings.emplace_back(name, entry.substr(equals + 1));
  }
  return settings;
}

FileDescriptor open_child_events() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  FileDescriptor events(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!events.is_open()) throw_errno(errors::system_refused, "cannot open a signalfd");
  return events;
}

std::string describe_end(int wait_status) {
  return WIFSIGNALED(wait_status) ? fmt::format("was killed by signal {}", WTERMSIG(wait_status))
                                  : fmt::format("ended with code {}", WEXITSTATUS(wait_status));
}

}  // namespace

HostsLauncher::HostsLauncher(const Options& options, const SupervisorLink& supervisor)
    : options_(options),
      supervisor_(supervisor),
      secret_(new_secret()),
      descriptor_limit_(
          make_room_for_descriptors(options.hosts.size(), "hosts",
                                    kPerHostDescriptors + (options.label ? kPerHostForLabels : 0))),
      child_events_(open_child_events()),
      terminal_(open_terminal(supervisor)),
      settled_(options.ranks, false) {
  RuntimeSettings settings;
  config::load(&settings, runtime_options());
  join_limit_ = std::chrono::nanoseconds(settings.join_timeout_ns);
  for (const Options::Share& share : options_.hosts) {
    Host host;
    host.share = share;
    hosts_.push_back(std::move(host));
  }
  watch_terminal();
}

void HostsLauncher::watch_terminal() {
  if (!terminal_.is_open()) return;
  terminal_events_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // typed input is for other processes: one event is enough
  ::epoll_ctl(terminal_events_.get(), EPOLL_CTL_ADD, terminal_.get(), &event);
}

int HostsLauncher::run() {
  if (options_.time_limit_s > 0)
    time_limit_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options_.time_limit_s));
  start_agents();
  loop();
  finish();
  return status_.value_or(labels_.is_refused() ? kExitLauncher : 0);
}

void HostsLauncher::start_agents() {
  FileDescriptor listener = listen_anywhere(false);
  const std::uint16_t port = port_of(listener.get());
  server_ = std::make_unique<LinkServer>(std::move(listener), secret_, *this, hosts_.size());
  std::string addresses;
  for (const std::string& each : own_addresses(port, false))
    addresses += (addresses.empty() ? "" : ",") + each;
  if (!options_.address.empty())
    addresses = to_string(Address{options_.address, std::to_string(port)});
  join_until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(join_limit_);
  try {
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) start_agent(i, addresses);
    labels_.start();
  } catch (const Error& problem) {
    settle(kExitLauncher, problem.what());
    end_all(true);
  }
}

/// The remote command's standard input stays open until the job begins, at least: an agent that
/// waits for the job ends when it ends.
void HostsLauncher::start_agent(std::uint32_t number, const std::string& addresses) {
  Host& host = hosts_[number];
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(join_limit_);
  const std::string command = fmt::format("exec {} {} {} {} {}", quoted(own_program()), kAgentFlag,
                                          quoted(addresses), number, limit.count());
  Pipe input = open_pipe();
  if (!input.reading.is_open())
    throw_errno(errors::system_refused, "cannot open a pipe to a remote command");
  SpawnPlan plan;
  plan.program = remote_words(options_.remote_command, host.share.host, command);
  host.command = text_of_words({plan.program.data(), plan.program.size() - 1});
  plan.environment = {{launch::kJobId, supervisor_.job_id}};
  plan.in = input.reading.get();
  plan.own_session = true;
  plan.signal_mask = supervisor_.signal_mask;
  plan.ignores_children = supervisor_.ignores_children;
  plan.descriptor_limit = descriptor_limit_;
  Labels::Ends output;
  if (options_.label) {  // the agents' output has its labels already
    output = labels_.add("");
    plan.out = output.out.get();
    plan.err = output.err.get();
  }
  host.pid = spawn(plan);
  const std::string line = secret_ + "\n";
  // When it has ended already this fails, and is noticed by itself.
  static_cast<void>(!::write(input.writing.get(), line.data(), line.size()));
  host.input = std::move(input.writing);
}

/// Standard input goes to rank 0, by a thread: both ends may make it wait.
void HostsLauncher::pump_stdin(FileDescriptor to) {
  start_thread("standard input", [pipe = std::move(to)] {
    // From the background, a terminal is then an error to this thread and does not stop the job.
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTTIN);
    ::pthread_sigmask(SIG_BLOCK, &stops, nullptr);
    std::array<char, 4096> buffer{};
    while (true) {
      const ssize_t got = read_standard_input(buffer);
      if (got <= 0) return;
      for (ssize_t done = 0; done < got;) {
        const ssize_t put =
            ::write(pipe.get(), buffer.data() + done, static_cast<std::size_t>(got - done));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return;
        done += put;
      }
    }
  }).detach();
}

/// All agents are there.
void HostsLauncher::begin() {
  begun_ = true;
  join_until_.reset();
  Order order;
  order.options = options_;
  order.directory = own_directory();
  order.part.environment = own_settings();
  for (std::uint32_t i = 0; i < hosts_.size(); ++i)
    order.part.hosts.insert(order.part.hosts.end(), hosts_[i].share.ranks, i);
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    order.part.first_rank = hosts_[i].share.first;
    order.part.ranks = hosts_[i].share.ranks;
    order.part.here = i;
    order.part.host_name = hosts_[i].share.host;
    link::Frame start{link::Kind::start};
    start.value = encode_order(order);
    if (start.value.size() > link::kMaxValue) {
      fail(kExitLauncher, errors::remote_order,
           "the command line and the settings are too long for other hosts");
      return end_all(true);
    }
    server_->send(*hosts_[i].link, start);
  }
  pump_stdin(std::move(hosts_.front().input));
}

void HostsLauncher::loop() {
  while (!all_done()) {
    std::array<pollfd, 5> fds{{{child_events_.get(), POLLIN, 0},
                               {supervisor_.signals, POLLIN, 0},
                               {supervisor_.supervisor_pidfd, POLLIN, 0},
                               {server_->fd(), POLLIN, 0},
                               {terminal_events_.get(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), patience_ms());
    if (fds[2].revents != 0 ||
        (supervisor_.supervisor_pidfd < 0 && ::getppid() != supervisor_.supervisor)) {
      static_cast<void>(kill_descendants({}));  // the agents see their connections end
      ::_exit(kExitLauncher);
    }
    if (fds[1].revents != 0) on_signals();
    if (fds[4].revents != 0) look_at_terminal();
    server_->turn();
    if (fds[0].revents != 0) reap();
    check_clock();
  }
}

int HostsLauncher::patience_ms() const {
  auto wait = std::chrono::milliseconds(supervisor_.supervisor_pidfd < 0 ? kAskMs : 3'600'000);
  const auto now = Clock::now();
  const auto until = [&](const std::optional<Clock::time_point>& limit) {
    if (limit)
      wait =
          std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(std::max(*limit, now) - now));
  };
  until(join_until_);
  until(time_limit_);
  until(grace_until_);
  until(last_moment_);
  for (const Host& host : hosts_) until(host.give_up);
  for (const Failing& each : failing_) until(each.until);
  return static_cast<int>(wait.count());
}

void HostsLauncher::check_clock() {
  const auto now = Clock::now();
  if (join_until_ && now >= *join_until_) {
    join_until_.reset();
    const auto first =
        std::find_if(hosts_.begin(), hosts_.end(), [](const Host& host) { return !host.link; });
    fail(kExitLauncher, errors::agent_absent,
         fmt::format("the agent of {} has not come within {} s (VIADUCT_JOIN_TIMEOUT); the remote "
                     "command was: {}{}",
                     absent_hosts(), std::chrono::duration<double>(join_limit_).count(),
                     first->command,
                     wrong_secrets_ != 0 ? "; somebody came with a wrong secret" : ""));
    end_all(true);
  }
  if (time_limit_ && now >= *time_limit_) {
    time_limit_.reset();
    told_to_end_ = true;
    if (!ending_) {
      broadcast({link::Kind::report});
      fail(kExitTimeLimit, errors::time_limit,
           fmt::format("the time limit of {} s has passed", options_.time_limit_s));
      end_all(false);
    }
  }
  if (grace_until_ && now >= *grace_until_) end_after_grace();
  fail_failing(now);
  for (Host& host : hosts_) {
    if (host.give_up && now >= *host.give_up) lose_host(host, "its remote command has ended");
  }
  if (last_moment_ && now >= *last_moment_) {
    for (Host& host : hosts_) {
      if (!host.done) lose_host(host, "it does not answer");
    }
  }
}

void HostsLauncher::reap() {
  signalfd_siginfo drained{};
  while (::read(child_events_.get(), &drained, sizeof drained) > 0) {
  }
  int wait_status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    const auto host = std::find_if(hosts_.begin(), hosts_.end(),
                                   [pid](const Host& each) { return each.pid == pid; });
    if (host == hosts_.end()) continue;
    host->pid = 0;
    if (host->done) continue;
    if (host->link) {
      host->give_up = Clock::now() + kAfterCommand;  // its last words may be on their way
    } else if (wait_status != 0) {
      host->done = true;
      fail(kExitLauncher, errors::agent_absent,
           fmt::format("host {}: its remote command {} before the agent had come: {}",
                       host->share.host, describe_end(wait_status), host->command));
      end_all(true);
    } else {
      host->command += ", which has ended with code 0";  // its agent may still come
    }
  }
}

void HostsLauncher::on_signals() {
  ForwardedSignal signal{};
  while (true) {
    const ssize_t got = ::read(supervisor_.signals, &signal, sizeof signal);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof signal) return;
    obey(signal);
  }
}

void HostsLauncher::obey(const ForwardedSignal& signal) {
  if (signal.number == SIGHUP && signal.from_terminal != 0) return hang_up();
  if (all_done()) {  // the rest of the output is not wanted any more
    if (signal.number == SIGINT || signal.number == SIGTERM) told_to_end_ = true;
    return;
  }
  if (!begun_) return obey_before_the_job(signal.number);
  if (signal.number == SIGUSR1) return broadcast({link::Kind::report});
  if (signal.number == SIGINT && ++interrupts_ > 1) {
    if (!status_) status_ = kExitSignal + signal.number;
    told_to_end_ = true;
    return end_all(true);
  }
  if (signal.number == SIGTERM && !grace_until_)
    grace_until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(options_.grace_s));
  broadcast({link::Kind::signal, 0, static_cast<std::uint32_t>(signal.number)});
}

/// There is no rank yet that a signal could be for.
void HostsLauncher::obey_before_the_job(int signal) {
  if (signal == SIGUSR1)
    return say(fmt::format("no rank runs yet: waiting for the agent of {}", absent_hosts()));
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT) return;
  if (!status_) status_ = kExitSignal + signal;
  told_to_end_ = true;
  end_all(true);
}

std::string HostsLauncher::absent_hosts() const {
  std::string absent;
  for (const Host& host : hosts_) {
    if (!host.link) absent += (absent.empty() ? "" : ", ") + host.share.host;
  }
  return absent;
}

/// Whether a remote command that is still running may have output that its agent has handed to it.
bool HostsLauncher::output_to_come() const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [](const Host& host) { return host.pid != 0 && host.said_so; });
}

/// Ranks are left that SIGTERM has not ended.
void HostsLauncher::end_after_grace() {
  grace_until_.reset();
  told_to_end_ = true;
  if (ending_) return;
  fail(kExitSignal + SIGTERM, errors::grace_over,
       fmt::format("ranks that did not end within {} s of SIGTERM (--grace) are killed",
                   options_.grace_s));
  end_all(true);
}

void HostsLauncher::look_at_terminal() {
  epoll_event event{};
  static_cast<void>(::epoll_wait(terminal_events_.get(), &event, 1, 0));
  if (is_hung_up(terminal_.get())) hang_up();
}

/// The terminal that the job was started from has gone. Under nohup that is not to matter.
void HostsLauncher::hang_up() {
  terminal_.reset();
  terminal_events_.reset();
  if (supervisor_.ignores_hang_up) return;
  told_to_end_ = true;
  if (all_done() || ending_) return;
  fail(kExitSignal + SIGHUP, errors::terminal_gone,
       "the terminal has gone: the job is ended (nohup or setsid keeps a job)");
  broadcast({link::Kind::signal, 0, SIGHUP});
  end_all(!begun_);
}

/// The remote commands end with their agents, when their output has been taken, however slow its
/// reader is; after a failure they have a limit. Commands that still run then are killed.
void HostsLauncher::finish() {
  const auto soon = Clock::now() + kAfterTheEnd;
  server_->flush_until(soon);
  for (Host& host : hosts_) host.input.reset();
  auto limit = ending_ ? std::max(*last_moment_, soon) : Clock::time_point::max();
  bool hurried = false;
  while (output_to_come() && Clock::now() < limit && may_stay(kAskMs)) {
    if (!told_to_end_ || std::exchange(hurried, true)) continue;
    limit = std::min(limit, Clock::now() + kOutputOfHurried);
  }
  static_cast<void>(kill_descendants({}));
  LastOutput output(labels_, kLastOutput);
  while (output.wait(status_.has_value() || ending_, told_to_end_) && may_stay(0)) {
  }
  output.report();
}

/// Waits, and serves signals, the terminal, children and the time limit while the last output is
/// written. False when the supervisor is gone.
bool HostsLauncher::may_stay(int wait_ms) {
  std::array<pollfd, 4> fds{{{child_events_.get(), POLLIN, 0},
                             {supervisor_.signals, POLLIN, 0},
                             {supervisor_.supervisor_pidfd, POLLIN, 0},
                             {terminal_events_.get(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), wait_ms);
  if (fds[1].revents != 0) on_signals();
  if (fds[3].revents != 0) look_at_terminal();
  reap();
  if (time_limit_ && Clock::now() >= *time_limit_ && !told_to_end_) {
    told_to_end_ = true;
    fail(kExitTimeLimit, errors::time_limit,
         "the time limit has passed while the output was written");
  }
  return fds[2].revents == 0 && ::getppid() == supervisor_.supervisor;
}

}  // namespace viaduct::launcher
