#pragma once
/// @file
/// The three processes around a job, so that whichever of them dies, nothing of the job stays
/// behind.
///
///   keeper    what the user started: forwards signals, answers the status; when the launcher dies
///   abnormally it
///             kills everything below it (it is a child subreaper: orphans stay below it)
///   launcher  starts the ranks, serves their bootstrap, watches them; when the keeper dies it
///   kills everything below
///             it (it is a subreaper too) and ends
///   guard     "viaduct-keeper", in a session of its own: when either of the two is gone it kills
///   what carries the
///             job's id in its environment; so also what both would have to kill when both are
///             killed at once
///
/// Ranks themselves die with the launcher (PR_SET_PDEATHSIG).

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

namespace viaduct::launcher {

/// One signal on its way from the keeper to the launcher.
struct ForwardedSignal {
  std::int32_t number;
  std::int32_t from_terminal;  ///< then the ranks have got it too, being in the same process group
};

/// What the launcher knows of its keeper.
struct KeeperLink {
  pid_t keeper = 0;
  int keeper_pidfd = -1;  ///< -1 where pidfds are refused: ask getppid()
  int signals = -1;       ///< delivers ForwardedSignal
  std::string job_id;
  sigset_t signal_mask{};        ///< as it was when viaduct-run was started
  bool ignores_hang_up = false;  ///< SIGHUP was ignored then, as under nohup
};

/// Makes this process the keeper, runs @p launcher in the launcher process, and answers its status
/// once nothing is left of the job.
int keep(const std::function<int(const KeeperLink&)>& launcher);

}  // namespace viaduct::launcher
