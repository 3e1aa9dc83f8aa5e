#pragma once
/// @file
/// viaduct-run --hosts: starts an agent on each host, is the hub between them, and decides when the
/// job has failed. This launcher starts no rank itself.

#include <sys/resource.h>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/launcher/labels.hpp"
#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/options.hpp"
#include "runtime/launcher/supervisor.hpp"
#include "runtime/src/link_server.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {

class HostsLauncher final : public LinkServer::Owner {
 public:
  HostsLauncher(const Options& options, const SupervisorLink& supervisor);

  /// Answers viaduct-run's exit status.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  using Id = LinkServer::Id;
  struct Host {
    Options::Share share;
    std::string command;   // for messages, and how it has ended
    pid_t pid = 0;         // of the remote command; 0 when it has ended
    FileDescriptor input;  // of the remote command; its end ends an agent that waits for the job
    std::optional<Id> link;
    bool done = false;     // nothing of the job is left there, as far as can be known
    bool said_so = false;  // and its output is complete, on its way here
    std::optional<Clock::time_point> give_up;  // its command has ended, its agent has not said so
  };

  /// A rank that has said that it fails, and whose process has not ended.
  struct Failing {
    std::uint32_t rank;
    int code;
    std::string sentence;
    Clock::time_point until;  // its own end comes first, or this verdict counts
  };

  // hosts.cpp
  void start_agents();
  void start_agent(std::uint32_t number, const std::string& addresses);
  void pump_stdin(FileDescriptor to);
  void begin();
  void loop();
  [[nodiscard]] int patience_ms() const;
  void check_clock();
  void reap();
  void on_signals();
  void obey(const ForwardedSignal& signal);
  void obey_before_the_job(int signal);
  [[nodiscard]] std::string absent_hosts() const;
  void watch_terminal();
  void look_at_terminal();
  void hang_up();
  void end_after_grace();
  [[nodiscard]] bool output_to_come() const;
  [[nodiscard]] bool may_stay(int wait_ms);
  void finish();

  // hub.cpp
  std::string admit(const handshake::Caller& caller) override;
  void joined(Id id, const handshake::Caller& caller) override;
  void received(Id id, link::Frame&& frame) override;
  void ended(Id id, const std::string& complaint) override;
  void wrong_secret() override { ++wrong_secrets_; }
  Host* host_of(Id id);
  void broadcast(const link::Frame& frame);
  void count(const link::Frame& event);
  void lose_host(Host& host, const std::string& why);
  void take_failure(const link::Frame& frame);
  void settle_rank(int code, const std::string& text);
  void fail_failing(Clock::time_point now);
  void fail(int code, ErrorCode id, const std::string& sentence);
  void settle(int code, const std::string& text);
  void end_all(bool at_once);
  [[nodiscard]] bool all_done() const;

  Options options_;
  SupervisorLink supervisor_;
  std::string secret_;
  std::chrono::nanoseconds join_limit_{};
  rlimit descriptor_limit_{};
  FileDescriptor child_events_;
  FileDescriptor terminal_;         // the controlling one, if its end ends the job
  FileDescriptor terminal_events_;  // an epoll instance, for the one event that an end is
  Labels labels_;                   // keeps the hosts' lines whole
  std::unique_ptr<LinkServer> server_;
  std::vector<Host> hosts_;
  std::vector<bool> settled_;  // ranks that have finalized or are lost
  std::vector<Failing> failing_;
  std::size_t wrong_secrets_ = 0;
  bool begun_ = false;
  bool ending_ = false;
  bool told_to_end_ = false;  // by a signal, the terminal or the time limit
  int interrupts_ = 0;
  std::optional<int> status_;
  std::optional<Clock::time_point> join_until_;
  std::optional<Clock::time_point> time_limit_;
  std::optional<Clock::time_point> grace_until_;  // for ranks that SIGTERM has been forwarded to
  std::optional<Clock::time_point> last_moment_;  // for agents that end the rest
};

}  // namespace viaduct::launcher
