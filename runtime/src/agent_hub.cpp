// The agent of rank 0's host as the hub of the job.

#include <fmt/format.h>
#include <sys/socket.h>
#include <algorithm>
#include <cstring>

#include "runtime/src/agent_process.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kJobIdBytes = 8;
constexpr auto kLastWords = std::chrono::seconds(2);  // for ranks that are just connecting

std::string new_job_id() {
  std::array<std::byte, kJobIdBytes> bytes{};
  fill_random(bytes);
  return hexadecimal(bytes);
}

}  // namespace

std::string AgentProcess::admit(const handshake::Caller& caller) {
  if (caller.role == handshake::Role::rank) return assembly_.admit(caller);
  if (stage_ == Stage::ranks || caller.rank >= agent_come_.size())
    return fmt::format("there is no host {} in this job", caller.rank);
  return agent_come_[caller.rank] ? "this host has an agent already" : std::string{};
}

void AgentProcess::joined(Id id, const handshake::Caller& caller) {
  if (caller.role == handshake::Role::agent) {
    agent_links_.emplace(id, caller.rank);
    agent_come_[caller.rank] = true;
    begin_if_all_here();
    return;
  }
  rank_links_.emplace(id, caller.rank);
  if (assembly_.complete()) send_table();
}

void AgentProcess::send_table() {
  const std::vector<std::uint32_t> hosts = assembly_.hosts();
  link::Frame table{link::Kind::table};
  table.key = new_job_id();
  const auto bytes = std::as_bytes(std::span(hosts));
  table.value.assign(bytes.begin(), bytes.end());
  try {
    plan_.local = listen_for_ranks(plan_.secret, table.key, 0);
  } catch (const Error& problem) {
    return fail(problem.what());
  }
  plan_.job_id = table.key;
  open_host(hosts, 0);
  stage_ = Stage::agents;
  limit_ = Clock::now() + plan_.limit;
  agent_come_.assign(host_->hosts(), false);
  agent_come_[0] = true;  // this one
  for (const auto& [id, rank] : rank_links_) server_->send(id, table);
  begin_if_all_here();
}

void AgentProcess::begin_if_all_here() {
  if (stage_ != Stage::agents ||
      !std::all_of(agent_come_.begin(), agent_come_.end(), [](bool come) { return come; }))
    return;
  stage_ = Stage::begun;
  for (const auto& [id, rank] : rank_links_) server_->send(id, {link::Kind::ready});
}

void AgentProcess::received(Id id, link::Frame&& frame) {
  if (frame.kind == link::Kind::ready) rank_links_.erase(id);  // the rank is with its agent now
  const auto agent = agent_links_.find(id);
  const bool fits = agent != agent_links_.end() && link::is_event(frame.kind) &&
                    frame.rank < plan_.size && plan_.hosts[frame.rank] == agent->second;
  if (fits) broadcast(frame);
}

void AgentProcess::ended(Id id, const std::string& /*complaint*/) {
  if (const auto rank = rank_links_.find(id); rank != rank_links_.end()) {
    const std::uint32_t number = rank->second;
    rank_links_.erase(rank);
    if (stage_ < Stage::begun) {
      assembly_.lose(number);
      fail(assembly_.failure());
    } else if (stage_ == Stage::begun) {  // on its way to its agent, which does not know it
      broadcast(loss_of(Rank{number}, RankState::left, 0, 0));
    }
    return;
  }
  const auto agent = agent_links_.find(id);
  if (agent == agent_links_.end()) return;
  const std::uint32_t host = agent->second;
  agent_links_.erase(agent);
  for (std::uint32_t i = 0; i < plan_.size; ++i) {
    const RankState state = host_->state_of(Rank{i});
    if (plan_.hosts[i] == host && (state == RankState::starting || state == RankState::running))
      broadcast(loss_of(Rank{i}, RankState::left, 0, 0));
  }
}

void AgentProcess::check_limit() {
  if (stage_ >= Stage::begun) return;  // or there will be no job
  if (!assembly_.failure().empty()) return fail(assembly_.failure());
  if (Clock::now() < limit_) return;
  const double seconds = std::chrono::duration<double>(plan_.limit).count();
  if (stage_ == Stage::ranks) return fail(assembly_.missing(seconds));
  const auto absent = std::find(agent_come_.begin(), agent_come_.end(), false);
  const auto host = static_cast<std::uint32_t>(absent - agent_come_.begin());
  fail(fmt::format("the agent of {} has not come within {} s (VIADUCT_JOIN_TIMEOUT)",
                   assembly_.describe_host(host), seconds));
}

void AgentProcess::fail(const std::string& sentence) {
  stage_ = Stage::failed;
  assembly_.give_up(sentence);
  limit_ = Clock::now() + kLastWords;
  link::Frame frame{link::Kind::failed};
  frame.key = sentence;
  for (const auto& [id, rank] : rank_links_) server_->send(id, frame);
}

/// Defines the order of events for all hosts: each event is sent, and applied here.
void AgentProcess::broadcast(const link::Frame& event) {
  for (const auto& [id, host] : agent_links_) server_->send(id, event);
  host_->apply(event);
}

}  // namespace viaduct
