#pragma once
/// @file
/// Data path of provider shm: from post_send to the store that makes a message visible, and from
/// that store to the receiver's completion. Set-up and the end are in connect.cpp, larger transfers
/// and errors in transfer.cpp.

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/shm/channel.hpp"
#include "viaduct/via/shm/inline_options.hpp"
#include "viaduct/via/shm/region_cache.hpp"
#include "viaduct/via/shm/slot_copy.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct {
struct RankRecord;
}

namespace viaduct::via {
class Link;
}

namespace viaduct::via::shm {

class CompletionQueue;
class Nic;
class Vi;
struct RemotePart;

class Vi final : public via::Vi {
 public:
  /// Throws Error: the completion queues have no room, or the NIC has no further VI.  Use
  /// Nic::create_vi() or create_inline_vi(), which check @p attributes and @p options.
  Vi(Nic& nic, const ViAttributes& attributes, const InlineOptions& options);
  ~Vi() override;

  /// Never blocks.  Cost: up to 56 bytes: one line written at the peer, one load of a line that the
  /// peer rarely writes; the send is complete at once. More: see transfer.cpp.
  Status post_send(Descriptor& d) noexcept override {
    const ControlSegment& c = d.control;
    if (tx_ready_ && c.control == 0 && c.segment_count == 1 && c.length <= kInlineBytes &&
        c.length == d.segment[0].local.length && tx_seq_ != tx_limit_ &&
        tx_outstanding_ < attributes_.send_depth && send_region_.covers(d.segment[0].local))
        [[likely]] {
      Slot& slot = tx_slots_[tx_seq_ & tx_mask_];
      copy_small(slot, d.segment[0].local.address, c.length);
      publish(slot, header::make(MessageKind::inline_data, c.length, 0));
      ++tx_outstanding_;
      push_send(d, descriptor_status::done);
      if ((tx_seq_ & tx_mask_ / 2) == 0)
        update_room();  // while the message is on its way, not when there is no more room
      return Status::ok;
    }
    return post_send_slow(d);
  }

  /// Never blocks.  Cost: 24 bytes written into the channel that the peer sends on, in two lines.
  Status post_receive(Descriptor& d) noexcept override {
    if (state_ != ViState::error && rx_outstanding_ < attributes_.receive_depth &&
        d.control.segment_count == 1 && rx_ != nullptr &&
        receive_region_.covers(d.segment[0].local)) [[likely]] {
      accept_receive(d);
      return Status::ok;
    }
    return post_receive_slow(d);
  }

  /// ok, retry, or bad_state where the queue is attached to a completion queue.  Never blocks.
  Status send_done(Descriptor*& out) noexcept override;
  /// ok, retry, or bad_state where the queue is attached to a completion queue.  Never blocks.
  Status receive_done(Descriptor*& out) noexcept override;
  /// ok, timeout or bad_state.  Blocks as CompletionQueue::wait().
  Status send_wait(Descriptor*& out, std::int64_t timeout_ns) noexcept override;
  /// ok, timeout or bad_state.  Blocks as CompletionQueue::wait().
  Status receive_wait(Descriptor*& out, std::int64_t timeout_ns) noexcept override;
  /// Blocks until the listener has answered.  Cost: memory for one channel in the window; two
  /// control messages. Ranks of other hosts are unreachable this way. Throws Error.
  ConnectResult connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) override;
  /// ok, bad_state, bad_argument or peer_lost.  Never blocks.  Cost: memory for one channel in the
  /// window; one control message each way. Throws Error.
  Status connect_peer_start(Rank peer, std::uint64_t discriminator) override;
  /// ok, retry, peer_lost, bad_argument or bad_state.  Progress: Nic::progress().
  Status connect_peer_done() noexcept override;
  /// Blocks until connect_peer_done() would answer something other than retry, or the time is over.
  ConnectResult connect_peer_wait(std::int64_t timeout_ns) override;
  /// Never blocks between ranks that share memory: the channel is released when the peer has read
  /// it. To another host: blocks until what was sent has arrived, 5 s at most.
  void disconnect() noexcept override;
  /// @return the state.  Cost: one load.
  [[nodiscard]] ViState state() const noexcept override { return state_; }
  /// @return the rank that the VI was last connected to, or has asked.
  [[nodiscard]] Rank peer() const noexcept override { return peer_; }
  /// @return what the VI was made with.
  [[nodiscard]] const ViAttributes& attributes() const noexcept override { return attributes_; }

  // Inline messages, for the layer above (am/). Same thread as the VI.
  /// The next free slot, or null when there is no room now or the VI is not connected. Nothing is
  /// taken until publish.  Cost: one comparison; without room as far as is known, a load of the
  /// line that the peer writes.
  [[nodiscard, gnu::always_inline]] Slot* claim() noexcept {
    if (tx_seq_ == tx_limit_) [[unlikely]]
      if (!refresh_room(1)) return nullptr;
    return &tx_slots_[tx_seq_ & tx_mask_];
  }
  /// claim() where there is room without asking the peer's line, else null. A function that sends
  /// by it, with publish() at its end, needs no stack.  Cost: one comparison.
  [[nodiscard]] Slot* claim_known() noexcept {
    return tx_seq_ != tx_limit_ ? &tx_slots_[tx_seq_ & tx_mask_] : nullptr;
  }
  /// Makes the claimed slot's words visible to the peer: one release store, and a look at whether
  /// it wants a doorbell. Order: x86 stores become visible in program order, so the header is seen
  /// after the words.
  [[gnu::always_inline]] void publish(Slot& slot, std::uint64_t header) noexcept {
    slot.header.store(header | phase(tx_seq_, tx_mask_), kRelease);
    ++tx_seq_;
    if (tx_->notify.wanted.load(kRelaxed) != 0) [[unlikely]]
      ring_doorbell();
  }
  /// A message of @p count words (1 to 21) in 1 to 3 lines.  Order: the first line is written last.
  /// @return false when there is no room, or the VI is not connected.
  [[nodiscard]] bool try_send_lines(std::uint64_t header, const std::uint64_t* words,
                                    std::uint32_t count) noexcept;
  /// Reads from the peer's line how far it has freed the ring.  @return whether there is room for
  /// @p lines more lines; false also when the VI is not connected. Cost: a cache miss where the
  /// peer has written since.
  [[nodiscard]] bool refresh_room(std::uint32_t lines) noexcept;

  /// Hands up to @p budget arrived messages to f(vi, slot, header), oldest first. The slot is taken
  /// off the queue before f runs, so f may poll again; its words must be read before that.
  ///
  /// Blocks      never.
  /// Cost        nothing there: one load. A message: one line read, the line 16 ahead prefetched;
  ///             every release_every slots one line written, which the sender reads.
  ///
  /// @return the number of messages.
  template <class OnMessage>
  std::uint32_t drain_inline(std::uint32_t budget, OnMessage& f) noexcept {
    std::uint32_t n = 0;
    while (n < budget) {
      const std::uint64_t seq = rx_seq_;
      Slot& slot = next_slot();
      const std::uint64_t h = slot.header.load(kAcquire);
      if (!is_full(h)) break;
      __builtin_prefetch(&rx_slots_[(seq + kPrefetchAhead) & rx_mask_]);
      rx_seq_ = seq + 1 + header::extra_lines(h);
      f(*this, slot, h);
      ++n;
      if (rx_seq_ - rx_released_ >= options_.release_every) release_slots();
    }
    return n;
  }
  /// Gives every consumed slot back to the sender. Before blocking, or the sender might wait for
  /// them for ever.  Cost: one store into the line that the sender reads; a system call where the
  /// sender sleeps.
  void release_slots() noexcept {
    rx_released_ = rx_seq_;
    rx_->receiver.posted.store(rx_seq_ + rx_mask_ + 1, kRelease);
    wake_if_asleep();
  }
  /// Publishes a counter of the client's (@p which: 0 or 1), which the peer may read at any time
  /// and which takes no slot. A peer that sleeps is woken: it may be waiting for this.  Order: a
  /// peer that sees the value sees what was done before; there is no order with messages.
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
  /// Begins to fetch the line of the peer's counters.  Never blocks.  Cost: one prefetch.
  void fetch_counters() const noexcept { __builtin_prefetch(&tx_->receiver); }
  /// Takes in how far the peer has freed our ring, from that same line (remote: as peer_counter()
  /// and refresh_room() have left it).  Cost: one load.
  void update_room() noexcept {
    if (state_ == ViState::connected) take_room(tx_->receiver.posted.load(kAcquire));
  }
  /// Wakes the peer where it sleeps.  Cost: one load; a system call where the peer sleeps.
  void wake_if_asleep() noexcept {
    if (peer_sleeping_->load(kRelaxed) != 0) [[unlikely]]
      wake_peer();
  }
  /// @return what the peer has last published as counter @p which.  Cost: a cache miss where the
  /// peer has written its line since.
  [[nodiscard]] std::uint64_t peer_counter(unsigned which) const noexcept {
    if (options_.remote) [[unlikely]]
      take_counters();
    return tx_->receiver.client_counter[which].load(kAcquire);
  }
  /// @return the lines that have been written into the ring, in all.
  [[nodiscard]] std::uint64_t messages_sent() const noexcept { return tx_seq_; }
  /// @return the lines that the peer has taken and given back, as far as its counters say.
  [[nodiscard]] std::uint64_t lines_returned() noexcept {
    (void)refresh_room(0);
    return tx_limit_ - tx_slot_count_;
  }
  /// @return the line that was written as number @p seq.  Precondition: it is one of the last
  /// lines, as many as the ring has.
  [[nodiscard]] const Slot& sent_slot(std::uint64_t seq) const noexcept {
    return tx_slots_[seq & tx_mask_];
  }
  /// @return the line @p lines behind the next one when it has come, else null.
  [[nodiscard]] const Slot* arrived_ahead(std::uint32_t lines) const noexcept {
    const std::uint64_t seq = rx_seq_ + lines;
    const Slot& slot = rx_slots_[seq & rx_mask_];
    const std::uint64_t h = slot.header.load(kAcquire);
    return (h & header::phase_bit) == phase(seq, rx_mask_) ? &slot : nullptr;
  }
  /// @return whether a message waits to be taken.  Cost: one load.
  [[nodiscard]] bool has_arrivals() const noexcept {
    return rx_slots_ != nullptr && is_full(next_slot().header.load(kAcquire));
  }
  [[nodiscard]] void* context() const noexcept { return context_; }
  /// The client's extra bytes of the channel that this VI sends on, zeroed; before connecting. The
  /// peer's, once connected: both live until the channel does (after the peer has stopped reading
  /// it).
  [[nodiscard]] std::byte* prepare_extra();
  [[nodiscard]] std::byte* peer_extra() const noexcept { return peer_extra_; }
  /// @return the line behind @p slot in the ring that this VI receives from: continuations of a
  /// message.
  [[nodiscard]] const Slot& line_after(const Slot& slot) const noexcept {
    return rx_slots_[(static_cast<std::uint64_t>(&slot - rx_slots_) + 1) & rx_mask_];
  }
  /// @return why the peer rejected: what it gave to Nic::reject_peer.
  [[nodiscard]] std::uint64_t rejection_reason() const noexcept { return rejection_reason_; }
  /// @return whether the last attempt to connect has ended because no path leads to the peer (and
  /// not because its NIC is closed).
  [[nodiscard]] bool is_unreachable() const noexcept {
    return answer_ == ConnectResult::unreachable && cause_ == ErrorCause::connection_lost;
  }
  /// The peer has written what no peer writes: a sentence says so, the connection ends on both
  /// sides (ErrorCause::format), and nothing more is read of it. @p what: "a message with a
  /// malformed length". Does nothing where that has been said.  Call from: also while messages are
  /// handed over.  Never blocks.
  [[gnu::cold, gnu::noinline]] void break_off(const char* what) noexcept;
  /// Looks for nonsense where no message shows it, in the lines that come next, and breaks off.
  /// Cost: two loads of lines that the peer writes.
  void look_for_nonsense() noexcept;
  /// For a forked child, which has a copy of the VI, but no rights: nothing can be claimed then.
  void close_in_child() noexcept {
    state_ = ViState::idle;
    tx_limit_ = tx_seq_;
  }
  /// Connects the VI to itself: what it sends, it receives.  Never blocks.  Throws Error.
  void connect_loopback();

  // Remote VIs: memory that the peer has a copy of. All of them do nothing on others.

  /// @return whether a transport takes the VI's messages to another host.
  [[nodiscard]] bool is_remote() const noexcept { return options_.remote; }
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
  /// Sends what forward_extra() was given.  Blocks until it is there, 5 s at most, and makes
  /// progress meanwhile.  @return false: the connection has ended first.
  bool flush_extra() noexcept;
  // Copies to and from the peer's memory that it has registered with its transport.
  /// @return whether write_remote() and read_remote() may be called now.
  [[nodiscard]] bool takes_copies() const noexcept;
  /// Writes @p bytes to @p to at the peer, registered under @p key.  Blocks until they are there.
  /// Precondition: takes_copies().  @return false: the connection has failed.
  [[nodiscard]] bool write_remote(const std::byte* from, std::size_t bytes, std::uint64_t to,
                                  std::uint32_t key) noexcept;
  /// Reads @p bytes at @p from of the peer, registered under @p key.  Blocks until they are here.
  /// Precondition: takes_copies().  @return false: the connection has failed.
  [[nodiscard]] bool read_remote(std::byte* to, std::size_t bytes, std::uint64_t from,
                                 std::uint32_t key) noexcept;
  /// For transfers that do not wait.  Null: there is none, or it is not connected, or has failed.
  [[nodiscard]] Link* link() const noexcept;

 private:
  friend class CompletionQueue;
  friend class Nic;

  static constexpr std::uint32_t kPrefetchAhead = 16;

  [[nodiscard]] bool fast_path_allowed() const noexcept {
    return !options_.inline_only && attributes_.reliability != Reliability::reception;
  }
  [[nodiscard]] static std::uint64_t phase(std::uint64_t seq, std::uint64_t mask) noexcept {
    return (seq & (mask + 1)) == 0 ? header::phase_bit : 0;
  }

  inline void push_send(Descriptor& d, std::uint32_t status) noexcept;  // completion_queue.hpp
  void accept_receive(Descriptor& d) noexcept {
    d.control.status = 0;
    const std::uint64_t number = rx_posted_++;
    ++rx_outstanding_;
    rx_ring_[number & rx_ring_mask_] = &d;
    // Those beyond the ring count as well: the sender waits for their turn.
    rx_->receiver.client_counter[0].store(rx_posted_, kRelaxed);
    if (number - rx_seq_ <= rx_mask_) [[likely]] {
      rx_->posted_info(rx_slot_count_)[number & rx_mask_] =
          place_of(d.segment[0].local, receive_region_);
      rx_->receiver.posted.store(rx_posted_, kRelease);
    }
  }
  /// Whether the slot whose header is @p h holds a message not yet taken.
  [[nodiscard]] bool is_full(std::uint64_t h) const noexcept {
    return (h & header::phase_bit) == phase(rx_seq_, rx_mask_);
  }
  [[nodiscard]] Slot& next_slot() const noexcept { return rx_slots_[rx_seq_ & rx_mask_]; }
  /// Takes an arrived message into its receive when that is all there is to do; otherwise null,
  /// nothing done.
  [[nodiscard]] Descriptor* take_plain(Slot& slot, std::uint64_t h) noexcept {
    Descriptor* d = rx_ring_[rx_seq_ & rx_ring_mask_];
    const std::uint32_t length = header::length(h);
    if ((h & kPlainMask) != kPlain || d->control.segment_count != 1 ||
        d->segment[0].local.length < length || rx_posted_ - rx_seq_ > rx_plain_) [[unlikely]]
      return nullptr;
    copy_out_small(d->segment[0].local.address, slot, length);
    __builtin_prefetch(&rx_slots_[(rx_seq_ + kPrefetchAhead) & rx_mask_]);
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

  /// Takes in how far the peer says that it has freed our ring. A value below the last one, or
  /// beyond the ring, ends the connection.
  void take_room(std::uint64_t posted) noexcept {
    if (posted - tx_limit_ > tx_seq_ + tx_slot_count_ - tx_limit_) [[unlikely]]
      return refuse_room();
    tx_limit_ = posted;
  }
  [[gnu::cold, gnu::noinline]] void refuse_room() noexcept;
  void leave_ring() noexcept;
  void forget_peer() noexcept;
  [[nodiscard]] bool is_sensible(const Slot& slot, std::uint64_t h, std::uint64_t n) const noexcept;
  [[nodiscard]] bool may_be_old(std::uint64_t h) const noexcept;
  [[gnu::cold, gnu::noinline]] Status post_send_slow(Descriptor& d) noexcept;
  [[gnu::cold, gnu::noinline]] Status post_receive_slow(Descriptor& d) noexcept;
  [[gnu::noinline]] Descriptor* take_receive_slow(Slot& slot, std::uint64_t h) noexcept;
  [[gnu::cold, gnu::noinline]] void ring_doorbell() noexcept;
  [[gnu::cold, gnu::noinline]] void ring_peer() noexcept;
  [[gnu::cold, gnu::noinline]] void wake_peer() noexcept;

  // transfer.cpp: carrying out descriptors that the fast path does not take
  enum class Outcome : std::uint8_t { done, failed, later };  // later: stays first in pending_
  Outcome execute(Descriptor& d) noexcept;
  Outcome execute_send(Descriptor& d) noexcept;
  Outcome execute_rdma(Descriptor& d) noexcept;
  Outcome execute_atomic(Descriptor& d) noexcept;
  Outcome claim_receive(Descriptor& d, Slot*& slot) noexcept;
  Outcome deliver_large(Descriptor& d, Slot& slot, std::uint64_t header) noexcept;
  Outcome stage(Descriptor& d, Slot& slot, std::uint64_t header) noexcept;
  Outcome refuse(Descriptor& d, std::uint32_t status, ErrorCause cause) noexcept;
  Outcome finish(Descriptor& d, CompletedOperation operation) noexcept;
  [[nodiscard]] bool local_ok(const LocalSegment& s, RegionCache& cache) noexcept;
  [[nodiscard]] bool locals_ok(const Descriptor& d, std::uint32_t first) noexcept;
  void run_pending() noexcept;
  static void gather(const Descriptor& d, std::uint32_t first, std::byte* to) noexcept;
  static void scatter(const Descriptor& d, std::uint32_t first, const std::byte* from,
                      std::uint32_t n) noexcept;
  void publish_receive(std::uint64_t number) noexcept;
  [[nodiscard]] std::uint32_t check_receive(const Descriptor& d) noexcept;
  [[nodiscard]] std::uint32_t refusal_of(std::uint64_t number) const noexcept;
  void forget_refusals() noexcept;

  // remote_channel.cpp
  struct RemoteChannel;
  void make_link(std::size_t half_bytes);
  bool attach_remote(const RemotePart& part);
  [[nodiscard]] RemotePart make_part() const noexcept;
  void post_lines() noexcept;
  [[gnu::cold, gnu::noinline]] void post_lines_slow() noexcept;
  void post_counters() noexcept;
  void take_counters() const noexcept;
  void post_backlog() noexcept;
  [[nodiscard]] bool post_message() noexcept;
  [[nodiscard]] bool ask_to_be_woken() noexcept;
  void take_notification(std::uint32_t notification) noexcept;
  [[gnu::cold]] void take_sign(bool wanted) noexcept;
  void link_failed(ErrorCause cause) noexcept;
  void take_lines(std::uint32_t number) noexcept;
  [[gnu::cold]] void refuse_lines() noexcept;
  void add_piece(const std::byte* from, std::size_t bytes) noexcept;
  void send_back(const std::byte* from, std::size_t bytes) noexcept;
  void drain_link() noexcept;
  void end_link() noexcept;

  // connect.cpp
  void prepare_channel();
  [[nodiscard]] std::uint32_t shape() const noexcept;
  [[nodiscard]] ChannelOffer make_offer() const noexcept;
  [[nodiscard]] EndWish make_wish(Rank peer, std::uint64_t discriminator);
  bool ask(ControlMessage::Kind form, Rank peer, std::uint64_t discriminator);
  void attach(const std::vector<std::byte>& data);
  void attach_mapped(const ChannelOffer& offer);
  void answer(ConnectResult result, std::uint64_t reason, ErrorCause cause) noexcept;
  void fail(ErrorCause cause, bool of_receive = false) noexcept;
  void peer_closed(ErrorCause cause) noexcept;
  void flush(bool after_bad_receive = false) noexcept;
  void drop_channel(ErrorCause cause) noexcept;
  void leave_queues() noexcept;

  // Hot, sender.
  bool tx_ready_ = false;  // connected, nothing pending: the fast path may be taken
  ViState state_ = ViState::idle;
  std::uint32_t tx_outstanding_ = 0;
  std::uint64_t tx_seq_ = 0;
  std::uint64_t tx_limit_ = 0;  // `posted` as last read; equal to tx_seq_ when not connected
  std::uint64_t tx_mask_ = 0;
  Slot* tx_slots_ = nullptr;
  ChannelHead* tx_ = nullptr;
  CompletionQueue* send_cq_ = nullptr;
  RegionCache send_region_;
  // Hot, receiver.
  alignas(kCacheLineBytes) std::uint64_t rx_seq_ = 0;
  std::uint64_t rx_mask_ = 0;
  Slot* rx_slots_ = nullptr;
  ChannelHead* rx_ = nullptr;
  std::uint64_t rx_released_ = 0;
  std::uint64_t rx_posted_ = 0;  // receives posted in all since the connection
  void* context_ = nullptr;      // attributes_.context
  const AtomicWord<std::uint32_t>* peer_sleeping_ = nullptr;
  InlineOptions options_;
  std::uint32_t rx_outstanding_ = 0;
  std::uint32_t rx_ring_mask_ = 0;
  std::uint64_t rx_plain_ = 0;  // receives that slots can show; 0 while a refused receive is posted
  Owned<Descriptor*[]> rx_ring_;  // posted receives, by number
  CompletionQueue* receive_cq_ = nullptr;
  RegionCache receive_region_;
  // Cool.
  std::uint64_t last_active_ = 0;  // the receive queue's tick when a message last came
  std::int32_t hot_at_ = -1;       // place in the receive queue's list, or -1
  bool listed_ = false;            // in the receive queue's list of those to be drained
  std::uint32_t receive_bit_ = 0;  // of the receive queue's doorbell
  ViAttributes attributes_;
  Nic& nic_;
  std::size_t place_ = 0;  // in the NIC's list
  Rank peer_{};
  EndName end_;  // in the NIC's Connector; none: idle, or connected to itself
  std::byte* peer_window_ = nullptr;
  std::byte* peer_extra_ = nullptr;
  CqDoorbell* peer_doorbell_ = nullptr;
  std::uint32_t peer_doorbell_bit_ = 0;
  ProtectionTag peer_tag_ = ProtectionTag::none;
  std::uint64_t tx_offset_ = 0;  // of our channel, in our window; 0: none
  std::uint32_t tx_slot_count_ = 0;
  std::uint32_t rx_slot_count_ = 0;
  std::uint64_t rejection_reason_ = 0;
  ConnectResult answer_ = ConnectResult::timed_out;
  ErrorCause cause_ = ErrorCause::none;
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
  Owned<RemoteChannel> remote_channel_;
};

}  // namespace viaduct::via::shm

#include "viaduct/via/shm/completion_queue.hpp"  // push_send()
