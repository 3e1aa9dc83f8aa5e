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

  /// The result of a short look.
  enum class Look : std::uint8_t {
    nothing,  ///< no completion, and a poll would find none either
    taken,    ///< a completion
    message,  ///< a message that takes more to receive; nothing is done: a poll takes it
    more,     ///< a poll has more to do; nothing is done
  };

  /// A message that waits in the ring of a VI that talks. Nothing of it is taken.
  struct Found {
    Vi* vi;  ///< null: there is none
    Slot* slot;
    std::uint64_t header;
  };
  /// Looks at the VIs that talk; the next look begins with the VI behind the one that it has found.
  /// Never blocks.  Cost: one load for each of them, 8 at most.
  [[nodiscard, gnu::always_inline]] Found find() noexcept {
    if (hot_count_ == 0) return {nullptr, nullptr, 0};
    // What does not change is compared where it lies, so that few registers are needed.
    std::uint32_t at = turn_;
    do {
      Vi& vi = static_cast<Vi&>(*hot_[at]);
      if (++at >= hot_count_) at = 0;
      const Found found = first_of(vi);
      if (found.vi == nullptr) continue;
      turn_ = at;
      vi.in_set_.last_active = ++tick_;
      return found;
    } while (at != turn_);
    return {nullptr, nullptr, 0};
  }
  /// @return whether exactly one VI talks: find_of_one() will do.
  [[nodiscard]] bool has_one_hot() const noexcept { return hot_count_ == 1; }
  /// As find(), with fewer instructions.  Precondition: has_one_hot().
  [[nodiscard, gnu::always_inline]] Found find_of_one() const noexcept {
    return first_of(static_cast<Vi&>(*hot_[0]));
  }
  /// Takes a message that find() has found into its receive when that is all there is to do.
  /// @return its descriptor; null: nothing is done, and a poll takes it.  Never blocks.
  [[nodiscard, gnu::always_inline]] static Descriptor* take(const Found& found) noexcept {
    return found.vi->take_plain(*found.slot, found.header);
  }
  /// Look::nothing or Look::more, behind a find() that has found none.  Never blocks.
  [[nodiscard, gnu::always_inline]] Look look_further() noexcept {
    if (has_more_to_do(tick_ + 1)) return Look::more;
    ++tick_;
    return Look::nothing;
  }
  /// The part of poll() that takes no function call, inlined into the caller. @p vi becomes the VI
  /// that Look::message is for.  Never blocks.  Cost: as poll().
  [[nodiscard, gnu::always_inline]] Look look(Completion& out, Vi*& vi) noexcept {
    if (take_pushed(out)) return Look::taken;
    const Found found = find();
    if (found.vi == nullptr) return look_further();
    Descriptor* const d = take(found);
    vi = found.vi;
    if (d == nullptr) [[unlikely]]
      return Look::message;
    out = {vi, d, Queue::receive};
    return Look::taken;
  }

  /// Takes a completion that waits in the ring: of a send, mostly.  @return whether there is one.
  /// Never blocks.
  [[nodiscard, gnu::always_inline]] bool take_pushed(Completion& out) noexcept {
    if (ring_head_ == ring_tail_) return false;
    pop(out);
    return true;
  }

  /// ok or retry.  Never blocks.  Cost: nothing there: one load for each talking VI (8 at most) and
  /// one for all others, and, where a VI talks, a pause of the core, some 10 ns: a core that looks
  /// without a pause takes the line that its peer is about to write more often. A message of up to
  /// 56 bytes: one cache line read.
  Status poll(Completion& out) noexcept override {
    Vi* vi = nullptr;
    switch (look(out, vi)) {
      [[likely]] case Look::taken : return Status::ok;
      case Look::nothing:
        if (hot_count_ != 0) __builtin_ia32_pause();
        return Status::retry;
      case Look::message:
        return poll_message(*vi, out);
      case Look::more:
        break;
    }
    return poll_more(out);
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
  [[nodiscard, gnu::always_inline]] static Found first_of(Vi& vi) noexcept {
    const std::uint64_t seq = vi.rx_seq_;
    const std::uint64_t mask = vi.rx_mask_;
    Slot& slot = vi.rx_slots_[seq & mask];
    const std::uint64_t h = slot.header.load(kAcquire);
    return {Vi::is_full(h, seq, mask) ? &vi : nullptr, &slot, h};
  }
  [[gnu::noinline]] Status poll_more(Completion& out) noexcept;
  // A message that is not plain has come for a hot VI.
  [[gnu::noinline]] Status poll_message(Vi& vi, Completion& out) noexcept;
  Status poll_ready(Completion& out) noexcept;
  void pop(Completion& out) noexcept {
    // Field by field: a vector load would read a completion that was pushed a moment ago only when
    // all stores before it are done.
    Entry& c = ring_[ring_head_++ & ring_mask_];
    out.vi = load_word(c.vi, kRelaxed);
    out.descriptor = load_word(c.descriptor, kRelaxed);
    out.queue = c.queue;
    auto& vi = static_cast<Vi&>(*out.vi);
    --(out.queue == Queue::send ? vi.tx_outstanding_ : vi.rx_outstanding_);
  }
  [[nodiscard]] bool takeable(std::uint32_t epoch) noexcept;
  void sleep_until_doorbell(std::uint32_t epoch) noexcept;
  void run_notifier() noexcept;

  struct Notice {
    std::function<void()> ready;
    std::uint32_t epoch = 0;  // the life epoch that the owner knows of
  };
  struct Notifier;
  Owned<Notifier> notifier_;  // null until the first notify()
  Notice notice_;             // of the thread that has set armed_, then the notifier's
  bool armed_again_ = false;  // the notifier's own: by its callback
  AtomicWord<bool> armed_{false};
  AtomicWord<bool> stop_notifier_{false};
};

inline void Vi::SendQueue::complete(Vi& vi, Descriptor& d, std::uint32_t status) noexcept {
  d.control.status = status;
  completions_->push({&vi, &d, Queue::send});
}

}  // namespace viaduct::via::shm
