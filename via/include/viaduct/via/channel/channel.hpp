#pragma once
/// @file
/// Channels, by which Active Messages and Split-C send. A channel is a ring of slots each way, two
/// counters each way, and bytes of the client's. Its messages are handed to the client in their
/// slots: there are no descriptors. Where the peer shares no memory with this rank, a transport
/// takes slots, counters and bytes to the peer's copy (docs/channel.md, section "A channel's
/// bytes").
///
/// Thread: a channel belongs to the thread of its group.

#include <cstddef>
#include <cstdint>
#include <span>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/via/channel/channel_end.hpp"
#include "viaduct/via/slot.hpp"

namespace viaduct::via {
class Link;
}

namespace viaduct::via::channel {

/// The calls of the message path.
class Channel final : public ChannelEnd {
 public:
  /// Throws Error: the group has no room.  Use Nic::create_channel(), which checks @p options.
  Channel(Nic& nic, Group& group, void* context, const Options& options)
      : ChannelEnd(nic, group, context, options) {}

  // Sending.

  /// The next free slot, or null when there is no room now or the channel is not connected. Nothing
  /// is taken until publish.  Cost: one comparison; without room as far as is known, a load of the
  /// line that the peer writes.
  [[nodiscard, gnu::always_inline]] Slot* claim() noexcept {
    if (tx_seq_ == tx_limit_) [[unlikely]]
      if (!refresh_room(1)) return nullptr;
    return &claimed();
  }
  /// @return how many slots are known to be free, without a look at the peer's line.  Cost: one
  /// subtraction.
  [[nodiscard]] std::uint64_t known_room() const noexcept { return tx_limit_ - tx_seq_; }
  /// @return the first of those slots. A function that sends by it, with publish() at its end,
  /// needs no stack.  Precondition: known_room() is not 0.  Cost: one addition.
  [[nodiscard]] Slot& known_slot() noexcept { return claimed(); }
  /// Makes the claimed slot's words visible to the peer: one release store, and a look at whether
  /// the peer wants a doorbell. Order: x86 stores become visible in program order, so the header is
  /// seen after the words.
  [[gnu::always_inline]] void publish(Slot& slot, std::uint64_t header) noexcept {
    VIADUCT_PART(publish);
    if (publish_quietly(slot, header)) [[unlikely]]
      ring_doorbell();
  }
  /// publish() without the doorbell, for a function that takes no call itself.  @return whether the
  /// peer wants its doorbell rung: ring_doorbell() or ring_if_wanted() is to follow.  Cost: as
  /// publish().
  [[nodiscard, gnu::always_inline]] bool publish_quietly(Slot& slot,
                                                         std::uint64_t header) noexcept {
    return store_slot(slot, header);
  }
  /// Rings the peer's doorbell.  Never blocks.  Cost: two locked instructions, and a system call
  /// where the peer sleeps. Remote: one request to the device, with all that is published.
  [[gnu::noinline]] void ring_doorbell() noexcept;
  /// Rings the peer's doorbell where the peer wants it.  Never blocks.  Cost: a load; where the
  /// peer wants it, that of ring_doorbell().
  void ring_if_wanted() noexcept {
    if (tx_->notify.wanted.load(kRelaxed) != 0) ring_doorbell();
  }
  /// A message of @p words, and of @p data behind them, in 1 to 3 slots: 168 bytes at most. Bytes
  /// of the last slot behind the message are not written. @p awaited: the peer waits for the
  /// message, and the second and third line are handed over by demote_line().  Order: the first
  /// slot's header is written last.
  ///
  /// @return false when there is no room, or the channel is not connected.
  [[nodiscard]] bool try_send_lines(std::uint64_t header, std::span<const std::uint64_t> words,
                                    std::span<const std::byte> data, bool awaited = false) noexcept;
  /// For a client that calls it once before each message: whether a message has been taken since
  /// the last call, and also between that one and the call before. Then the two ends probably send
  /// one message each in turn.  Cost: two comparisons and two stores.
  using Connection::takes_turns;
  /// Reads from the peer's line how far the peer has freed the ring.  @return whether there is room
  /// for @p slots more slots; false also when the channel is not connected. Cost: a cache miss
  /// where the peer has written since.
  [[nodiscard]] bool refresh_room(std::uint32_t slots) noexcept;
  /// Takes in how far the peer has freed our ring (remote: as peer_counter() and refresh_room()
  /// have left it).  Cost: one load.
  void update_room() noexcept {
    if (state_ == ViState::connected) take_room(tx_->receiver.posted.load(kAcquire));
  }
  /// Begins to fetch the lines of the next @p slots slots, to write them: for a client that is
  /// about to answer. The peer looks at the first of them, and so takes it back before long.  Never
  /// blocks.  Cost: one prefetch for each.
  void fetch_room(std::uint32_t slots) const noexcept {
    for (std::uint32_t i = 0; i < slots; ++i)
      prefetch_to_write(&tx_slots_[(tx_seq_ + i) & tx_mask_]);
  }
  /// @return the slots that have been written into the ring, in all.
  [[nodiscard]] std::uint64_t slots_sent() const noexcept { return tx_seq_; }
  /// @return the slots that the peer has taken and returned, as far as its counters say.
  [[nodiscard]] std::uint64_t slots_returned() noexcept {
    (void)refresh_room(0);
    return tx_limit_ - tx_slot_count_;
  }
  /// @return the slot that was written as number @p seq.  Precondition: it is one of the last
  /// slots, as many as the ring has.
  [[nodiscard]] const Slot& sent_slot(std::uint64_t seq) const noexcept {
    return tx_slots_[seq & tx_mask_];
  }

  // Receiving.

  /// Hands up to @p budget arrived messages to f(channel, slot, header), oldest first. The slot is
  /// taken off the ring before f runs, so f may poll again; its words must be read before that.
  ///
  /// Blocks      never.
  /// Cost        nothing there: one load. A message: one slot read, the slot 16 ahead prefetched,
  ///             with the first message the next slot, too;
  ///             every release_every slots one line written, which the sender reads.
  ///
  /// @return the number of messages.
  template <class OnMessage>
  std::uint32_t drain(std::uint32_t budget, OnMessage& f) noexcept {
    std::uint32_t n = 0;
    while (n < budget) {
      const std::uint64_t seq = rx_seq_;
      const std::uint64_t mask = rx_mask_;
      Slot& slot = rx_slots_[seq & mask];
      const std::uint64_t h = slot.header.load(kAcquire);
      if (!is_full(h, seq, mask)) break;
      // The second line of a message of several. Behind the last slot there is other memory.
      if (n == 0) prefetch_line(&slot + 1);
      prefetch_behind(seq, mask);
      rx_seq_ = seq + 1 + header::extra_lines(h);
      f(*this, slot, h);
      ++n;
      if (rx_seq_ - rx_released_ >= options_.release_every) release_slots();
    }
    return n;
  }
  /// @return the slot behind @p slot in the ring that this channel receives from: continuations of
  /// a message.
  [[nodiscard]] const Slot& slot_after(const Slot& slot) const noexcept {
    return rx_slots_[(static_cast<std::uint64_t>(&slot - rx_slots_) + 1) & rx_mask_];
  }
  /// @return the channels that are polled with this one.  Cost: one load.
  [[nodiscard]] const shm::PollSet& poll_set() const noexcept { return *set_; }

  // Counters.

  /// Publishes a counter of the client's (@p which: 0 or 1), which the peer may read at any time
  /// and which takes no slot. A peer that sleeps is woken: it may be waiting for this.  Order: a
  /// peer that sees the value sees all that was done before; there is no order with messages.
  void publish_counter(unsigned which, std::uint64_t value) noexcept {
    rx_->receiver.client_counter[which].store(value, kRelease);
    wake_if_asleep();
  }
  /// release_slots() and publish_counter() at once.  Cost: the sender loses its copy of the line
  /// only once.
  void release_and_publish(unsigned which, std::uint64_t value) noexcept {
    rx_->receiver.client_counter[which].store(value, kRelease);
    release_slots();
  }
  /// @return the value that the peer has last published as counter @p which.  Cost: a cache miss
  /// where the peer has written its line since.
  [[nodiscard]] std::uint64_t peer_counter(unsigned which) const noexcept {
    if (options_.remote) [[unlikely]]
      take_counters();
    return tx_->receiver.client_counter[which].load(kAcquire);
  }
  /// Begins to fetch the line of the peer's counters.  Never blocks.  Cost: one prefetch.
  void fetch_counters() const noexcept { __builtin_prefetch(&tx_->receiver); }

  // Remote channels: memory that the peer has a copy of. All of them do nothing on others.

  /// Takes bytes of the own extra to the peer's copy.  Order: they are there before the next
  /// message.
  void forward_extra(const std::byte* from, std::size_t bytes) noexcept {
    if (options_.remote) [[unlikely]]
      add_piece(from, bytes);
  }
  /// Takes bytes of the copy of the peer's extra back to the peer.  Order: they are there before
  /// the next message.
  void return_extra(const std::byte* from, std::size_t bytes) noexcept {
    if (options_.remote) [[unlikely]]
      send_back(from, bytes);
  }
  /// Sends the bytes of forward_extra().  Blocks until they are there, 5 s at most, and makes
  /// progress meanwhile.  @return false: the connection has ended first.
  bool flush_extra() noexcept;
  /// @return whether link() has a link that is ready, or a null pointer that says that there is
  /// none.
  [[nodiscard]] bool takes_copies() const noexcept;
  /// The link for transfers between registered memory.  Null: there is no link, or it is not
  /// connected, or has failed.
  [[nodiscard]] Link* link() const noexcept;

 private:
  friend class Group;

  void take_counters() const noexcept;
  void add_piece(const std::byte* from, std::size_t bytes) noexcept;
  void send_back(const std::byte* from, std::size_t bytes) noexcept;
};

}  // namespace viaduct::via::channel
