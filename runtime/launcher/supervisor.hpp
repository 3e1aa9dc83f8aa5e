#pragma once
/// @file
/// Three processes surround a job. Whichever of them dies, the other two end the whole job.
///
/// - The *supervisor* is the process that the user has started: it forwards signals to the
///   launcher and answers the job's exit code. When the launcher dies, the supervisor kills all its
///   descendants; as a child subreaper it keeps orphans among them.
/// - The *launcher* starts the ranks, serves their bootstrap and watches them. When the supervisor
///   dies, the launcher kills all its descendants and ends; it is a child subreaper, too.
/// - The *watchdog* ("viaduct-watch") has a session of its own. When the supervisor or the launcher
///   is gone, the watchdog kills every process that has the job's id in its environment. So the job
///   ends also when supervisor and launcher are killed at the same time.
///
/// The kernel kills a rank when its launcher dies (PR_SET_PDEATHSIG).

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

namespace viaduct::launcher {

/// A signal that the supervisor forwards to the launcher.
struct ForwardedSignal {
  std::int32_t number;
  std::int32_t
      from_terminal;  ///< not 0: the terminal has sent it to the ranks, too (one process group)
};

/// The launcher's knowledge of its supervisor.
struct SupervisorLink {
  pid_t supervisor = 0;
  int supervisor_pidfd = -1;  ///< -1 where pidfds are refused: ask getppid()
  int signals = -1;           ///< delivers ForwardedSignal
  std::string job_id;
  sigset_t signal_mask{};         ///< as it was when viaduct-run was started
  bool ignores_hang_up = false;   ///< SIGHUP was ignored then, as under nohup
  bool ignores_children = false;  ///< SIGCHLD was
};

/// Makes this process the supervisor, runs @p launcher in the launcher process, and answers its
/// status once nothing is left of the job.
int supervise(const std::function<int(const SupervisorLink&)>& launcher);

}  // namespace viaduct::launcher
