#pragma once
/// @file
/// The beginning and the end of a channel, and the handling of nonsense that its peer writes. The
/// calls that send and receive are in channel.hpp.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/shm/connection.hpp"
#include "viaduct/via/slot.hpp"

namespace viaduct::via::channel {

class Group;
class Nic;
class RemoteEnd;

/// The options that a channel is made with.
struct Options {
  std::uint32_t slots = 0;          ///< of each ring: a power of two, 4 to 65536
  std::uint32_t release_every = 1;  ///< slots are returned to the sender in batches of this many
  std::size_t extra_bytes = 0;      ///< of the client's, behind the ring; the peer may read them
  bool remote = false;              ///< the peer shares no memory with this rank
  unsigned client_bits = 48;  ///< of the header's client word; the others are zero in every message
  /// Remote: messages and signs of one peer that have not been polled are never more than this.
  std::uint32_t notifications = 0;
};

/// How much may be under way on a channel.
struct Flow {
  std::uint32_t slots = 0;    ///< of each ring
  std::uint32_t credits = 0;  ///< requests that may be outstanding (k)

  /// @return the most credits for rings of @p slots slots: a ring holds 2k messages, and the eighth
  /// that the receiver has taken and not released yet.
  [[nodiscard]] static constexpr std::uint32_t most_credits(std::uint32_t slots) noexcept {
    return (slots - slots / 8) / 2;
  }
  /// @return the same in a job with a transport (on several hosts, or with MAPs of AMVIA): half of
  /// the slots, 8 at least. There a message under way also takes a receive and a place in a
  /// completion queue (docs/verbs.md, section "Memory for a peer").
  [[nodiscard]] constexpr Flow between_hosts() const noexcept {
    const std::uint32_t half = slots / 2 < 8 ? slots : slots / 2;
    const std::uint32_t most = most_credits(half);
    return {half, credits < most ? credits : most};
  }
};

/// The part of a channel besides the calls that send and receive.
class ChannelEnd : public shm::Connection {
 public:
  /// @return the context that Nic::create_channel() was given for the client.
  [[nodiscard]] void* context() const noexcept { return context_; }
  /// @return the client's extra bytes of the ring that this channel sends on, zeroed; before
  /// connecting. They live until the peer has stopped reading them.  Throws Error.
  [[nodiscard]] std::byte* prepare_extra();
  /// @return the peer's extra bytes, which live until the connection ends.  Precondition:
  /// connected.
  [[nodiscard]] std::byte* peer_extra() const noexcept { return peer_extra_; }
  /// Ends the connection on both sides (ErrorCause::format), since the peer has written bytes that
  /// no correct peer writes. The log names them, and nothing more of the peer's ring is read.
  /// @p what: the nonsense, as in "a message with a malformed length". Does nothing where the
  /// channel has broken off already.  Never blocks.  Call from: also while messages are handed
  /// over.
  [[gnu::cold, gnu::noinline]] void break_off(const char* what) noexcept;
  /// Never blocks between ranks that share memory: the ring is released when the peer has read it.
  /// To another host: blocks until all that was sent has arrived, 5 s at most.
  void disconnect() noexcept override;
  /// For a forked child, which has a copy of the channel, but no rights: nothing can be claimed
  /// then.
  void close_in_child() noexcept {
    state_ = ViState::idle;
    tx_limit_ = tx_seq_;
  }

  /// @return whether a transport takes the messages to another host.
  [[nodiscard]] bool is_remote() const noexcept { return options_.remote; }
  /// @return the slot @p slots behind the next one when it has come, else null.
  [[nodiscard]] const Slot* arrived_ahead(std::uint32_t slots) const noexcept {
    const std::uint64_t seq = rx_seq_ + slots;
    const Slot& slot = rx_slots_[seq & rx_mask_];
    const std::uint64_t h = slot.header.load(kAcquire);
    return (h & header::phase_bit) == phase(seq, rx_mask_) ? &slot : nullptr;
  }
  /// Returns every consumed slot to the sender. Call it before blocking, or the sender might wait
  /// for the slots for ever.  Cost: one store into the line that the sender reads; a system call
  /// where the sender sleeps.
  void release_slots() noexcept {
    VIADUCT_PART(bookkeeping);
    rx_released_ = rx_seq_;
    rx_->receiver.posted.store(rx_seq_ + rx_mask_ + 1, kRelease);
    wake_if_asleep();
  }
  /// Wakes the peer where it sleeps.  Cost: one load; a system call where the peer sleeps.
  void wake_if_asleep() noexcept {
    if (peer_sleeping_->load(kRelaxed) != 0) [[unlikely]]
      wake_peer();
  }

 protected:
  friend class Group;
  friend class Nic;
  friend class RemoteEnd;

  /// Throws Error: the group has no room.
  ChannelEnd(Nic& nic, Group& group, void* context, const Options& options);
  ~ChannelEnd();

  [[nodiscard]] Nic& nic() const noexcept;
  [[nodiscard]] Group& group() const noexcept;
  [[nodiscard]] bool may_be_old(std::uint64_t h) const noexcept;
  void leave_ring() noexcept;
  [[gnu::noinline]] void wake_peer() noexcept;

  // Described in connection.hpp.
  [[nodiscard]] std::uint32_t shape() const noexcept override;
  void prepare_ring() override;
  [[nodiscard]] std::vector<std::byte> offer() const override;
  bool take_up(const std::vector<std::byte>& offer) override;
  void on_attached() noexcept override;
  [[nodiscard]] Status check_way(Rank peer) override;
  [[nodiscard]] std::uint64_t half() const noexcept override;
  void peer_closed(ErrorCause cause) noexcept override;
  void ended_by_peer(ErrorCause cause) noexcept override;
  void end_link() noexcept override;
  void release_taken() noexcept override;
  void look_for_nonsense() noexcept override;
  void refuse_room() noexcept override;

  // Hot, receiver.
  std::uint64_t rx_released_ = 0;
  void* context_;
  const AtomicWord<std::uint32_t>* peer_sleeping_ = nullptr;
  Options options_;
  // Cool.
  std::byte* peer_extra_ = nullptr;
  Owned<RemoteEnd> remote_;  // null: the peer shares memory with this rank, or there is no ring
};

}  // namespace viaduct::via::channel
