#pragma once
/// @file
/// The thread that waits for a device's events: completions of armed queues, and events of
/// the device itself. A completion channel cannot be waited for together with a futex, and a
/// rank sleeps on its doorbell: so this thread rings it. It also keeps the time of
/// VIADUCT_VERBS_KEEPALIVE.

#include <infiniband/verbs.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "via/verbs/src/device.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::via::verbs {

class Events {
 public:
  struct DeviceEvent {
    ibv_event_type type;
    std::uint32_t pair;  // number of the queue pair, where it is about one
    const void* queue;   // context of the completion queue, where it is about one
  };

  /// Rings this rank's doorbell at every event, and tells the job whether the port is down.
  /// Throws Error.
  Events(Device& device, Job& job);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  [[nodiscard]] ibv_comp_channel* channel() const noexcept { return channel_.get(); }
  /// Called in the thread at events of the queue of control messages. Null: no more, and no call is
  /// under way any longer.
  void on_control(std::function<void()> answer);
  /// Context of that queue. Others have none, or are a CompletionQueue's.
  [[nodiscard]] static void* control_context() noexcept { return &control_mark_; }
  /// The events of the device since the last call.
  [[nodiscard]] std::vector<DeviceEvent> take();
  /// Whether there is something to take(), or connections are to be tried.
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// Whether connections are to be tried: once for each time that it is.
  [[nodiscard]] bool take_keepalive() noexcept { return keepalive_.exchange(false); }
  /// A control message has come since the flag was last lowered, after ControlPath::arm().
  [[nodiscard]] std::atomic<bool>& control_flag() noexcept { return control_; }

 private:
  static inline char control_mark_ = 0;

  void run() noexcept;
  [[nodiscard]] int patience_ms() const noexcept;
  void keep_time() noexcept;
  void take_completion_event() noexcept;
  void take_device_event() noexcept;
  void tell_port(bool down) noexcept;

  Device& device_;
  Job& job_;
  bool port_down_ = false;  // what the job has been told
  OwnedChannel channel_;
  FileDescriptor stop_;                // eventfd
  std::uint64_t keepalive_at_ns_ = 0;  // the next one; of the thread
  std::atomic<bool> any_{false};
  std::atomic<bool> keepalive_{false};
  std::atomic<bool> control_{false};
  std::mutex control_mutex_;
  std::function<void()> on_control_;
  std::mutex mutex_;
  std::vector<DeviceEvent> happened_;
  std::thread thread_;
};

}  // namespace viaduct::via::verbs
