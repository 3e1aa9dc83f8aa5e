#pragma once
/// @file
/// How this process was started: by viaduct-run, alone, to meet others, or by a launcher that
/// cannot be used.

#include <cstdint>

namespace viaduct {

struct Launch {
  /// The last two have not joined yet (join.hpp): nothing else is set then.
  enum class Mode : std::uint8_t { alone, processes, threads, rendezvous, pmix };
  Mode mode = Mode::alone;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  int socket = -1;          ///< processes only
  int page = -1;            ///< with a launcher
  int lifeline = -1;        ///< of a rank that has joined, to its agent
  std::uint32_t cores = 0;  ///< that the job's ranks share; 0 when the launcher did not say
  bool bound = false;       ///< each rank has a core of its own mask
  bool keep_going = false;
};

/// Reads the environment.  Throws Error when the launch variables are malformed or stale, or when
/// another parallel environment is present.
[[nodiscard]] Launch detect_launch();

}  // namespace viaduct
