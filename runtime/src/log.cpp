#include "viaduct/runtime/log.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace viaduct {

struct Log::Line {
  LogLevel level;
  std::string text;
  std::uint64_t count = 1;
  std::uint64_t told = 1;  // the count that was written
};

/// The warnings and errors that came last, and how often.
struct Log::Repeats {
  static constexpr std::size_t kMost = 32;
  std::mutex mutex;
  std::vector<Line> lines;  // the latest at the end
};

namespace {

bool is_power_of_ten(std::uint64_t n) noexcept {
  while (n >= 10 && n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace

Log::Log(LogLevel threshold, std::uint32_t rank, std::uint32_t size) noexcept
    : threshold_(threshold), rank_(rank), size_(size), repeats_(new (std::nothrow) Repeats) {}

Log::~Log() { tell_counts(); }

Log::Log(Log&&) noexcept = default;

Log& Log::operator=(Log&& other) noexcept {
  tell_counts();
  threshold_ = other.threshold_;
  rank_ = other.rank_;
  size_ = other.size_;
  repeats_ = std::move(other.repeats_);
  return *this;
}

void Log::put(LogLevel level, std::string_view text) const noexcept {
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
  } catch (...) {  // no memory for the line: it is dropped
  }
}

void Log::write(LogLevel level, std::string_view text) const noexcept {
  if (!enabled(level)) return;
  // A child that was forked may find the mutex locked for ever, so write() does not wait for it.
  if (level > LogLevel::warn || !repeats_ || !repeats_->mutex.try_lock()) return put(level, text);
  const std::lock_guard lock(repeats_->mutex, std::adopt_lock);
  try {
    auto& lines = repeats_->lines;
    const auto known = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
      return line.level == level && line.text == text;
    });
    if (known == lines.end()) {
      if (lines.size() == Repeats::kMost) {
        tell_count(lines.front());
        lines.erase(lines.begin());
      }
      lines.push_back({level, std::string(text)});
      return put(level, text);
    }
    std::rotate(known, known + 1, lines.end());
    ++lines.back().count;
    if (is_power_of_ten(lines.back().count)) tell_count(lines.back());
  } catch (...) {  // no memory to remember it with
    put(level, text);
  }
}

void Log::tell_count(Line& line) const noexcept {
  if (line.count == line.told) return;
  line.told = line.count;
  try {
    put(line.level, std::to_string(line.count) + " times by now: " + line.text);
  } catch (...) {  // no memory for the line
  }
}

void Log::tell_counts() const noexcept {
  if (!repeats_) return;
  for (Line& line : repeats_->lines) tell_count(line);
}

}  // namespace viaduct
