#pragma once
/// @file
/// Levelled log to standard error: VIADUCT_LOG=error|warn|info|debug (default warn). One line a
/// call, written with one write(2), prefixed "viaduct: [rank N] level: ".

#include <cstdint>
#include <string_view>

namespace viaduct {

enum class LogLevel : std::uint8_t { error, warn, info, debug };

/// A rank's log: knows its threshold and whose lines it writes.
class Log {
 public:
  Log(LogLevel threshold, std::uint32_t rank, std::uint32_t size) noexcept
      : threshold_(threshold), rank_(rank), size_(size) {}
  [[nodiscard]] bool enabled(LogLevel level) const noexcept { return level <= threshold_; }
  /// Writes the line if the level is enabled.  Call from any thread, never from a hot path.
  void write(LogLevel level, std::string_view text) const noexcept;

 private:
  LogLevel threshold_;
  std::uint32_t rank_;
  std::uint32_t size_;
};

}  // namespace viaduct
