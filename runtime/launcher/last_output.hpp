#pragma once
/// @file
/// How long the last output of a job is waited for.

#include <chrono>
#include <cstddef>

#include "runtime/launcher/labels.hpp"

namespace viaduct::launcher {

/// Waits, after all ranks have ended, for output of the ranks and sentences of viaduct-run that are
/// not yet written. A job that has ended well waits for a slow reader as any program does. A job
/// that has failed waits as long as a reader takes output, and a job that was told to end half a
/// second.
class LastOutput {
 public:
  using Clock = std::chrono::steady_clock;

  /// @p most: the longest that is waited for a job that has failed.
  LastOutput(Labels& labels, std::chrono::milliseconds most);

  /// Waits a moment. False when there is no more to wait for: all is written, or the time is up.
  [[nodiscard]] bool wait(bool failed, bool told_to_end);

  /// Reports output that was dropped.
  void report() const;

 private:
  Labels& labels_;
  std::chrono::milliseconds most_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point progress_ = begin_;
  std::size_t written_ = 0;
  bool complete_ = false;
};

}  // namespace viaduct::launcher
