#pragma once
/// @file
/// --label: the ranks' output, line by line, with "[rank] " before each line.

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {

/// One pipe per rank and stream. Two threads read them, one for each stream of viaduct-run, so that
/// a stream that takes nothing holds up neither the launcher nor the other stream. Lines stay
/// whole, the two streams apart. When a stream cannot be written any more (its reader has gone, or
/// its disk is full), the reason is said, and ranks that write on get SIGPIPE.
class Labels {
 public:
  Labels();
  /// Leaves behind a thread whose stream takes nothing: the process is to end by _exit() then.
  ~Labels();
  Labels(const Labels&) = delete;
  Labels& operator=(const Labels&) = delete;

  struct Ends {
    FileDescriptor out;
    FileDescriptor err;
  };
  /// The writing ends for one process, whose lines are to begin with @p label. Call before start().
  [[nodiscard]] Ends add(const std::string& label);

  void start();

  /// All ranks have ended: the threads write the output that is still in the pipes, incomplete last
  /// lines too, and then end. No process that still holds a writing end is waited for.
  void stop();

  /// Waits until the threads have ended.
  ///
  /// Blocks      until then, at most for @p limit
  /// @return     false when the time was up
  [[nodiscard]] bool done_within(std::chrono::milliseconds limit) const;

  /// Bytes that have been written so far: their number grows as long as there is a reader.
  [[nodiscard]] std::size_t written() const;
  /// Bytes that are still to be written, as far as the ranks have handed them over.
  [[nodiscard]] std::size_t waiting() const;
  /// Whether a stream does not take the ranks' output, and not because its reader has gone.
  [[nodiscard]] bool is_refused() const;

 private:
  class Target;
  std::array<std::shared_ptr<Target>, 2> targets_;
};

}  // namespace viaduct::launcher
