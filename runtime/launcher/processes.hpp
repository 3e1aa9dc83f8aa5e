#pragma once
/// @file
/// Finding and ending processes through /proc: descendants by their parents, a job's processes by
/// their environment.

#include <sys/types.h>
#include <string>
#include <vector>

namespace viaduct::launcher {

/// The state letter of /proc/PID/stat ('R', 'S', 'T' stopped, 'Z' ended but not reaped), or '\0'
/// when there is none.
[[nodiscard]] char process_state(pid_t pid);

/// A process as it was found: its number and the time of its start, which together are never used
/// twice.
struct Found {
  pid_t pid;
  unsigned long long start;
};

/// Every process below @p ancestor that has not ended, without those in @p except and the processes
/// below them.
[[nodiscard]] std::vector<Found> descendants_of(pid_t ancestor, const std::vector<pid_t>& except);

/// Every process that was started with VIADUCT_JOB_ID @p job_id, or with that of a job inside it.
[[nodiscard]] std::vector<pid_t> processes_of_job(const std::string& job_id);

/// Kills the processes below this one now. Answers how many there were. Reaps none.
std::size_t kill_descendants_once(const std::vector<pid_t>& except);

/// Kills all processes below this one, and those that they fork meanwhile, until none is left;
/// reaps those that become its children. The caller is a child subreaper, so that orphans stay
/// below it.
[[nodiscard]] bool kill_descendants(const std::vector<pid_t>& except);

/// Kills the job's processes until none has been there for a moment.
void kill_job(const std::string& job_id);

}  // namespace viaduct::launcher
