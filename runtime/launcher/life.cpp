// Launcher: the life of the ranks from their start to their end.

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/events.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/processes.hpp"
#include "runtime/launcher/say.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

// Time from the first failure until the other ranks are killed. The time to notice and to reap
// comes on top, and the whole stays well below 2 s.
constexpr auto kGrace = std::chrono::seconds(1);

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int number = WTERMSIG(wait_status);
    return fmt::format("was killed by signal {} ({}{})", number, ::strsignal(number),
                       WCOREDUMP(wait_status) ? ", core dumped" : "");
  }
  return fmt::format("exited with code {}", WEXITSTATUS(wait_status));
}

int exit_status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? kExitSignal + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

/// The launcher's own verdict on the job; always said.
void Launcher::fail(int code, ErrorCode id, const std::string& sentence) {
  const std::string text = with_code(id, sentence);
  if (is_agent_) return tell_hub(Rank{part_.first_rank}, code, text, Weight::fatal);
  say(text);
  if (!status_) status_ = code;
}

/// Reports a failure to viaduct-run, which prints it and decides about the job.
void Launcher::tell_hub(Rank rank, int code, const std::string& sentence, Weight weight) {
  const std::uint32_t number = static_cast<std::uint32_t>(code);
  hub_.send(
      {link::Kind::failure, index(rank), number, static_cast<std::int32_t>(weight), sentence});
}

void Launcher::serve_hub() {
  hub_.flush();
  hub_.fill();
  while (const auto frame = hub_.next()) {
    if (link::is_event(frame->kind))
      host_.apply(*frame);
    else
      obey(*frame);
  }
  if (!hub_.is_open()) kill_everything();  // viaduct-run is gone
  for (const Rank stalled : host_.server().take_stalled()) listen_for_room(index(stalled), true);
}

void Launcher::obey(const link::Frame& order) {
  if (order.kind == link::Kind::report) return print_hang_report();
  if (order.kind == link::Kind::end) {
    end_now();
    told_to_end_ = told_to_end_ || order.number != 0;
    if (order.number != 0) kill_at_ = Clock::now();
  }
  if (order.kind != link::Kind::signal) return;
  for (const Process& process : processes_) {
    if (!process.ended) ::kill(process.pid, static_cast<int>(order.number));
  }
}

void Launcher::report_rank(Rank rank, int code, const std::string& sentence) {
  if (ending_) return;  // the rest is being ended: that is no news
  if (is_agent_) return tell_hub(rank, code, sentence, Weight::rank);
  fail_all_left();
  const bool first = !status_;
  if (first) status_ = code;
  if (!options_.quiet)
    say(with_code(errors::rank_failed, sentence + (first ? "; it is the first to fail" : "")));
}

std::string Launcher::sentence_of_left(Rank rank) const {
  return with_code(
      errors::rank_left,
      fmt::format("rank {}{} left: it closed its connection without finalizing its job",
                  index(rank), is_agent_ ? " on " + part_.host_name : ""));
}

void Launcher::fail_left(Rank rank) {
  const std::string text = sentence_of_left(rank);
  if (is_agent_) return tell_hub(rank, kExitLeft, text, Weight::left);
  if (!options_.quiet) say(text);
  if (!status_) status_ = kExitLeft;
  if (!options_.keep_going) end_the_rest();
}

/// Another rank fails, in consequence perhaps: the ranks that have left before are named first.
void Launcher::fail_all_left() {
  for (const Closed& closed : closed_) {
    if (closed.is_lost) fail_left(closed.rank);
  }
  std::erase_if(closed_, [](const Closed& closed) { return closed.is_lost; });
}

/// The process has ended that a verdict waits for: its end is the verdict. Answers whether one was
/// due.
bool Launcher::take_left(const Process& process) {
  return std::erase_if(closed_, [&](const Closed& closed) {
           return closed.is_lost && index(closed.rank) - process.first_rank < process.ranks;
         }) != 0;
}

void Launcher::reap() {
  signalfd_siginfo drained{};
  while (::read(child_events_.get(), &drained, sizeof drained) > 0) {
  }
  int wait_status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    const auto found =
        by_pid_.find(pid);  // others are orphans that ranks have left to this subreaper
    if (found == by_pid_.end()) continue;
    Process& process = processes_[found->second];
    by_pid_.erase(found);
    on_end(process, wait_status);
  }
  if (status_ && !options_.keep_going) end_the_rest();
}

void Launcher::on_end(Process& process, int wait_status) {
  process.ended = true;
  --living_;
  check_page();
  if (!options_.threads)
    static_cast<void>(host_.server().readable(Rank{process.first_rank}));  // its last words
  const int code = exit_status_of(wait_status);
  const std::string who = fmt::format("{} (pid {}{})", culprit_of(process, code), process.pid,
                                      is_agent_ ? " on " + part_.host_name : "");
  // Ranks of other hosts that hear of the loss fail soon: viaduct-run is to hear of this end first.
  const link::Link::Together loss_and_cause(hub_);
  bool left = take_left(process);
  for (std::uint32_t i = process.first_rank; i < process.first_rank + process.ranks; ++i) {
    // A rank that is a thread can have failed with a code of which the process' status has no bit.
    const RankState state = host_.state_of(Rank{i});
    left = left || state == RankState::running || (code == 0 && state == RankState::killed);
    settle_rank(i, code);
  }
  const Rank first{process.first_rank};
  if (code != 0) {
    report_rank(first, code, fmt::format("{} {}", who, describe_end(wait_status)));
  } else if (left) {
    report_rank(first, kExitLeft,
                fmt::format("{} left: it exited with code 0 without finalizing its job; let main() "
                            "(in Split-C splitc_main()) return instead of calling exit()",
                            who));
  }
}

/// The rank of a process that has failed, as far as is known: ranks that are threads write it down,
/// unless a signal ends them all.
std::string Launcher::culprit_of(const Process& process, int code) const {
  if (process.ranks == 1) return fmt::format("rank {}", process.first_rank);
  const auto has_this_code = [&](std::uint32_t rank) {  // of which a process' status has 8 bits
    const std::int32_t cause = host_.page().record(Rank{rank}).cause.load();
    return cause != 0 && (cause & 0xff) == code;
  };
  const std::uint32_t lost = host_.page().first_lost.load(std::memory_order_acquire);
  const bool any_lost = lost != 0 && lost <= process.ranks;
  if (any_lost && has_this_code(lost - 1)) return fmt::format("rank {}", lost - 1);
  for (std::uint32_t i = 0; i < process.ranks; ++i) {
    if (has_this_code(i)) return fmt::format("rank {}", i);
  }
  if (any_lost) return fmt::format("rank {}", lost - 1);
  return fmt::format("the process of ranks 0 to {}", process.ranks - 1);
}

/// Writes a rank's end into its record and tells the ranks that wait for it.
void Launcher::settle_rank(std::uint32_t rank, int code) {
  if (host_.state_of(Rank{rank}) == RankState::finalized) return host_.finish(Rank{rank}, code);
  // An end with code 0 and without a Job is no failure, but ranks must not wait for this one.
  host_.lose(Rank{rank}, code == 0 ? RankState::left : RankState::killed, code);
}

/// Ranks can write over the page, by a wild pointer: the job cannot go on then.
void Launcher::check_page() {
  if (page_damaged_) return;
  const std::string damage = host_.damage();
  if (damage.empty()) return;
  page_damaged_ = true;
  fail(kExitLauncher, errors::page_damaged, damage + ": the job is ended");
  end_the_rest();
}

void Launcher::end_the_rest() {
  if (!is_agent_) end_now();  // an agent waits for viaduct-run's word
}

void Launcher::end_now() {
  if (ending_) return;
  ending_ = true;
  kill_at_ = Clock::now() + kGrace;
  if (living_ == 0) return;
  if (!options_.quiet && !is_agent_)
    say(fmt::format("ending the other {} process{}", living_, living_ == 1 ? "" : "es"));
  for (const Process& process : processes_) {
    if (process.ended) continue;
    ::kill(process.pid, SIGTERM);
    ::kill(process.pid, SIGCONT);  // a stopped one would not notice
  }
}

/// Without /proc nothing but the ranks themselves would be found.
void Launcher::kill_ranks() {
  for (const Process& process : processes_) {
    if (!process.ended) ::kill(process.pid, SIGKILL);
  }
}

/// The supervisor is gone: no process may stay behind, and no process takes a report.
void Launcher::kill_everything() {
  kill_ranks();
  static_cast<void>(kill_descendants({}));
  ::_exit(kExitLauncher);
}

void Launcher::serve(std::uint32_t rank) {
  if (!host_.server().is_open(Rank{rank})) return;
  std::string complaint = host_.server().writable(Rank{rank});
  if (complaint.empty()) complaint = host_.server().readable(Rank{rank});
  if (!host_.server().wants_to_write(Rank{rank})) listen_for_room(rank, false);
  for (const Rank stalled : host_.server().take_stalled()) listen_for_room(index(stalled), true);
  if (complaint.empty()) return;
  host_.server().lose(Rank{rank});
  fail(kExitLauncher, errors::socket_misused,
       fmt::format(
           "rank {} (pid {}) sent {} to the launcher's socket, which only Viaduct may use: the "
           "job is ended",
           rank, host_.pid_of(Rank{rank}), complaint));
  end_the_rest();
}

void Launcher::listen_for_room(std::uint32_t rank, bool wanted) {
  if (!host_.server().is_open(Rank{rank})) return;
  epoll_event event{};
  event.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = event::socket_of(rank);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, host_.server().socket(Rank{rank}), &event);
}

void Launcher::on_signals() {
  ForwardedSignal signal{};
  while (true) {
    const ssize_t got = ::read(supervisor_.signals, &signal, sizeof signal);
    if (got == sizeof signal) {
      forward(signal);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      if (got == 0)
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, supervisor_.signals,
                    nullptr);  // the supervisor has ended
      return;
    }
  }
}

void Launcher::forward(const ForwardedSignal& signal) {
  if (signal.number == SIGUSR1) return print_hang_report();
  if (signal.number == SIGHUP && signal.from_terminal != 0) return hang_up();
  if (finishing_) {  // the rest of the output is not wanted any more
    if (signal.number == SIGINT || signal.number == SIGTERM) told_to_end_ = true;
    return;
  }
  if (signal.number == SIGINT && ++interrupts_ > 1) {
    if (!status_) status_ = kExitSignal + SIGINT;
    ending_ = true;
    told_to_end_ = true;
    kill_at_ = Clock::now();
    return;
  }
  if (signal.number == SIGTERM && !grace_until_)
    grace_until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(options_.grace_s));
  if (signal.from_terminal != 0) return;
  for (const Process& process : processes_) {
    if (!process.ended) ::kill(process.pid, signal.number);
  }
}

/// Ranks are left that SIGTERM has not ended.
void Launcher::end_after_grace() {
  grace_until_.reset();
  told_to_end_ = true;
  if (ending_) return;
  say(with_code(
      errors::grace_over,
      fmt::format("{} process{} did not end within {} s of SIGTERM (--grace) and {} killed",
                  living_, living_ == 1 ? "" : "es", options_.grace_s,
                  living_ == 1 ? "is" : "are")));
  if (!status_) status_ = kExitSignal + SIGTERM;
  ending_ = true;
  kill_at_ = Clock::now();
}

/// The terminal that the job was started from has gone. Under nohup that is not to matter.
void Launcher::hang_up() {
  terminal_.reset();
  if (supervisor_.ignores_hang_up) return;
  told_to_end_ = true;
  if (finishing_) return;
  if (is_agent_) kill_everything();
  if (!status_) status_ = kExitSignal + SIGHUP;
  if (!ending_)
    say(with_code(errors::terminal_gone,
                  "the terminal has gone: the job is ended (nohup or setsid keeps a job)"));
  for (const Process& process : processes_) {
    if (!process.ended) ::kill(process.pid, SIGHUP);
  }
  end_now();
}

}  // namespace viaduct::launcher
