#pragma once
/// @file
/// Completion queues of provider verbs: a queue of the device's, whose entries become completions
/// of descriptors in a ring of ours. Flushed descriptors come into the ring without the device.

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "via/verbs/src/owned.hpp"
#include "viaduct/via/completion_ring.hpp"

namespace viaduct::via::verbs {

class Nic;
class Vi;

class CompletionQueue final : public CompletionRing {
 public:
  CompletionQueue(Nic& nic, std::size_t capacity);
  ~CompletionQueue() override;

  Status poll(Completion& out) noexcept override {
    if (ring_head_ == ring_tail_) {
      look();
      if (ring_head_ == ring_tail_) return nothing_;
    }
    return pop(out);
  }
  Status wait(Completion& out, std::int64_t timeout_ns) noexcept override;
  Status notify(std::function<void()> ready) override;

  // For the NIC and its VIs.

  /// Room for @p depth completions more, of @p requests work requests; undone by forget().
  void promise(Vi& vi, std::size_t depth, std::size_t requests);
  void forget(Vi& vi, std::size_t depth, std::size_t requests) noexcept;
  /// The device's queue; there from the first promise on.
  [[nodiscard]] ibv_cq* device_queue() const noexcept { return device_queue_.get(); }
  using CompletionRing::push;
  /// reap(), unless the queue has a notifying thread, which may be polling it.
  void reap_for_owner() noexcept {
    if (!has_notifier()) reap();
  }
  [[nodiscard]] bool has_notifier() const noexcept { return notifying_.load(); }
  /// The next look comes to the NIC's connections and errors. While another thread may poll the
  /// queue, that happens in its turn.
  void look_fully() noexcept {
    if (!has_notifier()) polls_ |= kHousekeeping - 1;
  }
  /// The VI whose own queue this is ends: waits find nothing any more.
  void leave() noexcept { nothing_ = Status::bad_state; }
  /// Takes in the device's completions. Answers whether there were any.
  bool reap() noexcept;
  void arm() noexcept {
    if (device_queue_ != nullptr) (void)ibv_req_notify_cq(device_queue(), 0);
  }
  /// The device has told of a completion, after arm(). From the NIC's thread.
  void record_event() noexcept { event_.store(true); }

 private:
  static constexpr std::uint64_t kHousekeeping = 64;  // polls
  static constexpr std::uint32_t kBatch = 16;

  void look() noexcept;
  Status pop(Completion& out) noexcept;
  void grow_device_queue();
  void run_notifier() noexcept;
  void finish_trials() noexcept;
  [[nodiscard]] bool worth_a_poll() noexcept;

  OwnedQueue device_queue_;
  std::uint64_t polls_ = 0;
  // Taken from the device and not yet delivered: a delivery may come back to reap().
  std::array<ibv_wc, kBatch> taken_;
  std::uint32_t taken_head_ = 0, taken_tail_ = 0;
  Nic& nic_;
  std::size_t requests_ = 0;  // work requests of the attached queues
  std::function<void()> ready_;
  std::uint32_t notice_epoch_ = 0;
  std::thread notifier_;
  bool armed_again_ = false;  // by the callback
  std::atomic<bool> event_{false};
  std::atomic<bool> armed_{false};
  std::atomic<bool> notifying_{false};  // from notify() to the end of the last callback
  std::atomic<bool> stop_{false};
};

}  // namespace viaduct::via::verbs
