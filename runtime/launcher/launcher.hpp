#pragma once
/// @file
/// The launcher process: starts ranks, serves them, watches them, until all have ended.

#include <sys/resource.h>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launcher/labels.hpp"
#include "runtime/launcher/options.hpp"
#include "runtime/launcher/supervisor.hpp"
#include "runtime/src/job_host.hpp"
#include "runtime/src/link.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {

/// The part of a job on several hosts that runs here.
struct Part {
  std::uint32_t first_rank = 0;
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> hosts;  ///< for each rank of the job
  std::uint32_t here = 0;
  std::string host_name;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// How much a failure that an agent tells of weighs.
enum class Weight : std::int32_t {
  rank,     ///< a rank's end
  left,     ///< a rank's, whose process goes on
  failing,  ///< the same of a rank that has said that it fails: its exit code is to come
  fatal,    ///< ends the job even with --keep-going; said even with --quiet
};

/// Time for the process of a rank that has said that it fails to end by itself, once the other
/// ranks have heard of the loss.  A leak check can take that long.
inline constexpr auto kForItsCode = std::chrono::seconds(4);

class Launcher {
 public:
  Launcher(const Options& options, const SupervisorLink& supervisor);
  /// As the agent of one host of several: starts the ranks of @p part, and reports events to
  /// viaduct-run by @p hub. viaduct-run decides about the job.
  Launcher(const Options& options, const SupervisorLink& supervisor, Part part, link::Link hub);

  /// Starts the job and stays with it until nothing is left of it. Answers viaduct-run's exit
  /// status.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Process {
    pid_t pid = 0;
    std::uint32_t first_rank = 0;
    std::uint32_t ranks = 1;  // several in threads mode
    bool ended = false;
  };
  /// A rank whose connection has ended before its process.
  struct Closed {
    Rank rank;
    Clock::time_point until;  // the launcher waits for the end of the process
    bool is_lost = false;     // told to all ranks; the launcher's own verdict is still to come
  };

  // launcher.cpp: the loop
  void prepare();
  void listen_for_hub();
  void watch(int fd, std::uint64_t what);
  void loop();
  void handle(std::uint64_t what);
  void check_clock();
  void check_closed(Clock::time_point now);
  [[nodiscard]] bool settle_closed(Closed& closed);
  [[nodiscard]] int next_timeout_ms() const;
  void watch_terminal();
  void finish();

  // start.cpp: starting ranks
  void start_all();
  void start(std::uint32_t first_rank, std::uint32_t ranks, const std::vector<int>& cores);

  // life.cpp: failures and ends of ranks
  void reap();
  void on_end(Process& process, int wait_status);
  void settle_rank(std::uint32_t rank, int code);
  void fail(int code, ErrorCode id, const std::string& sentence);
  void report_rank(Rank rank, int code, const std::string& sentence);
  [[nodiscard]] std::string sentence_of_left(Rank rank) const;
  void fail_left(Rank rank);
  void fail_all_left();
  [[nodiscard]] bool take_left(const Process& process);
  void check_page();
  [[nodiscard]] std::string culprit_of(const Process& process, int code) const;
  void end_the_rest();
  void end_now();
  void tell_hub(Rank rank, int code, const std::string& sentence, Weight weight);
  void serve_hub();
  void obey(const link::Frame& order);
  void kill_ranks();
  [[noreturn]] void kill_everything();
  void hang_up();
  void end_after_grace();
  void serve(std::uint32_t rank);
  void listen_for_room(std::uint32_t rank, bool wanted);
  void on_signals();
  void forward(const ForwardedSignal& signal);
  void print_hang_report() const;

  Options options_;
  SupervisorLink supervisor_;
  Part part_;
  link::Link hub_;  // open in an agent
  bool is_agent_ = false;
  bool hub_waits_ = false;
  JobHost host_;
  Labels labels_;
  rlimit descriptor_limit_{};
  FileDescriptor epoll_;
  FileDescriptor child_events_;
  FileDescriptor terminal_;  // the controlling one, if its end ends the job
  std::vector<Process> processes_;
  std::map<pid_t, std::size_t> by_pid_;
  std::size_t living_ = 0;
  int interrupts_ = 0;
  bool page_damaged_ = false;  // and said so
  bool ending_ = false;        // the rest is being ended
  bool finishing_ = false;     // all ranks have ended
  bool told_to_end_ = false;   // by a signal, the terminal or the time limit
  std::optional<int> status_;  // of the first failure
  std::optional<Clock::time_point> time_limit_;
  std::optional<Clock::time_point> kill_at_;
  std::optional<Clock::time_point> grace_until_;  // for ranks that SIGTERM has been forwarded to
  std::vector<Closed> closed_;
};

}  // namespace viaduct::launcher
