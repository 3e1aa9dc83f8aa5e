#pragma once
/// @file
/// The common part of a VI of provider shm and a channel (via/channel): a ring of slots each way,
/// connecting and parting. connection.cpp.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/status.hpp"
#include "viaduct/via/connectable.hpp"
#include "viaduct/via/shm/layout.hpp"
#include "viaduct/via/slot.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via::shm {

class Nic;
class PollSet;

/// The functions that a VI and a channel implement differently.
class ConnectionForm : public Connectable {
 protected:
  ConnectionForm() = default;
  ~ConnectionForm() = default;

  /// The properties that both ends must have alike.
  [[nodiscard]] virtual std::uint32_t shape() const noexcept = 0;
  /// Makes the ring that this end sends on, unless it is there.  Throws Error (memory).
  virtual void prepare_ring() = 0;
  /// The data about this end in a control message.
  [[nodiscard]] virtual std::vector<std::byte> offer() const = 0;
  /// Takes up the peer's offer.  @return false: it cannot, and has answered the attempt.
  virtual bool take_up(const std::vector<std::byte>& offer) = 0;
  /// The end is connected now.
  virtual void on_attached() noexcept {}
  /// ok; bad_argument or peer_lost: this form of an end cannot reach @p peer.
  [[nodiscard]] virtual Status check_way(Rank peer) = 0;
  /// The memory that the Connector releases when no end reads it any more; 0: none.
  [[nodiscard]] virtual std::uint64_t half() const noexcept = 0;
  /// The peer will send nothing more; all that it has sent can be seen.
  virtual void peer_closed(ErrorCause cause) noexcept = 0;
  /// The peer's control message has ended the connection.
  virtual void ended_by_peer(ErrorCause cause) noexcept { peer_closed(cause); }
  virtual void disconnect() noexcept = 0;
  /// Nothing goes by a transport from here on.
  virtual void end_link() noexcept {}
  /// Returns the slots that have been taken to the sender, before a sleep.
  virtual void release_taken() noexcept {}
  /// Looks for bytes that no correct peer writes, where no message shows them.
  virtual void look_for_nonsense() noexcept {}
  /// The peer's count of free slots is impossible: ends the connection.
  virtual void refuse_room() noexcept = 0;
};

class Connection : public ConnectionForm {
 public:
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// @return the state.  Cost: one load.
  [[nodiscard]] ViState state() const noexcept { return state_; }
  /// @return the rank that this end was last connected to, or has asked.
  [[nodiscard]] Rank peer() const noexcept { return peer_; }
  /// @return the reason that the peer gave to reject_peer().
  [[nodiscard]] std::uint64_t rejection_reason() const noexcept { return outcome_.reason; }
  /// @return whether the last attempt to connect has ended because no path leads to the peer (and
  /// not because its NIC is closed).
  [[nodiscard]] bool is_unreachable() const noexcept {
    return outcome_.answer == ConnectResult::unreachable &&
           outcome_.cause == ErrorCause::connection_lost;
  }
  /// As via::Vi::connect_peer_start().
  Status connect_peer_start(Rank peer, std::uint64_t discriminator);
  /// Connects the end to itself: it receives what it sends.  Never blocks.  Throws Error.
  void connect_loopback();
  /// @return whether a message waits to be taken.  Cost: one load.
  [[nodiscard]] bool has_arrivals() const noexcept {
    return rx_slots_ != nullptr && is_full(next_slot().header.load(kAcquire));
  }

 protected:
  friend class Nic;
  friend class PollSet;

  static constexpr std::uint32_t kPrefetchAhead = 16;

  /// The heir's constructor calls join_set(), and its destructor leave_set().
  Connection(Nic& nic, PollSet& set) noexcept : nic_(nic), set_(&set) {}
  ~Connection() = default;

  // Sending.

  [[nodiscard]] static std::uint64_t phase(std::uint64_t seq, std::uint64_t mask) noexcept {
    return (seq & (mask + 1)) == 0 ? header::phase_bit : 0;
  }
  [[nodiscard]] Slot& claimed() const noexcept { return tx_slots_[tx_seq_ & tx_mask_]; }
  /// Makes the claimed slot visible to the peer.  @return whether the doorbell is to be rung.
  [[nodiscard, gnu::always_inline]] bool store_slot(Slot& slot, std::uint64_t header) noexcept {
    slot.header.store(header | phase(tx_seq_, tx_mask_), kRelease);
    ++tx_seq_;
    return tx_->notify.wanted.load(kRelaxed) != 0;
  }
  /// Takes in how far the peer says that it has freed our ring. A value below the last one, or
  /// beyond the ring, ends the connection.
  void take_room(std::uint64_t posted) noexcept {
    if (posted - tx_limit_ > tx_seq_ + tx_slot_count_ - tx_limit_) [[unlikely]]
      return refuse_room();
    tx_limit_ = posted;
  }
  [[gnu::cold, gnu::noinline]] void ring_peer() noexcept;

  // Receiving.

  /// Whether the slot whose header is @p h holds a message not yet taken.
  [[nodiscard]] bool is_full(std::uint64_t h) const noexcept {
    return is_full(h, rx_seq_, rx_mask_);
  }
  /// The same where slot number @p seq has been looked at: what a function has read before the
  /// header's acquire load, the compiler reads again behind it.
  [[nodiscard]] static bool is_full(std::uint64_t h, std::uint64_t seq,
                                    std::uint64_t mask) noexcept {
    return (h & header::phase_bit) == phase(seq, mask);
  }
  [[nodiscard]] Slot& next_slot() const noexcept { return rx_slots_[rx_seq_ & rx_mask_]; }
  /// Described in channel.hpp.
  [[nodiscard]] bool takes_turns() noexcept {
    const bool turn = rx_seq_ != turn_;
    const bool second = turn && had_turn_;
    turn_ = rx_seq_;
    had_turn_ = turn;
    return second;
  }
  void prefetch_behind(std::uint64_t seq, std::uint64_t mask) const noexcept {
    __builtin_prefetch(&rx_slots_[(seq + kPrefetchAhead) & mask]);
  }

  // Connecting and parting.

  /// Throws Error: the set has no room.
  void join_set();
  void leave_set() noexcept;
  [[nodiscard]] std::vector<std::byte> offer() const override { return data_of(make_offer()); }
  [[nodiscard]] std::uint64_t half() const noexcept override { return tx_offset_; }
  /// A ring of @p slots slots in @p bytes bytes of the own window.
  void allocate_ring(std::uint32_t slots, std::size_t bytes);
  void map_ring(const ChannelOffer& offer);
  [[nodiscard]] ChannelOffer make_offer() const noexcept;
  [[nodiscard]] EndWish make_wish(Rank peer, std::uint64_t discriminator);
  bool ask(ControlMessage::Kind form, Rank peer, std::uint64_t discriminator);
  void attach(const std::vector<std::byte>& data);
  void answer(ConnectResult result, std::uint64_t reason, ErrorCause cause) noexcept;
  void drop_ring(ErrorCause cause) noexcept;

  // Hot, sender.
  std::uint64_t tx_seq_ = 0;
  std::uint64_t tx_limit_ = 0;  // `posted` as last read; equal to tx_seq_ when not connected
  std::uint64_t tx_mask_ = 0;
  Slot* tx_slots_ = nullptr;
  ChannelHead* tx_ = nullptr;
  ViState state_ = ViState::idle;
  bool had_turn_ = false;   // at the last call of takes_turns() a message had been taken
  std::uint64_t turn_ = 0;  // rx_seq_ then
  // Hot, receiver.
  alignas(kCacheLineBytes) std::uint64_t rx_seq_ = 0;
  std::uint64_t rx_mask_ = 0;
  Slot* rx_slots_ = nullptr;
  ChannelHead* rx_ = nullptr;
  struct InSet {
    std::uint64_t last_active = 0;  // the set's tick when a message last came
    std::int32_t hot_at = -1;       // place in the set's list, or -1
    std::uint32_t bit = 0;          // of the set's doorbell
    bool listed = false;            // in the set's list of those to be drained
  } in_set_;
  // Cool.
  Nic& nic_;
  PollSet* set_;
  std::uint32_t tag_ = 0;  // the VI's, for the peer's RDMA; channels have none
  Rank peer_{};
  EndName end_;  // in the NIC's Connector; none: idle, or connected to itself
  struct Theirs {
    std::byte* window = nullptr;
    CqDoorbell* doorbell = nullptr;
    std::uint32_t doorbell_bit = 0;
    std::uint32_t tag = 0;
  } theirs_;
  std::uint32_t tx_slot_count_ = 0;
  std::uint32_t rx_slot_count_ = 0;
  std::uint64_t tx_offset_ = 0;  // of our ring, in our window; 0: none
  struct Outcome {
    ConnectResult answer = ConnectResult::rejected;
    ErrorCause cause = ErrorCause::none;
    std::uint64_t reason = 0;  // of a rejection
  } outcome_;
};

}  // namespace viaduct::via::shm
