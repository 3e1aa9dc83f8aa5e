#pragma once
/// @file
/// The watchdog process, which is left when supervisor and launcher are killed at once.

#include <sys/types.h>
#include <string>

namespace viaduct::launcher {

struct WatchdogOrders {
  pid_t supervisor;
  pid_t launcher;
  int supervisor_pidfd;  ///< -1 where pidfds are refused
  int launcher_pidfd;    ///< the same
  std::string job_id;
};

/// Never returns; ends when supervisor and launcher have, or when the supervisor kills it at the
/// job's normal end.
[[noreturn]] void be_watchdog(const WatchdogOrders& orders);

}  // namespace viaduct::launcher
