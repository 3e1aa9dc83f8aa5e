#pragma once
/// @file
/// AM-2 in one process with several threads: requests and replies of endpoints to themselves.

#include <string>

namespace viaduct::bench {

/// The measurements of a child process.
enum class Am2Threads {
  sequential,  ///< one thread, an AM_SEQ bundle
  alone,       ///< one thread that calls, an AM_PAR bundle, and a second thread that sleeps
  two,         ///< two threads, each with an AM_PAR bundle and an endpoint of its own
};

/// Runs this program once more, as a job of one with all cores, to measure @p what: million
/// requests with their replies a second, of all threads.  Blocks until it ends.  Throws Error.
[[nodiscard]] double am2_threads_mps(Am2Threads what, unsigned rounds);

/// The child's part. False: the command line is not that of a child; else @p exit_code is the
/// program's exit code.
[[nodiscard]] bool is_am2_child(int argc, char** argv, int& exit_code);

}  // namespace viaduct::bench
