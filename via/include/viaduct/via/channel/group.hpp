#pragma once
/// @file
/// Groups: the channels that one client polls together, a bundle of Active Messages or a process of
/// Split-C (docs/channel.md, section "Group, client, engine").

#include <cstdint>
#include <type_traits>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/via/channel/channel.hpp"
#include "viaduct/via/shm/poll_set.hpp"

namespace viaduct::via::channel {

class Group final : public shm::PollSet {
 public:
  /// Throws Error: the window has no room for the doorbell.
  explicit Group(Nic& nic);

  /// Hands arrived messages to f(channel, slot, header), or to a copy of f where that is trivially
  /// copyable, at most @p budget of each channel; see Channel::drain(). Of a stream, which one
  /// channel alone sends, at most 16 times as many: in portions, and before each portion it waits
  /// up to 0.5 us for the sender to be well ahead (docs/channel.md, "The receiver of a stream stays
  /// behind"). After a portion it calls f.after_portion(channel) if there is such a function.
  /// Returns how many.  Blocks never.  Progress: moves the NIC's connections on now and then. Cost:
  /// one load for each channel that talks (8 at most), one for all others.
  template <class OnMessage>
  std::uint32_t drain(std::uint32_t budget, OnMessage& f) noexcept {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < hot_count_; ++i) {
      auto* channel = static_cast<Channel*>(hot_[i]);
      const std::uint32_t got = channel->drain(budget, f);
      if (got != 0) {
        channel->in_set_.last_active = tick_;
        n += got;
      }
    }
    ++tick_;
    if (n >= budget || has_more_to_do()) [[unlikely]]
      n += drain_rest<OnMessage>(budget, f, n);
    return n;
  }

  /// drain() of the messages that need this group's owner alone: messages of one slot on channels
  /// that talk, for which f.accepts(channel, header) is true. Takes those of a channel up to the
  /// first that is not accepted. Sets @p more where drain() is to follow: also each 64th time,
  /// where f.wants_housekeeping(), the NIC or a channel that is aside asks for it, and each
  /// 16384th.
  template <class Receiver>
  std::uint32_t drain_accepted(std::uint32_t budget, Receiver& f, bool& more) noexcept {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < hot_count_; ++i) {
      auto* channel = static_cast<Channel*>(hot_[i]);
      const std::uint32_t got = drain_accepted(*channel, budget, f, more);
      if (got != 0) {
        channel->in_set_.last_active = tick_;
        n += got;
      }
    }
    if (n >= budget) [[unlikely]]
      n += accept_stream(budget, f, more);
    if (doorbell_->summary.load(kRelaxed) != 0)
      more = true;
    else if ((tick_ + 1) % kHousekeeping == 0 && (f.wants_housekeeping() || wants_housekeeping()))
      more = true;
    else if (!more)
      ++tick_;
    return n;
  }

  /// For a client that looks at fewer words between its polls. A message has come when bit 0 of
  /// *header is phase (null: no channel is hot; `several`: more than one is), or when the NIC asks
  /// for attention(). Valid until the next call of the group.
  struct Watch {
    const AtomicWord<std::uint64_t>* header = nullptr;
    std::uint64_t phase = 0;
    bool several = false;
  };
  /// @return the word to look at.  Cost: a few loads of this rank's own memory.
  [[nodiscard]] Watch watched_word() const noexcept {
    if (hot_count_ != 1) return {nullptr, 0, hot_count_ > 1};
    const auto& channel = static_cast<const Channel&>(*hot_[0]);
    return {&channel.next_slot().header, Channel::phase(channel.rx_seq_, channel.rx_mask_), false};
  }
  /// How long a message of a stream takes, in ticks_now(), where the receiver is to stay behind. A
  /// faster stream does not wait for lines, and a slower one waits for its handlers.
  struct Pace {
    std::uint64_t least = 48;  // 13 ns at 3.7 GHz, 21 ns at 2.3
    std::uint64_t most = 480;
  };
  /// For tests.
  void set_pace(Pace pace) noexcept { pace_ = pace; }
  /// @p call(@p with) at a poll now and then (each 64th), between two messages.
  void on_housekeeping(void (*call)(void*) noexcept, void* with) noexcept {
    housekeeping_ = call;
    housekeeping_with_ = with;
  }

 private:
  friend class ChannelEnd;
  friend class RemoteEnd;

  template <class Receiver>
  static std::uint32_t drain_accepted(Channel& channel, std::uint32_t budget, Receiver& f,
                                      bool& more) noexcept {
    std::uint32_t n = 0;
    while (n < budget) {
      const std::uint64_t seq = channel.rx_seq_;
      const std::uint64_t mask = channel.rx_mask_;
      Slot& slot = channel.rx_slots_[seq & mask];
      const std::uint64_t h = slot.header.load(kAcquire);
      if (!Channel::is_full(h, seq, mask)) break;
      if (!f.accepts(channel, h)) {
        more = true;
        break;
      }
      channel.prefetch_behind(seq, mask);
      channel.rx_seq_ = seq + 1;
      f(channel, slot, h);
      ++n;
      if (channel.rx_seq_ - channel.rx_released_ >= channel.options_.release_every)
        channel.release_slots();
    }
    return n;
  }
  /// A copy where that costs nothing: the caller's own then stays in registers.
  template <class OnMessage>
  using ByValue =
      std::conditional_t<std::is_trivially_copyable_v<OnMessage>, OnMessage, OnMessage&>;
  /// Goes on where drain() has taken @p taken messages of the hot channels.
  template <class OnMessage>
  [[gnu::noinline]] std::uint32_t drain_rest(std::uint32_t budget, ByValue<OnMessage> f,
                                             std::uint32_t taken) noexcept {
    std::uint32_t n = 0;
    const auto drain = [&](Channel& channel, std::uint32_t most) {
      const std::uint32_t got = channel.drain(most, f);
      n += got;
      return got;
    };
    if (taken >= budget) drain_stream(budget, f, 0, drain);
    if (!has_more_to_do()) return n;
    // Channels that are aside whose senders have rung, or whose turn it is. A remote channel stays
    // aside: nothing shows in its ring before the transport has been polled.
    collect_ready();
    while (!ready_.empty()) {
      auto& channel = static_cast<Channel&>(next_ready());
      const std::uint32_t got = drain(channel, budget);
      if (!channel.options_.remote)
        make_hot(channel);
      else if (got == budget) [[unlikely]]
        ring_self(channel.in_set_.bit);  // the next poll goes on with what may be left
    }
    return n;
  }
  template <class Receiver>
  [[gnu::noinline]] std::uint32_t accept_stream(std::uint32_t budget, Receiver& f,
                                                bool& more) noexcept {
    std::uint32_t n = 0;
    drain_stream(budget, f, 1, [&](Channel& channel, std::uint32_t most) {
      const std::uint32_t got = more ? 0 : drain_accepted(channel, most, f, more);
      n += got;
      return got;
    });
    return n;
  }
  /// Behind a full poll: where one channel alone talks, and the polls before were full, too, takes
  /// up to 15 budgets more, as long as the sender is well ahead. @p ahead: tick_ plus that is the
  /// poll's number.
  template <class OnMessage, class Drain>
  void drain_stream(std::uint32_t budget, OnMessage& f, std::uint64_t ahead,
                    const Drain& drain) noexcept {
    constexpr std::uint32_t kPortion = 8;
    constexpr std::uint32_t kBudgets = 15;
    Channel* const channel = count_full_poll(budget, tick_ + ahead);
    if (channel == nullptr) return;
    const auto tell = [&] {
      if constexpr (requires { f.after_portion(*channel); }) f.after_portion(*channel);
    };
    tell();
    for (std::uint32_t i = 0; i < kBudgets; ++i) {
      const std::uint64_t start = ticks_now();
      for (std::uint32_t n = 0; n < budget;) {
        if (!is_well_ahead(*channel)) return;
        const std::uint32_t got = drain(*channel, kPortion);
        if (got == 0) return;
        n += got;
        tell();
      }
      if (!may_go_on(*channel, ahead, ticks_now() - start <= budget * pace_.most)) return;
    }
  }
  /// Counts a full poll.  @return the channel of a stream; null: the last polls make none.
  [[nodiscard]] Channel* count_full_poll(std::uint32_t budget, std::uint64_t number) noexcept;
  /// Waits for the sender of a stream to be well ahead, some 0.5 us at most. False: it is not, and
  /// the stream is over.
  [[nodiscard]] bool is_well_ahead(const Channel& channel) noexcept;
  /// Behind each budget of a stream, which counts as a poll. False: something else is to be done.
  [[nodiscard]] bool may_go_on(Channel& channel, std::uint64_t ahead, bool in_time) noexcept;
  void keep_own_house() noexcept override;
  void expect_transport() noexcept;

  static constexpr std::uint8_t kStream = 4;
  std::uint8_t full_polls_ = 0;  // that took as much as they could, up to kStream: a stream
  std::uint64_t full_at_ = 0;    // the number of the last one
  std::uint64_t since_ = 0;      // ticks_now() at the first one
  Pace pace_;
  void (*housekeeping_)(void*) noexcept = nullptr;
  void* housekeeping_with_ = nullptr;
};

inline Group& ChannelEnd::group() const noexcept { return static_cast<Group&>(*set_); }

}  // namespace viaduct::via::channel
