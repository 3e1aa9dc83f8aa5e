#pragma once
/// @file
/// Data path of provider shm's VIs: from post_send to the store that makes a message visible, and
/// from that store to the receiver's completion. Set-up and the end are in vi.cpp, larger transfers
/// and errors in transfer.cpp.

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/shm/connection.hpp"
#include "viaduct/via/shm/region_cache.hpp"
#include "viaduct/via/shm/slot_copy.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via {
struct RemotePlace;
}

namespace viaduct::via::shm {

class CompletionQueue;
class Nic;

class Vi final : public via::Vi, public Connection {
 public:
  /// Throws Error: the completion queues have no room, or the NIC has no further VI.  Use
  /// Nic::create_vi(), which checks @p attributes.
  Vi(Nic& nic, const ViAttributes& attributes);
  ~Vi() override;

  /// @return the count of descriptors that are posted to @p queue and that no call has taken off it
  /// yet. It lives as long as the VI.
  [[nodiscard]] const std::uint32_t& outstanding(Queue queue) const noexcept {
    return queue == Queue::send ? tx_outstanding_ : rx_outstanding_;
  }

  /// The result of a short post.
  enum class Short : std::uint8_t {
    not_taken,  ///< nothing is done: call post_send()
    taken,      ///< all is done
    wake_peer,  ///< all but a wake: call finish_short(), since the peer does not poll the ring
    look_back,  ///< call finish_short(), which reads how far the peer has come
  };

  /// The part of post_send() that takes no function call, inlined into the caller. Never blocks.
  /// Cost: as post_send().
  [[nodiscard, gnu::always_inline]] Short try_post_send(Descriptor& d) noexcept {
    const ControlSegment& c = d.control;
    if (!tx_ready_ || c.control != 0 || c.segment_count != 1 || c.length > kInlineBytes ||
        c.length != d.segment[0].local.length || tx_seq_ == tx_limit_ ||
        tx_outstanding_ >= attributes_.send_depth || !send_region_.covers(d.segment[0].local))
        [[unlikely]]
      return Short::not_taken;
    Slot& slot = claimed();
    copy_small(slot, d.segment[0].local.address, c.length);
    const bool wake = store_slot(slot, header::make(MessageKind::inline_data, c.length, 0));
    ++tx_outstanding_;
    push_send(d, descriptor_status::done);
    if (wake) [[unlikely]]
      return Short::wake_peer;
    // While the message is on its way, and not only when there is no more room.
    return (tx_seq_ & tx_mask_ / 2) == 0 ? Short::look_back : Short::taken;
  }
  /// The rest of a short post; Status::ok.  Never blocks.  Cost: a system call where the peer
  /// sleeps.
  [[gnu::noinline]] Status finish_short(Short what) noexcept;

  /// Never blocks.  Cost: up to 56 bytes: one line written at the peer, one load of a slot that the
  /// peer rarely writes; the send is complete at once. More: see transfer.cpp.
  Status post_send(Descriptor& d) noexcept override {
    const Short done = try_post_send(d);
    if (done == Short::taken) [[likely]]
      return Status::ok;
    return done == Short::not_taken ? post_send_slow(d) : finish_short(done);
  }

  /// The part of post_receive() that takes no function call; false: nothing is done.  Never blocks.
  /// Cost: as post_receive().
  [[nodiscard, gnu::always_inline]] bool try_post_receive(Descriptor& d) noexcept {
    if (state_ == ViState::error || rx_outstanding_ >= attributes_.receive_depth ||
        d.control.segment_count != 1 || rx_ == nullptr ||
        !receive_region_.covers(d.segment[0].local)) [[unlikely]]
      return false;
    accept_receive(d);
    return true;
  }
  /// Never blocks.  Cost: 24 bytes written into the channel that the peer sends on, in two lines.
  Status post_receive(Descriptor& d) noexcept override {
    return try_post_receive(d) ? Status::ok : post_receive_slow(d);
  }

  /// Blocks until the listener has answered.  Cost: memory for one channel in the window; two
  /// control messages. Ranks of other hosts are unreachable. Throws Error.
  ConnectResult connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) override;
  /// ok, bad_state, bad_argument or peer_lost.  Never blocks.  Cost: memory for one channel in the
  /// window; one control message each way. Throws Error.
  Status connect_peer_start(Rank peer, std::uint64_t discriminator) override {
    return Connection::connect_peer_start(peer, discriminator);
  }
  /// ok, retry, peer_lost, bad_argument or bad_state.  Progress: Nic::progress().
  Status connect_peer_done() noexcept override;
  /// Blocks until connect_peer_done() would answer something other than retry, or the time is over.
  ConnectResult connect_peer_wait(std::int64_t timeout_ns) override;
  /// Never blocks: the ring is released when the peer has read it.
  void disconnect() noexcept override;
  /// @return the state.  Cost: one load.
  [[nodiscard]] ViState state() const noexcept override { return state_; }
  /// @return the rank that the VI was last connected to, or has asked.
  [[nodiscard]] Rank peer() const noexcept override { return peer_; }
  /// @return the attributes that the VI was made with.
  [[nodiscard]] const ViAttributes& attributes() const noexcept override { return attributes_; }

 private:
  friend class CompletionQueue;
  friend class Nic;

  Vi(Nic& nic, const ViAttributes& attributes, Owned<CompletionQueue> own_send,
     Owned<CompletionQueue> own_receive);

  [[nodiscard]] bool fast_path_allowed() const noexcept {
    return attributes_.reliability != Reliability::reception;
  }
  [[gnu::always_inline]] void publish(Slot& slot, std::uint64_t header) noexcept {
    if (store_slot(slot, header)) [[unlikely]]
      ring_peer();
  }
  inline void push_send(Descriptor& d, std::uint32_t status) noexcept;  // completion_queue.hpp
  void accept_receive(Descriptor& d) noexcept {
    d.control.status = 0;
    const std::uint64_t number = rx_posted_++;
    ++rx_outstanding_;
    rx_ring_[number & rx_ring_mask_] = &d;
    // Receives beyond the ring count as well: the sender waits for their turn.
    rx_->receiver.client_counter[0].store(rx_posted_, kRelaxed);
    if (number - rx_seq_ <= rx_mask_) [[likely]] {
      posted_info(*rx_, rx_slot_count_)[number & rx_mask_] =
          place_of(d.segment[0].local, receive_region_);
      rx_->receiver.posted.store(rx_posted_, kRelease);
    }
  }
  /// Takes an arrived message into its receive when that is all there is to do; otherwise null,
  /// nothing done.
  [[nodiscard]] Descriptor* take_plain(Slot& slot, std::uint64_t h) noexcept {
    Descriptor* d = rx_ring_[rx_seq_ & rx_ring_mask_];
    const std::uint32_t length = header::length(h);
    if ((h & kPlainMask) != kPlain || d->control.segment_count != 1 ||
        d->segment[0].local.length < length || rx_posted_ - rx_seq_ > rx_plain_) [[unlikely]]
      return nullptr;
    copy_out_small(d->segment[0].local.address, slot, length);
    prefetch_behind(rx_seq_, rx_mask_);
    d->control.length = length;
    d->control.status = kReceived;
    ++rx_seq_;
    --rx_outstanding_;
    return d;
  }
  /// The oldest arrived message into its receive, or null.
  Descriptor* take_receive() noexcept {
    Slot& slot = next_slot();
    const std::uint64_t h = slot.header.load(kAcquire);
    if (!is_full(h)) return nullptr;
    if (Descriptor* d = take_plain(slot, h)) return d;
    return take_receive_slow(slot, h);
  }
  static constexpr std::uint64_t kPlainMask =
      header::kind_mask | header::immediate_bit | header::rdma_bit;
  static constexpr std::uint64_t kPlain = header::make(MessageKind::inline_data, 0, 0);
  static constexpr std::uint32_t kReceived =
      descriptor_status::done | (static_cast<std::uint32_t>(CompletedOperation::receive)
                                 << descriptor_status::operation_shift);
  [[nodiscard]] static PostedInfo place_of(const LocalSegment& s,
                                           const RegionCache& region) noexcept {
    if (region.window != nullptr)
      return {static_cast<std::uint64_t>(s.address - region.window), s.length,
              PostedInfo::Kind::window};
    return {reinterpret_cast<std::uint64_t>(s.address), s.length, PostedInfo::Kind::owner_private};
  }

  [[nodiscard]] bool is_sensible(const Slot& slot, std::uint64_t h, std::uint64_t n) const noexcept;
  [[gnu::cold, gnu::noinline]] Status post_send_slow(Descriptor& d) noexcept;
  [[gnu::cold, gnu::noinline]] Status post_receive_slow(Descriptor& d) noexcept;
  [[gnu::noinline]] Descriptor* take_receive_slow(Slot& slot, std::uint64_t h) noexcept;

  // transfer.cpp: carrying out descriptors that the fast path does not take
  enum class Outcome : std::uint8_t { done, failed, later };  // later: stays first in pending_
  Outcome execute(Descriptor& d) noexcept;
  Outcome execute_send(Descriptor& d) noexcept;
  Outcome execute_rdma(Descriptor& d) noexcept;
  Outcome execute_atomic(Descriptor& d) noexcept;
  Outcome claim_receive(Descriptor& d, Slot*& slot) noexcept;
  Outcome deliver_large(Descriptor& d, Slot& slot, std::uint64_t header) noexcept;
  [[nodiscard]] bool deliver_list(const Descriptor& d, std::uint64_t count) noexcept;
  [[nodiscard]] bool copy_to_receive(const Descriptor& d, const PostedInfo& info) noexcept;
  [[nodiscard]] bool copy_rdma(const Descriptor& d, const RemotePlace& place, bool write) noexcept;
  [[nodiscard]] bool is_closed() const noexcept;
  Outcome stage(Descriptor& d, Slot& slot, std::uint64_t header) noexcept;
  Outcome refuse(Descriptor& d, std::uint32_t status, ErrorCause cause) noexcept;
  Outcome refuse(Descriptor& d, std::uint32_t status, ErrorCause cause,
                 ErrorCause for_peer) noexcept;
  Outcome refuse_rdma(Descriptor& d, std::uint32_t status) noexcept;
  Outcome finish(Descriptor& d, CompletedOperation operation) noexcept;
  [[nodiscard]] bool local_ok(const LocalSegment& s, RegionCache& cache) noexcept;
  [[nodiscard]] bool locals_ok(const Descriptor& d, std::uint32_t first) noexcept;
  [[nodiscard]] bool locals_writable(const Descriptor& d, std::uint32_t first) noexcept;
  void run_pending() noexcept;
  static void gather(const Descriptor& d, std::uint32_t first, std::byte* to) noexcept;
  static void scatter(const Descriptor& d, std::uint32_t first, const std::byte* from,
                      std::uint32_t n) noexcept;
  void publish_receive(std::uint64_t number) noexcept;
  [[nodiscard]] bool publish_list(const Descriptor& d, std::uint64_t number) noexcept;
  [[nodiscard]] std::uint32_t check_receive(const Descriptor& d) noexcept;
  [[nodiscard]] std::uint32_t refusal_of(std::uint64_t number) const noexcept;
  void forget_refusals() noexcept;

  // vi.cpp: described in connection.hpp
  [[nodiscard]] std::uint32_t shape() const noexcept override;
  void prepare_ring() override;
  bool take_up(const std::vector<std::byte>& offer) override;
  void on_attached() noexcept override;
  [[nodiscard]] Status check_way(Rank peer) override;
  void peer_closed(ErrorCause cause) noexcept override;
  void refuse_room() noexcept override;
  void forget_peer() noexcept;
  void fail(ErrorCause cause, ErrorCause for_peer, bool of_receive) noexcept;
  void fail(ErrorCause cause, bool of_receive = false) noexcept { fail(cause, cause, of_receive); }
  void flush(bool after_bad_receive = false) noexcept;
  void leave_queues() noexcept;
  Status done(Queue queue, Descriptor*& out) noexcept override;
  Status wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept override;

  // Hot, sender.
  bool tx_ready_ = false;  // connected, nothing pending: the fast path may be taken
  std::uint32_t tx_outstanding_ = 0;
  CompletionQueue* send_cq_ = nullptr;
  RegionCache send_region_;
  // Hot, receiver.
  std::uint64_t rx_posted_ = 0;  // receives posted in all since the connection
  std::uint32_t rx_outstanding_ = 0;
  std::uint32_t rx_ring_mask_ = 0;
  std::uint64_t rx_plain_ = 0;  // receives that slots can show; 0 while a refused receive is posted
  Owned<Descriptor*[]> rx_ring_;  // posted receives, by number
  CompletionQueue* receive_cq_ = nullptr;
  RegionCache receive_region_;
  // Cool.
  ViAttributes attributes_;
  std::size_t place_ = 0;  // in the NIC's list
  struct Refusal {
    std::uint64_t number;  // of the receive
    std::uint32_t status;
  };
  std::deque<Refusal> refusals_;  // receives that no message may go into fail in their turn
  struct Pending {
    Descriptor* descriptor;
    std::uint64_t staged;  // block that must be taken first (reception level); 0: not carried out
  };
  std::deque<Pending> pending_;
  Owned<CompletionQueue> own_send_cq_;
  Owned<CompletionQueue> own_receive_cq_;
};

}  // namespace viaduct::via::shm

#include "viaduct/via/shm/completion_queue.hpp"  // push_send()
