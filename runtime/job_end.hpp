#pragma once
/// @file
/// The end of a Job whose memory stays, for libraries that end it while the process' threads go on.

#include <functional>

#include "viaduct/job.hpp"

namespace viaduct {

/// What ~Job does for the other ranks and the launcher, in steps. The Job is not destroyed: the
/// threads of the process may still use its memory.
struct JobEnd {
  /// Says that this rank is at its end: it comes to no further barrier.  Never blocks.
  static void announce(Job& job) noexcept;
  /// @return whether all ranks have said so or are lost.  Never blocks.
  [[nodiscard]] static bool is_everyones(const Job& job) noexcept;
  /// Announces the end, and calls @p serve again and again until the end is everyone's.  Blocks.
  static void await_all(Job& job, const std::function<void()>& serve) noexcept;
  /// The collective end: afterwards the rank counts as finalized.  Blocks until all ranks that are
  /// not lost have come.
  static void finalize(Job& job) noexcept;
};

}  // namespace viaduct
