#pragma once
/// @file
/// Levelled log to standard error: VIADUCT_LOG=error|warn|info|debug (default warn). One line a
/// call, written with one write(2), prefixed "viaduct: [rank N] level: ". A warning or an error
/// that comes again is counted: its line is written the first, 10th, 100th, ... time with the
/// count, and with the whole count when the log ends.

#include <cstdint>
#include <memory>
#include <string_view>

namespace viaduct {

enum class LogLevel : std::uint8_t { error, warn, info, debug };

/// A rank's log: knows its threshold and whose lines it writes.
class Log {
 public:
  /// A log of rank @p rank of @p size ranks; a job of one writes no rank before its lines. Where
  /// memory is short, repeated lines are not counted.  Never blocks.
  Log(LogLevel threshold, std::uint32_t rank, std::uint32_t size) noexcept;
  /// Writes how often lines came that have come again since their count was written. A rank that a
  /// signal or _exit ends does not come here: its log has told the last power of ten.
  ~Log();
  /// Takes over the threshold and the counts of repeated lines.  Never blocks.
  Log(Log&&) noexcept;
  /// The same, after this log has written its own counts, as at its end.  @return this log.
  Log& operator=(Log&&) noexcept;
  /// @return whether write() does anything at @p level.  Cost: one comparison.
  [[nodiscard]] bool enabled(LogLevel level) const noexcept { return level <= threshold_; }
  /// Writes the line if the level is enabled, or counts it: two lines are the same when their level
  /// and text are. The 32 that came last are known.  Call from any thread, never from a hot path.
  void write(LogLevel level, std::string_view text) const noexcept;

 private:
  struct Line;
  struct Repeats;
  void tell_count(Line& line) const noexcept;
  void put(LogLevel level, std::string_view text) const noexcept;
  void tell_counts() const noexcept;

  LogLevel threshold_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::unique_ptr<Repeats> repeats_;  // null: no memory, every line is written
};

}  // namespace viaduct
