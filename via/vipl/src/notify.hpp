#pragma once
/// @file
/// The thread of the library, which calls the handlers of VipSendNotify, VipRecvNotify and
/// VipCQNotify.

#include <atomic>
#include <cstddef>
#include <thread>

namespace viaduct::via::vipl {

class Port;

class NotifyThread {
 public:
  /// Throws std::system_error when there can be no thread more.
  NotifyThread();
  /// Ends it, unless it is the caller (a handler has called exit()). Without the lock.
  void stop() noexcept;

 private:
  struct Due;
  void run() noexcept;
  /// Calls one handler that is due; false: none is.
  bool call_one() noexcept;
  bool find_due(Port& port, Due& due) noexcept;

  std::size_t next_ = 0;  // of all work queues, then of all completion queues
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace viaduct::via::vipl
