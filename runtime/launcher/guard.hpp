#pragma once
/// @file
/// The guard process: what is left when keeper and launcher are killed at once.

#include <sys/types.h>
#include <string>

namespace viaduct::launcher {

struct GuardOrders {
  pid_t keeper;
  pid_t launcher;
  int keeper_pidfd;    ///< -1 where pidfds are refused
  int launcher_pidfd;  ///< the same
  std::string job_id;
};

/// Never returns; ends when keeper and launcher have, or when the keeper kills it at the job's
/// normal end.
[[noreturn]] void be_guard(const GuardOrders& orders);

}  // namespace viaduct::launcher
