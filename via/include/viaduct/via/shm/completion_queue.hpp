#pragma once
/// @file
/// Completion queues of provider shm.
///
/// Receives need no queue of their own: a message's slot is its completion. The queue looks at the
/// channels of the VIs that talk (at most kHotVis of them, at every poll) and at one doorbell line,
/// in which the senders of all other VIs set a bit: polling is O(1) in the number of peers. Send
/// completions and flushed descriptors pass through a ring.
///
/// A channel is set aside by raising its notify word without a fence. A sender may miss that once;
/// so every kHousekeeping polls one of the channels set aside is looked at, and all of them before
/// blocking (after an expedited membarrier, which orders the sender's message before its look at
/// the notify word).

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/completion_ring.hpp"
#include "viaduct/via/shm/channel.hpp"
#include "viaduct/via/shm/sleep.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

class CompletionQueue final : public CompletionRing {
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
        Vi* vi = hot_[at];
        if (++at >= hot_count_) at = 0;
        Slot& slot = vi->next_slot();
        const std::uint64_t h = slot.header.load(kAcquire);
        if (!vi->is_full(h)) continue;
        turn_ = at;  // the next poll begins with the next VI
        vi->last_active_ = tick_;
        if (Descriptor* d = vi->take_plain(slot, h)) [[likely]] {
          out = {vi, d, Queue::receive};
          return Status::ok;
        }
        return poll_other(*vi, out);
      }
      if (doorbell_->summary.load(kRelaxed) == 0 && tick_ % kHousekeeping != 0)
        return Status::retry;
    }
    return poll_slow(out);
  }
  /// ok or timeout.  Blocks in the kernel after the spins and yields of the job's wait policy.
  Status wait(Completion& out, std::int64_t timeout_ns) noexcept override;
  /// ok, or bad_state when a notice is already armed.  Cost: a thread, which ends with the notice.
  Status notify(std::function<void()> ready) override;

  /// For VIs with inline receives: hands arrived messages to f(vi, slot, header); see
  /// Vi::drain_inline. Returns how many.  Progress: moves the NIC's connections on now and then.
  template <class OnMessage>
  std::uint32_t poll_inline(std::uint32_t budget, OnMessage& f) noexcept {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < hot_count_; ++i) {
      Vi* vi = hot_[i];
      const std::uint32_t got = vi->drain_inline(budget, f);
      if (got != 0) {
        vi->last_active_ = tick_;
        n += got;
      }
    }
    ++tick_;
    if (doorbell_->summary.load(kRelaxed) != 0 || tick_ % kHousekeeping == 0) [[unlikely]]
      n += poll_ready(budget, f);
    return n;
  }

  /// poll_inline() of what needs this queue's owner alone: messages of one line on channels that
  /// talk, for which f.accepts(vi, header) is true. Takes those of a channel up to the first that
  /// is not accepted. Sets @p more where poll_inline() is to follow.
  template <class Receiver>
  std::uint32_t poll_accepted(std::uint32_t budget, Receiver& f, bool& more) noexcept {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < hot_count_; ++i) {
      Vi* vi = hot_[i];
      const std::uint32_t got = drain_accepted(*vi, budget, f, more);
      if (got != 0) {
        vi->last_active_ = tick_;
        n += got;
      }
    }
    if (doorbell_->summary.load(kRelaxed) != 0 || (tick_ + 1) % kHousekeeping == 0)
      more = true;
    else if (!more)
      ++tick_;
    return n;
  }

  /// For a layer that looks at fewer words between its polls. A message has come when bit 0 of
  /// *header is phase (null: no channel is hot; `several`: more than one is), or when the NIC asks
  /// for attention(). Valid until the next call of the queue.
  struct Watch {
    const AtomicWord<std::uint64_t>* header = nullptr;
    std::uint64_t phase = 0;
    bool several = false;
  };
  /// @return the word to look at.  Cost: a few loads of this rank's own memory.
  [[nodiscard]] Watch watch() const noexcept {
    if (hot_count_ != 1) return {nullptr, 0, hot_count_ > 1};
    const Vi& vi = *hot_[0];
    return {&vi.next_slot().header, Vi::phase(vi.rx_seq_, vi.rx_mask_), false};
  }
  /// For an owner that polls seldom, because it waits elsewhere: the next poll handles control
  /// messages that have come.  Never waits.
  void look_fully() noexcept;
  /// Whether a sender may write a message without ringing a doorbell.
  [[nodiscard]] bool has_hot() const noexcept { return hot_count_ != 0; }
  /// From now on every sender rings. A message that a sender wrote at the same moment may ring
  /// nothing: ring_for_missed(), a while later, makes up for it.  Never waits.
  void set_all_aside() noexcept;
  /// Rings this queue's own doorbell for what has come to channels that are aside.
  void ring_for_missed() noexcept;
  /// @p call(@p with) at a poll now and then (each 64th), between two messages.
  void on_housekeeping(void (*call)(void*) noexcept, void* with) noexcept {
    housekeeping_ = call;
    housekeeping_with_ = with;
  }

  /// @return whether a poll would find a message, or is to look further. Takes nothing.  Cost: one
  /// load for each talking VI and one for all others.
  [[nodiscard]] bool looks_busy() const noexcept {
    for (std::uint32_t i = 0; i < hot_count_; ++i)
      if (hot_[i]->is_full(hot_[i]->next_slot().header.load(kAcquire))) return true;
    return doorbell_->summary.load(kRelaxed) != 0;
  }
  /// Whether a poll would find something. Takes nothing.  Cost: one load for each VI of the queue.
  [[nodiscard]] bool anything_there() noexcept;

 private:
  friend class Vi;
  friend class Nic;
  friend void sleep(Job& job, Watched& watched, const Sleep& how) noexcept;

  static constexpr std::uint32_t kHotVis = 8;
  static constexpr std::uint64_t kHousekeeping = 64;  // polls
  // Polls without a message after which a hot VI may be set aside.
  static constexpr std::uint64_t kQuiet = 256;

  template <class Receiver>
  static std::uint32_t drain_accepted(Vi& vi, std::uint32_t budget, Receiver& f,
                                      bool& more) noexcept {
    std::uint32_t n = 0;
    while (n < budget) {
      const std::uint64_t seq = vi.rx_seq_;
      Slot& slot = vi.next_slot();
      const std::uint64_t h = slot.header.load(kAcquire);
      if (!vi.is_full(h)) break;
      if (!f.accepts(vi, h)) {
        more = true;
        break;
      }
      __builtin_prefetch(&vi.rx_slots_[(seq + Vi::kPrefetchAhead) & vi.rx_mask_]);
      vi.rx_seq_ = seq + 1;
      f(vi, slot, h);
      ++n;
      if (vi.rx_seq_ - vi.rx_released_ >= vi.options_.release_every) vi.release_slots();
    }
    return n;
  }
  /// Channels set aside whose senders have rung, or whose turn it is. A remote VI stays aside:
  /// nothing shows in its ring before the transport has been polled.
  template <class OnMessage>
  [[gnu::noinline]] std::uint32_t poll_ready(std::uint32_t budget, OnMessage& f) noexcept {
    std::uint32_t n = 0;
    collect_ready();
    while (!ready_.empty()) {
      Vi* vi = next_ready();
      const std::uint32_t got = vi->drain_inline(budget, f);
      n += got;
      if (!vi->options_.remote)
        make_hot(*vi);
      else if (got == budget) [[unlikely]]
        ring_self(vi->receive_bit_);  // the next poll goes on with what may be left
    }
    return n;
  }
  [[gnu::noinline]] Status poll_slow(Completion& out) noexcept;
  [[gnu::noinline]] Status poll_other(
      Vi& vi, Completion& out) noexcept;  // a message that is not plain has come for vi
  Status pop(Completion& out) noexcept;
  // Doorbell bits and one channel set aside into ready_; every so often the NIC's progress.
  void collect_ready() noexcept;
  [[gnu::noinline]] void take_doorbells() noexcept;
  [[gnu::noinline]] void keep_house() noexcept;
  /// A remote VI is listed when its lines arrive, others when their doorbell rings: each once.
  void list_ready(Vi& vi) noexcept {
    if (vi.listed_) return;
    vi.listed_ = true;
    ready_.push_back(&vi);  // there is room for all
  }
  void unlist(Vi& vi) noexcept;
  [[nodiscard]] Vi* next_ready() noexcept {
    Vi* const vi = ready_.back();
    ready_.pop_back();
    vi->listed_ = false;
    return vi;
  }
  void make_hot(Vi& vi) noexcept;  // after its messages were taken: make it hot if there is a place
  void set_aside(Vi& vi) noexcept;
  [[nodiscard]] bool look_for_nonsense() noexcept;
  [[nodiscard]] bool takeable(std::uint32_t epoch) noexcept;
  void sleep_until_doorbell(std::uint32_t epoch) noexcept;
  void run_notifier() noexcept;
  void watch(Vi& vi);  // gives it a doorbell bit
  void unwatch(Vi& vi) noexcept;
  [[gnu::cold]] void ring_self(std::uint32_t bit) noexcept;

  // Hot.
  std::uint32_t hot_count_ = 0;
  std::array<Vi*, kHotVis> hot_{};
  CqDoorbell* doorbell_ = nullptr;
  std::uint64_t tick_ = 0;
  std::uint32_t turn_ = 0;  // less than hot_count_, or 0
  // Cool.
  std::vector<Vi*> ready_;
  std::vector<Vi*> vis_;  // by doorbell bit; null: free
  std::size_t next_scan_ = 0;
  std::size_t doorbell_offset_ = 0;
  // Threads that sleep: all channels stay aside. They hold no lock of the queue's meanwhile.
  AtomicWord<std::uint32_t> sleepers_ = 0;
  void (*housekeeping_)(void*) noexcept = nullptr;
  void* housekeeping_with_ = nullptr;
  Nic& nic_;
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
