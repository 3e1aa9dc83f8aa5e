#pragma once
/// @file
/// What the sources of launcher_actor share.

#include <unistd.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "viaduct/job.hpp"

namespace actor {

/// One line in one write: lines of several ranks do not mix.
inline void say(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(99);
}

inline std::string self() {
  std::array<char, 4096> path{};
  const ssize_t bytes = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return std::string(path.data(), static_cast<std::size_t>(bytes));
}

[[noreturn]] inline void hang() {
  while (true) ::pause();
}

/// Sleeps on the rank's doorbell, as a blocked wait does, until @p done.
template <typename Done>
void sleep_until(viaduct::Job& job, Done done) {
  auto& record = job.record(job.rank());
  while (true) {
    const std::uint32_t seen = record.doorbell.load();
    record.sleeping.store(1);
    if (done()) break;
    viaduct::futex_wait(record.doorbell, seen, -1);
  }
  record.sleeping.store(0);
}

inline viaduct::Status barrier(viaduct::Job& job) {
  const std::uint32_t ticket = job.barrier_arrive();
  auto status = viaduct::Status::retry;
  sleep_until(job, [&] { return (status = job.barrier_done(ticket)) != viaduct::Status::retry; });
  return status;
}

[[noreturn]] void child_hang(char**);
/// Rank 1 writes over the job page, as a wild pointer could, and ends or waits.
int scribble(viaduct::Job& job, char** argv);
/// Every record of the job page names another process as the rank's.
int name_victim(viaduct::Job& job, char** argv);
/// Every rank gets children of the kinds named; then all hang, rank 0 stopped.
int children(viaduct::Job& job, char** argv);
/// A child that keeps the output open after its rank has ended.
int leave_child(viaduct::Job& job, char** argv);
/// The same by a child whose first thread has ended while another runs on.
int leave_thread(viaduct::Job& job, char** argv);
/// Fills shared memory and uses the standard streams, open or not; the memory must not change.
int streams(viaduct::Job& job, char** argv);
/// Writes to both output streams without end.
int flood(viaduct::Job& job, char** argv);
int blocked(viaduct::Job& job, char** argv);
/// What a forked child may not do: each child tries one thing; the rank prints how it ended.
int misuse_in_child(viaduct::Job& job, char**);

}  // namespace actor
