#include "runtime/src/agent_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <new>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/src/detach.hpp"
#include "runtime/src/pidfd.hpp"
#include "runtime/src/wire_format.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

// At the socket for this host's ranks. A refusal costs some microseconds: 128 of them every 10 ms
// are a few percent of a processor, and a rank that calls among 20,000 others gets in within
// seconds.
constexpr int kCallersInOneTurn = 128;
constexpr auto kPauseAfterRefusal = std::chrono::milliseconds(10);
constexpr std::size_t kSpareComers = 64;  // connections of this user's that have said nothing yet

/// The user at the other end, as the kernel knows it.
std::optional<uid_t> user_of(int socket) noexcept {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer.uid;
}

/// Waits for the agent's end, then kills its ranks, which would otherwise wait for ever. Only the
/// agent and this process share @p pids, so that no rank can choose a process to kill.
[[noreturn]] void watchdog(std::span<std::atomic<pid_t>> pids, pid_t agent, int agent_pidfd) {
  detach("agent-watchdog", {agent_pidfd});
  pollfd gone{agent_pidfd, POLLIN, 0};
  constexpr int kAskMs = 100;  // where pidfds are refused
  while (agent_pidfd >= 0 ? ::poll(&gone, 1, -1) <= 0 : ::getppid() == agent) {
    if (agent_pidfd < 0) ::poll(nullptr, 0, kAskMs);
  }
  for (const auto& each : pids) {
    const pid_t pid = each.load(std::memory_order_relaxed);
    if (pid > 0) ::kill(pid, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

AgentProcess::AgentProcess(AgentPlan plan)
    : plan_(std::move(plan)), limit_(Clock::now() + plan_.limit), assembly_(plan_.size) {
  if (plan_.listener.is_open())
    server_ = std::make_unique<LinkServer>(std::move(plan_.listener), plan_.secret, *this,
                                           std::size_t{plan_.size} * 2);
  else
    open_host(plan_.hosts, plan_.here);
}

void AgentProcess::open_host(const std::vector<std::uint32_t>& hosts, std::uint32_t here) {
  plan_.hosts = hosts;
  plan_.here = here;
  host_ = std::make_unique<JobHost>(hosts, here,
                                    [this](link::Frame&& event) { submit(std::move(event)); });
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] == here) locals_.emplace_back().rank = Rank{i};
  }
  join_limit_ = Clock::now() + 2 * plan_.limit;
  start_watchdog();
}

void AgentProcess::start_watchdog() {
  const pid_t agent = ::getpid();
  const FileDescriptor pidfd = open_pidfd(agent);
  const std::size_t bytes = locals_.size() * sizeof(std::atomic<pid_t>);
  guarded_memory_ = MappedMemory(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), bytes);
  if (!guarded_memory_)
    throw_errno(errors::system_refused, "cannot map memory for the agent and its watchdog");
  guarded_ = {new (guarded_memory_.get()) std::atomic<pid_t>[locals_.size()], locals_.size()};
  if (::fork() == 0) watchdog(guarded_, agent, pidfd.get());
}

void AgentProcess::run() {
  while (!finished()) turn();
  const auto soon = Clock::now() + std::chrono::seconds(1);
  plan_.hub.flush_until(soon);
  if (server_) server_->flush_until(soon);
}

bool AgentProcess::finished() const {
  if (stage_ == Stage::failed) {  // rank 0, at least, comes to hear why
    const bool told = assembly_.has_come(0) && server_->unauthenticated() == 0;
    return told || Clock::now() >= limit_;
  }
  // An end counts when it has come back from the hub: then all know of it. The hub knows of some
  // that have never come here.
  const auto settled = [this](const Local& local) {
    const RankState state = host_->state_of(local.rank);
    return (local.ended || !local.joined) && state != RankState::starting &&
           state != RankState::running;
  };
  const bool all_ended = host_ && std::all_of(locals_.begin(), locals_.end(), settled);
  return all_ended && (!server_ || agent_links_.empty());
}

int AgentProcess::patience_ms() const {
  std::optional<Clock::time_point> until = join_limit_;
  if (server_ && stage_ != Stage::begun) until = until ? std::min(*until, limit_) : limit_;
  if (plan_.local.is_open() && Clock::now() < accept_from_)
    until = until ? std::min(*until, accept_from_) : accept_from_;
  if (!until) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

/// All descriptors to poll.
std::vector<pollfd> AgentProcess::watched() {
  std::vector<pollfd> fds;
  if (plan_.local.is_open() && Clock::now() >= accept_from_)
    fds.push_back({plan_.local.get(), POLLIN, 0});
  for (const FileDescriptor& comer : comers_) fds.push_back({comer.get(), POLLIN, 0});
  for (const Local& local : locals_) {
    if (!local.joined || local.ended) continue;
    const bool full = host_->server().wants_to_write(local.rank);
    if (host_->server().is_open(local.rank))
      fds.push_back({host_->server().socket(local.rank),
                     static_cast<short>(full ? POLLIN | POLLOUT : POLLIN), 0});
    if (local.pidfd.is_open()) fds.push_back({local.pidfd.get(), POLLIN, 0});
  }
  if (plan_.founder_pidfd.is_open()) fds.push_back({plan_.founder_pidfd.get(), POLLIN, 0});
  if (server_) fds.push_back({server_->fd(), POLLIN, 0});
  if (plan_.hub.is_open())
    fds.push_back({plan_.hub.fd(),
                   static_cast<short>(plan_.hub.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0});
  return fds;
}

void AgentProcess::turn() {
  std::vector<pollfd> fds = watched();
  ::poll(fds.data(), fds.size(), patience_ms());

  accept_ranks();
  for (Local& local : locals_) {
    if (local.joined && !local.ended) serve(local);
  }
  if (server_) {
    server_->turn();
    check_limit();
  } else if (plan_.hub.is_open()) {
    plan_.hub.flush();
    plan_.hub.fill();
    while (auto frame = plan_.hub.next()) {
      if (link::is_event(frame->kind)) host_->apply(*frame);
    }
    if (!plan_.hub.is_open()) hub_lost();
  }
  watch_founder();
  if (join_limit_ && Clock::now() >= *join_limit_) give_up_absent();
}

/// Until it has joined as the others do, nothing else would tell of its end.
void AgentProcess::watch_founder() {
  if (!plan_.founder_pidfd.is_open()) return;
  pollfd process{plan_.founder_pidfd.get(), POLLIN, 0};
  const bool gone = ::poll(&process, 1, 0) > 0;
  const auto local = std::find_if(locals_.begin(), locals_.end(), [this](const Local& each) {
    return index(each.rank) == plan_.founder;
  });
  const bool joined = local != locals_.end() && local->joined;
  if (!gone && !joined) return;
  plan_.founder_pidfd.reset();
  if (joined) return;
  if (server_ && stage_ < Stage::begun)
    fail(fmt::format("rank {} ended before the job had begun", plan_.founder));
  else if (local != locals_.end())
    settle(*local);
}

/// Any user of this host can call, as often as the socket's queue allows.
void AgentProcess::accept_ranks() {
  if (!plan_.local.is_open()) return;
  const bool pause = Clock::now() < accept_from_;
  for (int come = 0; !pause && come < kCallersInOneTurn; ++come) {
    if (!accept_one()) break;
  }
  for (FileDescriptor& comer : std::exchange(comers_, {})) take_in(std::move(comer));
  if (std::all_of(locals_.begin(), locals_.end(), [](const Local& l) { return l.joined; }))
    plan_.local.reset();  // no other rank is to come
}

/// False: no caller waits, or no more are taken in this turn.
bool AgentProcess::accept_one() {
  FileDescriptor comer(
      ::accept4(plan_.local.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int problem = comer.is_open() ? 0 : errno;
  if (problem == EINTR || problem == ECONNABORTED) return true;
  const bool full = problem == EMFILE || problem == ENFILE;
  if (full || (comer.is_open() && comers_.size() >= locals_.size() + kSpareComers)) {
    if (!comers_.empty()) comers_.pop_front();  // the oldest has had its time
    accept_from_ = Clock::now() + kPauseAfterRefusal;
  }
  if (!comer.is_open()) return false;
  if (const auto caller = user_of(comer.get()); caller == ::geteuid()) {
    comers_.push_back(std::move(comer));
  } else {
    refuse(std::move(comer),
           fmt::format("this process is of user {}, and the job is user {}'s",
                       caller ? std::to_string(*caller) : "unknown", ::geteuid()));
  }
  return true;
}

void AgentProcess::refuse(FileDescriptor socket, const std::string& reason) {
  static_cast<void>(wire_format::send(socket.get(),
                                      wire_format::encode({wire_format::Kind::refused, 0, reason}),
                                      -1, MSG_DONTWAIT));
  accept_from_ = Clock::now() + kPauseAfterRefusal;
}

/// Reads the request of a rank that has connected, and sends it the job page.
void AgentProcess::take_in(FileDescriptor socket) {
  wire_format::Datagram datagram;
  const int problem = wire_format::receive(socket.get(), datagram, MSG_DONTWAIT);
  if (problem == EAGAIN) return comers_.push_back(std::move(socket));
  std::string reason;
  const auto message = problem == 0 ? wire_format::decode(datagram.bytes, reason) : std::nullopt;
  if (message && message->kind == wire_format::Kind::join)
    reason = let_join(socket, Rank{message->rank});
  else if (reason.empty())
    reason = "the first message is no request to join";
  if (!reason.empty()) refuse(std::move(socket), reason);
}

/// Empty, and @p socket is taken over; or why the rank may not join.
std::string AgentProcess::let_join(FileDescriptor& socket, Rank rank) {
  const auto local = std::find_if(locals_.begin(), locals_.end(),
                                  [rank](const Local& each) { return each.rank == rank; });
  if (local == locals_.end()) return fmt::format("rank {} is not of this host", index(rank));
  if (local->joined || local->ended || host_->state_of(rank) != RankState::starting)
    return fmt::format("rank {} has joined already, or has been given up", index(rank));
  ucred peer{};
  socklen_t bytes = sizeof peer;
  const auto answer = wire_format::encode({wire_format::Kind::descriptor, index(rank)});
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
      wire_format::send(socket.get(), answer, host_->page_fd(), MSG_DONTWAIT) != 0 ||
      !give_lifeline(socket.get(), *local))
    return "the page of the job could not be sent";
  local->joined = true;
  local->pidfd = open_pidfd(peer.pid);
  host_->set_pid(rank, peer.pid);
  guarded_[static_cast<std::size_t>(local - locals_.begin())].store(peer.pid);
  host_->server().open(rank, std::move(socket));
  if (std::all_of(locals_.begin(), locals_.end(), [](const Local& l) { return l.joined; }))
    join_limit_.reset();
  return {};
}

/// Gives the rank a pipe of its own, whose end means the agent's end: see Lifeline.
bool AgentProcess::give_lifeline(int socket, Local& local) {
  local.lifeline = open_pipe();
  const int end = local.lifeline.reading.get();
  const auto message = wire_format::encode({wire_format::Kind::descriptor, index(local.rank)});
  if (end >= 0 && wire_format::send(socket, message, end, MSG_DONTWAIT) == 0) return true;
  release_lifeline(local);
  return false;
}

/// A rank that has ended its connection may live on: this agent's end must not kill it. The flag
/// belongs to the open file, which the rank shares.
void AgentProcess::release_lifeline(Local& local) noexcept {
  const int end = local.lifeline.reading.get();
  if (end < 0) return;
  ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) & ~O_ASYNC);
  local.lifeline.writing.reset();
  local.lifeline.reading.reset();
}

void AgentProcess::serve(Local& local) {
  pollfd process{local.pidfd.get(), POLLIN, 0};
  const bool gone = local.pidfd.is_open() && ::poll(&process, 1, 0) > 0;  // before its last words
  std::string complaint = host_->server().writable(local.rank);
  // All messages of a process that has ended are read.
  do {
    if (complaint.empty()) complaint = host_->server().readable(local.rank);
  } while (gone && complaint.empty() && host_->server().is_open(local.rank) &&
           wire_format::readable_within(host_->server().socket(local.rank),
                                        std::chrono::milliseconds(0)));
  if (gone || !complaint.empty() || !host_->server().is_open(local.rank)) settle(local);
}

/// The rank's process has ended, or is no rank any more.
void AgentProcess::settle(Local& local) {
  local.ended = true;
  guarded_[static_cast<std::size_t>(&local - locals_.data())].store(0);
  local.pidfd.reset();
  release_lifeline(local);
  if (host_->state_of(local.rank) == RankState::finalized)
    host_->finish(local.rank, 0);
  else
    host_->lose(local.rank, RankState::left, 0);
}

/// Ranks that had come to the hub and not to their agent.
void AgentProcess::give_up_absent() {
  join_limit_.reset();
  for (Local& local : locals_) {
    if (!local.joined && !local.ended) settle(local);
  }
}

/// The ranks of the other hosts cannot be told from lost ones any more.
void AgentProcess::hub_lost() {
  plan_.hub.close();
  for (std::uint32_t i = 0; i < plan_.size; ++i) {
    const Rank rank{i};
    const RankState state = host_->state_of(rank);
    if (!host_->is_here(rank) && state != RankState::finalized)
      host_->apply(loss_of(rank, RankState::left, 0, 0));
  }
}

void AgentProcess::submit(link::Frame&& event) {
  if (server_) {
    broadcast(event);
  } else if (plan_.hub.is_open()) {
    plan_.hub.send(event);
  } else {
    host_->apply(event);
  }
}

}  // namespace viaduct
