#pragma once
/// @file
/// What a job has left behind: processes, files, shared memory, sockets.

#include <sys/types.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fault {

/// Taken before a job; tells afterwards what is new and stays.
class Leftovers {
 public:
  /// @p directory: where the job runs; it is empty and nobody else's. None: files are not looked
  /// for.
  explicit Leftovers(std::string directory = {});

  /// Notes the memory files that @p pid has open, to be looked for later.
  void note_memory_of(pid_t pid);
  /// Notes the abstract sockets that processes with @p tag in their command lines have open: others
  /// are of other tests, which may run at the same time.
  void note_sockets_of(const std::string& tag);
  [[nodiscard]] std::size_t memory_files() const { return memory_.size(); }

  /// Looks until nothing is left, at most @p seconds. Empty, or a sentence about what is left. @p
  /// tag is in the command line of every process of the job.
  [[nodiscard]] std::string find(const std::string& tag, double seconds) const;

 private:
  [[nodiscard]] std::string look(const std::string& tag) const;
  std::string directory_;
  std::set<std::string> shared_memory_;  // names in /dev/shm
  std::set<std::string> device_sockets_;
  std::set<std::string> sockets_;  // of the job
  std::set<std::pair<dev_t, ino_t>> memory_;
};

}  // namespace fault
