#include "runtime/log.hpp"

#include <unistd.h>
#include <array>
#include <cerrno>
#include <string>

namespace viaduct {

void Log::write(LogLevel level, std::string_view text) const noexcept {
  if (!enabled(level)) return;
  static constexpr std::array<std::string_view, 4> kNames{"error", "warn", "info", "debug"};
  try {
    std::string line = "viaduct: ";
    if (size_ > 1) line += "[rank " + std::to_string(rank_) + "] ";
    line += kNames[static_cast<std::size_t>(level)];
    line += ": ";
    line += text;
    line += '\n';
    while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
    }
  } catch (...) {  // no memory for the line: there is nobody left to tell
  }
}

}  // namespace viaduct
