#pragma once
/// @file
/// Data path of provider shm's VIs: from post_send to the store that makes a message visible, and
/// from that store to the receiver's completion. Set-up and the end are in vi.cpp, receives in
/// receive_queue.hpp, sends that wait in send.cpp, larger transfers in transfer.cpp.

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/shm/connection.hpp"
#include "viaduct/via/shm/receive_queue.hpp"
#include "viaduct/via/shm/region_cache.hpp"
#include "viaduct/via/shm/slot_copy.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::shm {

class CompletionQueue;
class Nic;

class Vi final : public via::Vi, public Connection {
 public:
  /// The completion queues that a VI has itself, where its user has given it none.
  struct OwnQueues {
    /// Throws Error: the window has no room.
    OwnQueues(Nic& nic, const ViAttributes& attributes);

    Owned<CompletionQueue> send;     ///< null: the user's
    Owned<CompletionQueue> receive;  ///< null: the user's
  };

  /// Throws Error: the completion queues have no room, or the NIC has no further VI.  Use
  /// Nic::create_vi(), which checks @p attributes.
  Vi(Nic& nic, const ViAttributes& attributes, OwnQueues own);
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
    if (!sends_.is_ready() || c.control != 0 || c.segment_count != 1 || c.length > kInlineBytes ||
        c.length != d.segment[0].local.length || tx_seq_ == tx_limit_ ||
        tx_outstanding_ >= attributes_.send_depth || !sends_.covers(d.segment[0].local))
        [[unlikely]]
      return Short::not_taken;
    Slot& slot = claimed();
    copy_small(slot, d.segment[0].local.address, c.length);
    const bool wake = store_slot(slot, header::make(MessageKind::inline_data, c.length, 0));
    ++tx_outstanding_;
    sends_.complete(*this, d, descriptor_status::done);
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
    return done == Short::not_taken ? sends_.post(d) : finish_short(done);
  }

  /// The part of post_receive() that takes no function call; false: nothing is done.  Never blocks.
  /// Cost: as post_receive().
  [[nodiscard, gnu::always_inline]] bool try_post_receive(Descriptor& d) noexcept {
    if (state_ == ViState::error || rx_outstanding_ >= attributes_.receive_depth ||
        !receives_.is_plain(d)) [[unlikely]]
      return false;
    receives_.post_plain(d, rx_seq_);
    ++rx_outstanding_;
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

  /// The sends that the fast path does not take: they wait in their order, and are carried out in
  /// it. And what the fast path must know of them: it is ready while none waits.
  class SendQueue {
   public:
    /// Throws Error: @p completions has no room.
    SendQueue(Vi& vi, CompletionQueue& completions);
    ~SendQueue();
    SendQueue(const SendQueue&) = delete;
    SendQueue& operator=(const SendQueue&) = delete;

    /// @return whether the fast path may be taken: connected, and nothing waits.  Cost: one load.
    [[nodiscard]] bool is_ready() const noexcept { return ready_; }
    /// @return whether @p s lies in the region that the last descriptor named.
    [[nodiscard]] bool covers(const LocalSegment& s) const noexcept { return region_.covers(s); }
    /// A send of @p vi, whose queue this is, has completed with @p status.  Never blocks.
    inline void complete(Vi& vi, Descriptor& d,
                         std::uint32_t status) noexcept;  // completion_queue.hpp
    /// The rest of post_send().
    [[gnu::cold, gnu::noinline]] Status post(Descriptor& d) noexcept;
    /// Connected, and nothing waits. At reliable reception the fast path is never taken: a message
    /// must be in its receive when the send completes, and one that is only in its slot does not
    /// do.
    void become_ready() noexcept { ready_ = vi_.attributes_.reliability != Reliability::reception; }
    /// Tries the sends that wait: for the peer to attach, for room in the ring, for staging memory,
    /// or (reception level) for the peer to take a staged block.
    void run_waiting() noexcept;
    /// @return whether a send waits.
    [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
    /// The connection has ended: all that wait complete as flushed.
    void flush() noexcept;
    /// The region table has changed.
    void forget_region() noexcept { region_ = {}; }

   private:
    class Transfer;  // transfer.hpp: one descriptor that is carried out
    struct Waiting {
      Descriptor* descriptor;
      std::uint64_t staged;  // block that must be taken first (reception level); 0: not carried out
    };
    [[nodiscard]] bool is_oldest(const Descriptor& d) const noexcept {
      return !waiting_.empty() && waiting_.front().descriptor == &d;
    }
    void add(Descriptor& d, std::uint64_t staged) noexcept;
    void drop(const Descriptor& d) noexcept {
      if (is_oldest(d)) waiting_.pop_front();
    }

    // Cool.
    Vi& vi_;
    std::deque<Waiting> waiting_;
    // Hot.
    CompletionQueue* completions_;
    RegionCache region_;
    bool ready_ = false;
  };

  /// Takes an arrived message into its receive when that is all there is to do; otherwise null,
  /// nothing done.
  [[nodiscard]] Descriptor* take_plain(Slot& slot, std::uint64_t h) noexcept {
    Descriptor* const d = receives_.copy_plain(slot, h, rx_seq_);
    if (d == nullptr) [[unlikely]]
      return nullptr;
    prefetch_behind(rx_seq_, rx_mask_);
    d->control.length = header::length(h);
    d->control.status = ReceiveQueue::kReceived;
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
  [[gnu::cold, gnu::noinline]] Status post_receive_slow(Descriptor& d) noexcept;
  [[gnu::noinline]] Descriptor* take_receive_slow(const Slot& slot, std::uint64_t h) noexcept;

  // vi.cpp: described in connection.hpp
  [[nodiscard]] std::uint32_t shape() const noexcept override;
  void prepare_ring() override;
  bool take_up(const std::vector<std::byte>& offer) override;
  [[nodiscard]] Status check_way(Rank peer) override;
  void peer_closed(ErrorCause cause) noexcept override;
  void refuse_room() noexcept override;
  void refuse(const char* what) noexcept;
  void fail(ErrorCause cause, ErrorCause for_peer, bool of_receive) noexcept;
  void flush(bool after_bad_receive = false) noexcept;
  Status done(Queue queue, Descriptor*& out) noexcept override;
  Status wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept override;

  OwnQueues own_queues_;  // before all that uses them
  ViAttributes attributes_;
  // Cool.
  CompletionQueue* receive_cq_;
  std::size_t place_ = 0;  // in the NIC's list
  // Hot: the end of sends_, the counts, and the beginning of receives_ lie in three lines.
  SendQueue sends_;
  std::uint32_t tx_outstanding_ = 0;
  std::uint32_t rx_outstanding_ = 0;
  ReceiveQueue receives_;
};

}  // namespace viaduct::via::shm

#include "viaduct/via/shm/completion_queue.hpp"  // SendQueue::complete()
