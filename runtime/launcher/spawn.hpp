#pragma once
/// @file
/// Starting one process of a job.

#include <sys/resource.h>
#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace viaduct::launcher {

/// The environment and descriptors of a new process. Everything is prepared before the fork;
/// between fork and exec only plain calls are made.
struct SpawnPlan {
  std::vector<std::string> program;                              ///< and arguments
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to the launcher's own
  std::vector<int> inherited;                                    ///< descriptors that survive exec
  bool with_stdin = false;                                       ///< the launcher's; else /dev/null
  int in = -1;                    ///< becomes standard input, if given
  bool own_session = false;       ///< signals from the terminal do not reach it
  int out = -1;                   ///< becomes standard output, if given
  int err = -1;                   ///< becomes standard error, if given
  int core = -1;                  ///< to be bound to, if given
  rlimit descriptor_limit{};      ///< the limits that the launcher was started with
  sigset_t signal_mask{};         ///< the mask that the launcher was started with
  bool ignores_children = false;  ///< SIGCHLD, as the launcher was started
};

/// Starts the process and waits until it runs its program. The process dies when the calling thread
/// ends. Throws Error: no more processes, or the program cannot be executed.
[[nodiscard]] pid_t spawn(const SpawnPlan& plan);

/// Raises the soft limit of file descriptors as far as it goes, for a process that needs @p each of
/// them for each of @p count @p things (ranks, hosts). Answers the limits as they were. Throws
/// Error: they do not fit.
[[nodiscard]] rlimit make_room_for_descriptors(std::uint64_t count, const char* things,
                                               std::uint64_t each);

}  // namespace viaduct::launcher
