// viaduct-run --hosts: handles the agents' messages.

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/hosts.hpp"
#include "runtime/launcher/say.hpp"
#include "runtime/src/job_host.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace viaduct::launcher {
namespace {

// An agent's ranks have a second; the messages to and from the agents take some time more.
constexpr auto kForTheEnd = std::chrono::milliseconds(3000);

}  // namespace

std::string HostsLauncher::admit(const handshake::Caller& caller) {
  if (caller.role != handshake::Role::agent || caller.rank >= hosts_.size())
    return "this hub is for the agents of viaduct-run --hosts";
  if (ending_) return "the job has been given up";
  return hosts_[caller.rank].link ? "this host has an agent already" : std::string{};
}

void HostsLauncher::joined(Id id, const handshake::Caller& caller) {
  hosts_[caller.rank].link = id;
  const bool all = std::all_of(hosts_.begin(), hosts_.end(),
                               [](const Host& host) { return host.link.has_value(); });
  if (all && !begun_) begin();
}

HostsLauncher::Host* HostsLauncher::host_of(Id id) {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(),
                                  [id](const Host& host) { return host.link == id; });
  return found == hosts_.end() ? nullptr : &*found;
}

void HostsLauncher::received(Id id, link::Frame&& frame) {
  Host* const host = host_of(id);
  if (host == nullptr || host->done) return;
  if (link::is_event(frame.kind)) {
    const bool its_own = frame.rank - host->share.first < host->share.ranks;
    if (!its_own) return;
    count(frame);
    broadcast(frame);
  } else if (frame.kind == link::Kind::failure) {
    take_failure(frame);
  } else if (frame.kind == link::Kind::done) {
    host->done = true;
    host->said_so = true;
    host->give_up.reset();
  }
}

void HostsLauncher::ended(Id id, const std::string& complaint) {
  Host* const host = host_of(id);
  if (host != nullptr && !host->done)
    lose_host(*host, complaint.empty() ? "its agent is gone" : complaint);
}

/// Defines the order of events for all hosts.
void HostsLauncher::broadcast(const link::Frame& frame) {
  if (!begun_) return;  // the first frame to an agent is its order
  for (const Host& host : hosts_) {
    if (host.link && !host.done) server_->send(*host.link, frame);
  }
}

void HostsLauncher::count(const link::Frame& event) {
  if (event.kind == link::Kind::lost || event.kind == link::Kind::finalized)
    settled_[event.rank] = true;
}

/// Its ranks die with their agent, which dies with the connection.
void HostsLauncher::lose_host(Host& host, const std::string& why) {
  host.done = true;
  host.give_up.reset();
  if (host.link) server_->close(*host.link);
  if (!begun_ || ending_) {
    if (!status_)
      fail(kExitLauncher, errors::host_lost, fmt::format("host {}: {}", host.share.host, why));
  } else {
    fail(kExitLauncher, errors::host_lost,
         fmt::format("host {}: {}; ranks {} to {} are lost", host.share.host, why, host.share.first,
                     host.share.first + host.share.ranks - 1));
  }
  for (std::uint32_t i = host.share.first; i < host.share.first + host.share.ranks; ++i) {
    if (settled_[i]) continue;
    settled_[i] = true;
    broadcast(loss_of(Rank{i}, RankState::killed, kExitLauncher, 0));
  }
  if (!begun_ || !options_.keep_going) end_all(false);
}

void HostsLauncher::take_failure(const link::Frame& frame) {
  const auto weight = static_cast<Weight>(frame.cause);
  const int code = static_cast<int>(frame.number);
  if (weight == Weight::fatal) {
    settle(code, frame.key);
    return end_all(false);
  }
  if (weight == Weight::failing) {
    const auto until = options_.keep_going ? Clock::time_point::max() : Clock::now() + kForItsCode;
    return failing_.push_back({frame.rank, code, frame.key, until});
  }
  // Its end is the verdict on this rank. The others that are to end have failed before it.
  std::erase_if(failing_, [&](const Failing& each) { return each.rank == frame.rank; });
  fail_failing(Clock::time_point::max());
  const bool first = !status_;
  settle_rank(code, weight == Weight::left
                        ? frame.key
                        : with_code(errors::rank_failed,
                                    frame.key + (first ? "; it is the first to fail" : "")));
}

void HostsLauncher::settle_rank(int code, const std::string& text) {
  if (ending_) return;
  if (!options_.quiet) say(text);
  if (!status_) status_ = code;
  if (!options_.keep_going) end_all(false);
}

/// The verdicts that are due at @p now: on ranks that have said that they fail, and whose processes
/// have not ended.
void HostsLauncher::fail_failing(Clock::time_point now) {
  for (const Failing& each : std::exchange(failing_, {})) {
    if (now < each.until)
      failing_.push_back(each);
    else
      settle_rank(each.code, each.sentence);
  }
}

void HostsLauncher::fail(int code, ErrorCode id, const std::string& sentence) {
  settle(code, with_code(id, sentence));
}

void HostsLauncher::settle(int code, const std::string& text) {
  say(text);
  if (!status_) status_ = code;
}

void HostsLauncher::end_all(bool at_once) {
  if (ending_ && !at_once) return;
  if (!ending_ && begun_ && !options_.quiet) say("ending the other ranks, on all hosts");
  ending_ = true;
  join_until_.reset();
  last_moment_ = Clock::now() + kForTheEnd;
  if (begun_) return broadcast({link::Kind::end, 0, at_once ? 1U : 0U});
  // Agents that have started nothing end when their connection does.
  for (Host& host : hosts_) {
    if (host.link) server_->close(*host.link);
    host.input.reset();
    host.done = true;
  }
}

bool HostsLauncher::all_done() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.done; });
}

}  // namespace viaduct::launcher
