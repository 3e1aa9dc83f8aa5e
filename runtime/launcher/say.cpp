#include "runtime/launcher/say.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "runtime/launcher/last_resort.hpp"
#include "runtime/launcher/write_all.hpp"

namespace viaduct::launcher {
namespace {

// A line, however long, is taken while less than this waits behind the one that is being written.
constexpr std::size_t kMostWaiting = std::size_t{256} << 10;
constexpr auto kLook = std::chrono::milliseconds(10);
constexpr int kMostOfLimit = 20;  // limits that a wait may last in all

/// Whether standard error takes nothing now.
bool is_blocked() noexcept {
  pollfd fd{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&fd, 1, 0) == 0;
}

/// Shared with the thread that writes, which may be stuck in a write when the process ends.
class Speaker : public std::enable_shared_from_this<Speaker> {
 public:
  void put(std::string line) {
    const std::lock_guard lock(mutex_);
    if (bytes_behind_ >= kMostWaiting) {
      ++dropped_;
      return;
    }
    if (!waiting_.empty()) bytes_behind_ += line.size();
    waiting_.push_back(std::move(line));
    if (!started_) start();
    changed_.notify_all();
  }

  /// Only the time counts in which standard error takes nothing: on a busy machine the thread may
  /// wait long for a core, and its sentences must not be lost for that.
  bool idle_within(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    const auto look = std::min<std::chrono::milliseconds>(limit, kLook);
    std::chrono::milliseconds blocked{0};
    for (auto all = blocked; blocked < limit && all < kMostOfLimit * limit; all += look) {
      if (changed_.wait_for(lock, look, [this] { return waiting_.empty(); })) return true;
      if (writing_ && is_blocked()) blocked += look;
    }
    return waiting_.empty();
  }

 private:
  void start() {
    try {
      std::thread([self = shared_from_this()] { self->loop(); }).detach();
      started_ = true;
    } catch (const std::system_error&) {  // no thread is to be had (ulimit -u): here, then
      for (const std::string& line : waiting_) write_all(STDERR_FILENO, line);
      waiting_.clear();
    }
  }

  [[noreturn]] void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !waiting_.empty(); });
      std::string line = waiting_.front();
      if (waiting_.size() == 1 && dropped_ != 0) {
        line += fmt::format(
            "viaduct-run: {} dropped, since standard error took nothing\n",
            dropped_ == 1 ? "1 sentence was" : fmt::format("{} sentences were", dropped_));
        dropped_ = 0;
      }
      writing_ = true;
      lock.unlock();
      write_all(STDERR_FILENO, line);
      lock.lock();
      writing_ = false;
      waiting_.pop_front();
      if (!waiting_.empty()) bytes_behind_ -= waiting_.front().size();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;  // the first is being written
  std::size_t bytes_behind_ = 0;     // of the lines after the first
  std::size_t dropped_ = 0;
  bool started_ = false;
  bool writing_ = false;
};

/// Never destroyed: its thread may outlive main().
Speaker& speaker() {
  static const auto* const one = new std::shared_ptr<Speaker>(std::make_shared<Speaker>());
  return **one;
}

}  // namespace

void say(const std::string& sentence) { speaker().put("viaduct-run: " + sentence + "\n"); }

std::string sentence_of(const std::exception& problem) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&problem) != nullptr;
  return is_memory ? kNoMemory : problem.what();
}

bool said_all_within(std::chrono::milliseconds limit) { return speaker().idle_within(limit); }

}  // namespace viaduct::launcher
