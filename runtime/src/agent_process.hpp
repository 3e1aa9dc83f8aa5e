#pragma once
/// @file
/// The program of an agent's process.

#include <poll.h>
#include <sys/types.h>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/src/agent.hpp"
#include "runtime/src/assembly.hpp"
#include "runtime/src/job_host.hpp"
#include "runtime/src/link_server.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct {

class AgentProcess final : public LinkServer::Owner {
 public:
  explicit AgentProcess(AgentPlan plan);
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  /// Until the host's ranks have ended, and as hub until those of all hosts have.
  void run();

 private:
  using Clock = link::Clock;
  using Id = LinkServer::Id;
  struct Local {
    Rank rank{};
    FileDescriptor pidfd;
    Pipe lifeline;  // the rank has the same open file as the reading end
    bool joined = false;
    bool ended = false;
  };

  // agent_process.cpp: the host's ranks
  void open_host(const std::vector<std::uint32_t>& hosts, std::uint32_t here);
  void start_watchdog();
  [[nodiscard]] static bool give_lifeline(int socket, Local& local);
  static void release_lifeline(Local& local) noexcept;
  void turn();
  void accept_ranks();
  [[nodiscard]] bool accept_one();
  void refuse(FileDescriptor socket, const std::string& reason);
  void take_in(FileDescriptor socket);
  [[nodiscard]] std::string let_join(FileDescriptor& socket, Rank rank);
  void serve(Local& local);
  void settle(Local& local);
  void watch_founder();
  void give_up_absent();
  void hub_lost();
  void submit(link::Frame&& event);
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::vector<pollfd> watched();
  [[nodiscard]] int patience_ms() const;

  // agent_hub.cpp: the hub
  std::string admit(const handshake::Caller& caller) override;
  void joined(Id id, const handshake::Caller& caller) override;
  void received(Id id, link::Frame&& frame) override;
  void ended(Id id, const std::string& complaint) override;
  void wrong_secret() override { assembly_.count_wrong_secret(); }
  void send_table();
  void begin_if_all_here();
  void fail(const std::string& sentence);
  void check_limit();
  void broadcast(const link::Frame& event);

  AgentPlan plan_;
  Clock::time_point limit_;
  std::unique_ptr<JobHost> host_;
  std::vector<Local> locals_;
  MappedMemory guarded_memory_;            // shared with the watchdog
  std::span<std::atomic<pid_t>> guarded_;  // that the watchdog ends: for each local, 0: none
  // This user's connections that have not yet said which rank they are; oldest first.
  std::deque<FileDescriptor> comers_;
  Clock::time_point accept_from_{};  // after refusals the next callers wait a little
  std::optional<Clock::time_point> join_limit_;

  enum class Stage : std::uint8_t { ranks, agents, begun, failed };
  Stage stage_ = Stage::ranks;  // of the hub
  std::unique_ptr<LinkServer> server_;
  Assembly assembly_;
  std::map<Id, std::uint32_t> rank_links_;
  std::map<Id, std::uint32_t> agent_links_;  // to the hosts' numbers
  std::vector<bool> agent_come_;
};

}  // namespace viaduct
