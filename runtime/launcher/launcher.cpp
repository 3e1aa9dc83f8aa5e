#include "runtime/launcher/launcher.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <algorithm>
#include <array>
#include <cerrno>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/events.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/last_output.hpp"
#include "runtime/launcher/processes.hpp"
#include "runtime/launcher/say.hpp"
#include "runtime/launcher/spawn.hpp"
#include "runtime/launcher/terminal.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

constexpr auto kKillAgain = std::chrono::milliseconds(20);
constexpr auto kFlush = std::chrono::seconds(1);
constexpr auto kAfterEndOfStream = std::chrono::seconds(1);
// Of a job that has failed. An agent's part ends within the time that viaduct-run gives it.
constexpr auto kLastOutput = std::chrono::seconds(10);
constexpr auto kLastOutputOfAgent = std::chrono::milliseconds(1500);

// Of a rank that is a process: socket, window, Split-C's memory, two pipes.
constexpr std::uint64_t kPerRankDescriptors = 5;

FileDescriptor open_child_events() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  FileDescriptor events(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!events.is_open()) throw_errno(errors::system_refused, "cannot open a signalfd");
  return events;
}

}  // namespace

Launcher::Launcher(const Options& options, const SupervisorLink& supervisor)
    : options_(options),
      supervisor_(supervisor),
      part_{0, options.ranks, {}, 0, {}, {}},
      host_(options.ranks),
      child_events_(open_child_events()) {
  prepare();
}

Launcher::Launcher(const Options& options, const SupervisorLink& supervisor, Part part,
                   link::Link hub)
    : options_(options),
      supervisor_(supervisor),
      part_(std::move(part)),
      hub_(std::move(hub)),
      is_agent_(true),
      host_(part_.hosts, part_.here, [this](link::Frame&& event) { hub_.send(event); }),
      child_events_(open_child_events()) {
  prepare();
  watch(hub_.fd(), event::kHub);
}

void Launcher::prepare() {
  descriptor_limit_ =
      make_room_for_descriptors(part_.ranks, "ranks", options_.threads ? 0 : kPerRankDescriptors);
  epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.is_open()) throw_errno(errors::system_refused, "cannot open an epoll instance");
  watch(child_events_.get(), event::kChild);
  watch(supervisor_.signals, event::kSignal);
  if (supervisor_.supervisor_pidfd >= 0) watch(supervisor_.supervisor_pidfd, event::kSupervisor);
  watch_terminal();
}

int Launcher::run() {
  if (options_.time_limit_s > 0) {
    time_limit_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options_.time_limit_s));
  }
  try {
    start_all();
  } catch (const Error& problem) {
    fail(kExitLauncher, problem.id(),
         is_agent_ ? fmt::format("host {}: {}", part_.host_name, problem.what()) : problem.what());
    end_the_rest();
  }
  labels_.start();
  loop();
  finish();
  if (is_agent_) {
    hub_.send({link::Kind::done});
    hub_.flush_until(Clock::now() + kFlush);
    return 0;
  }
  return status_.value_or(labels_.is_refused() ? kExitLauncher : 0);
}

void Launcher::watch(int fd, std::uint64_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = what;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw_errno(errors::system_refused, "cannot watch a descriptor");
}

void Launcher::loop() {
  while (living_ != 0) {
    std::array<epoll_event, 64> events{};
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   next_timeout_ms());
    // Requests first: messages that a rank sent before it died count.
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event::is_socket(event.data.u64)) serve(event::rank_of(event.data.u64));
    }
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      if (!event::is_socket(what)) handle(what);
    }
    check_clock();
    if (is_agent_) listen_for_hub();
  }
}

/// The kernel tells of a terminal's end the session's leader and the foreground's processes alone,
/// which this job may be none of.
void Launcher::watch_terminal() {
  terminal_ = open_terminal(supervisor_);
  if (!terminal_.is_open()) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // typed input is for other processes: one event is enough
  event.data.u64 = event::kTerminal;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, terminal_.get(), &event);
}

/// Asks to be woken when the hub's connection takes more, as long as something waits.
void Launcher::listen_for_hub() {
  if (hub_.wants_to_write() == hub_waits_) return;
  hub_waits_ = hub_.wants_to_write();
  epoll_event event{};
  event.events = hub_waits_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = event::kHub;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, hub_.fd(), &event);
}

void Launcher::handle(std::uint64_t what) {
  if (what == event::kSignal) on_signals();
  if (what == event::kChild) reap();
  if (what == event::kSupervisor) kill_everything();
  if (what == event::kHub) serve_hub();
  if (what == event::kTerminal && is_hung_up(terminal_.get())) hang_up();
}

int Launcher::next_timeout_ms() const {
  // Without a pidfd the supervisor's life is asked for now and then.
  constexpr int kAskMs = 100;
  constexpr int kLongestMs = 1000;  // then the job page is looked at
  auto wait = std::chrono::milliseconds(supervisor_.supervisor_pidfd < 0 ? kAskMs : kLongestMs);
  const auto now = Clock::now();
  const auto wake_at = [&](Clock::time_point limit) {
    wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(std::max(limit, now) - now));
  };
  for (const auto& limit : {time_limit_, kill_at_, grace_until_}) {
    if (limit) wake_at(*limit);
  }
  for (const Closed& closed : closed_) wake_at(closed.until);
  return static_cast<int>(wait.count());
}

void Launcher::check_clock() {
  const auto now = Clock::now();
  if (supervisor_.supervisor_pidfd < 0 && ::getppid() != supervisor_.supervisor) kill_everything();
  if (kill_at_ && now >= *kill_at_) {
    // Again and again, for processes that are forked meanwhile. The loop reaps the ranks, because
    // it wants their status.
    kill_at_ = now + kKillAgain;
    kill_ranks();
    kill_descendants_once({});
  }
  if (grace_until_ && now >= *grace_until_) end_after_grace();
  check_page();
  check_closed(now);
  if (time_limit_ && now >= *time_limit_) {
    time_limit_.reset();
    told_to_end_ = true;
    if (!ending_) {
      print_hang_report();
      fail(kExitTimeLimit, errors::time_limit,
           fmt::format("the time limit of {} s has passed", options_.time_limit_s));
      end_the_rest();
    }
  }
}

/// A rank that has closed its connection without finalizing is lost even if its process goes on.
/// Its process usually ends at the same time, and then the process' status says more, so this check
/// waits a little.
void Launcher::check_closed(Clock::time_point now) {
  for (const Rank rank : host_.server().take_hung_up())
    closed_.push_back({rank, now + kAfterEndOfStream});
  for (auto closed = closed_.begin(); closed != closed_.end();)
    closed = now >= closed->until && settle_closed(*closed) ? closed_.erase(closed) : closed + 1;
}

/// False while the launcher's verdict waits for the exit code of a rank that has said that it
/// fails. A process that has no Job cannot make one any more: no rank may wait for it, but that is
/// no failure of its own.
bool Launcher::settle_closed(Closed& closed) {
  if (!std::exchange(closed.is_lost, true)) {
    const RankState state = host_.state_of(closed.rank);
    if (state != RankState::running && state != RankState::starting) return true;
    host_.lose(closed.rank, RankState::left, 0);
    if (state == RankState::starting) return true;
    if (host_.server().has_failed(closed.rank)) {
      // viaduct-run decides for an agent. With --keep-going nobody needs an early verdict.
      if (is_agent_)
        tell_hub(closed.rank, kExitLeft, sentence_of_left(closed.rank), Weight::failing);
      const bool decides = !is_agent_ && !options_.keep_going;
      closed.until = decides ? closed.until + kForItsCode : Clock::time_point::max();
      return false;
    }
  }
  fail_left(closed.rank);
  return true;
}

/// All ranks have ended: kills the processes that they have left behind, then writes the rest of
/// their output.
void Launcher::finish() {
  if (!kill_descendants({})) say("processes of the job are left that cannot be killed");
  finishing_ = true;
  LastOutput output(labels_, is_agent_ ? kLastOutputOfAgent : kLastOutput);
  while (output.wait(status_.has_value() || ending_, told_to_end_)) {
    std::array<epoll_event, 8> events{};
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      if (!event::is_socket(what)) handle(what);
    }
    if (supervisor_.supervisor_pidfd < 0 && ::getppid() != supervisor_.supervisor)
      kill_everything();
    if (time_limit_ && Clock::now() >= *time_limit_ && !told_to_end_) {
      told_to_end_ = true;
      fail(kExitTimeLimit, errors::time_limit,
           "the time limit has passed while the output was written");
    }
  }
  output.report();
}

}  // namespace viaduct::launcher
