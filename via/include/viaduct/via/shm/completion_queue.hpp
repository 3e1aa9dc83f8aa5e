#pragma once
/// @file
/// Completion queues of provider shm.
///
/// Receives need no queue of their own: a message's slot is its completion. Send completions and
/// flushed descriptors pass through a ring.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/completion_ring.hpp"
#include "viaduct/via/shm/poll_set.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

class CompletionQueue final : public CompletionRing, public PollSet {
 public:
  /// Throws Error for a capacity of 0 or beyond the NIC's limit, or when the window has no room for
  /// the doorbell.
  CompletionQueue(Nic& nic, std::size_t capacity);
  ~CompletionQueue() override;

  /// ok or retry.  Never blocks.  Cost: nothing there: one load for each talking VI (8 at most) and
  /// one for all others. A message of up to 56 bytes: one cache line read.
  Status poll(Completion& out) noexcept override {
    if (ring_head_ == ring_tail_) [[likely]] {
      ++tick_;
      std::uint32_t at = turn_;
      for (std::uint32_t i = 0; i < hot_count_; ++i) {
        Vi* vi = static_cast<Vi*>(hot_[at]);
        if (++at >= hot_count_) at = 0;
        Slot& slot = vi->next_slot();
        const std::uint64_t h = slot.header.load(kAcquire);
        if (!vi->is_full(h)) continue;
        turn_ = at;  // the next poll begins with the next VI
        vi->in_set_.last_active = tick_;
        if (Descriptor* d = vi->take_plain(slot, h)) [[likely]] {
          out = {vi, d, Queue::receive};
          return Status::ok;
        }
        return poll_other(*vi, out);
      }
      if (!has_more_to_do()) return Status::retry;
    }
    return poll_slow(out);
  }
  /// ok or timeout.  Blocks in the kernel after the spins and yields of the job's wait policy.
  Status wait(Completion& out, std::int64_t timeout_ns) noexcept override;
  /// ok, or bad_state when a notice is already armed.  Cost: a thread, which ends with the notice.
  Status notify(std::function<void()> ready) override;

  /// Whether a poll would find something. Takes nothing.  Cost: one load for each VI of the queue.
  [[nodiscard]] bool anything_there() noexcept override;

 private:
  friend class Vi;
  friend class Nic;
  [[gnu::noinline]] Status poll_slow(Completion& out) noexcept;
  [[gnu::noinline]] Status poll_other(
      Vi& vi, Completion& out) noexcept;  // a message that is not plain has come for vi
  Status pop(Completion& out) noexcept;
  [[nodiscard]] bool takeable(std::uint32_t epoch) noexcept;
  void sleep_until_doorbell(std::uint32_t epoch) noexcept;
  void run_notifier() noexcept;

  struct Notice {
    std::function<void()> ready;
    std::uint32_t epoch = 0;  // the life epoch that the owner knows of
  };
  struct Notifier;
  Owned<Notifier> notifier_;  // null until somebody has asked for a notice
  Notice notice_;             // of the thread that has set armed_, then the notifier's
  bool armed_again_ = false;  // the notifier's own: by its callback
  AtomicWord<bool> armed_{false};
  AtomicWord<bool> stop_notifier_{false};
};

inline void Vi::push_send(Descriptor& d, std::uint32_t status) noexcept {
  d.control.status = status;
  send_cq_->push({this, &d, Queue::send});
}

}  // namespace viaduct::via::shm
