#pragma once
/// @file
/// VIs of provider verbs: a reliable connection's queue pair, made when a connection is asked for,
/// and the descriptors that are posted. Data path in transfer.cpp, connections in connect.cpp.
///
/// A descriptor that is malformed, or names memory that it must not, never reaches the device: it
/// fails in its turn, when all before it have completed, and ends the connection as a device's
/// error would.

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "via/verbs/src/completion_queue.hpp"
#include "via/verbs/src/offer.hpp"
#include "via/verbs/src/queue_pair.hpp"
#include "viaduct/via/connectable.hpp"
#include "viaduct/via/control_message.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::verbs {

class Nic;

class Vi final : public via::Vi, public Connectable {
 public:
  Vi(Nic& nic, const ViAttributes& attributes);
  ~Vi() override;

  Status post_send(Descriptor& d) noexcept override;
  Status post_receive(Descriptor& d) noexcept override;
  ConnectResult connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) override;
  Status connect_peer_start(Rank peer, std::uint64_t discriminator) override;
  Status connect_peer_done() noexcept override;
  ConnectResult connect_peer_wait(std::int64_t timeout_ns) override;
  void disconnect() noexcept override;
  [[nodiscard]] ViState state() const noexcept override { return state_; }
  [[nodiscard]] Rank peer() const noexcept override { return peer_; }
  [[nodiscard]] const ViAttributes& attributes() const noexcept override { return attributes_; }

 private:
  friend class CompletionQueue;
  friend class Nic;

  /// A posted descriptor. `refusal` is not 0 when it is not for the device.
  struct Posted {
    Descriptor* descriptor;
    std::uint32_t refusal;
    std::uint64_t last_request;  // sends: number of its last work request
  };
  /// First in, first out, of a fixed size.
  class Row {
   public:
    explicit Row(std::uint32_t depth);
    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] std::uint32_t size() const noexcept {
      return static_cast<std::uint32_t>(tail_ - head_);
    }
    [[nodiscard]] Posted& front() noexcept { return entries_[head_ & mask_]; }
    [[nodiscard]] Posted& at(std::uint32_t i) noexcept { return entries_[(head_ + i) & mask_]; }
    void push(const Posted& posted) noexcept { entries_[tail_++ & mask_] = posted; }
    void pop() noexcept { ++head_; }

   private:
    std::unique_ptr<Posted[]> entries_;
    std::uint64_t mask_ = 0, head_ = 0, tail_ = 0;
  };

  [[nodiscard]] std::uint32_t requests_each() const noexcept {
    return attributes_.reliability == Reliability::reception ? 2 : 1;
  }
  [[nodiscard]] std::uint32_t send_requests() const noexcept {
    return attributes_.send_depth * requests_each() + 1;  // and keep_alive()'s
  }
  [[nodiscard]] std::uint64_t work_id(bool receive, std::uint64_t number) const noexcept;

  // transfer.cpp
  [[nodiscard]] std::uint32_t check_send(const Descriptor& d) const noexcept;
  [[nodiscard]] std::uint32_t check_receive(const Descriptor& d) const noexcept;
  [[nodiscard]] bool goes_inline(const Descriptor& d) const noexcept;
  [[nodiscard]] bool hold(const Posted& posted) noexcept;
  bool hand_over(Posted& posted, std::span<const std::byte> copy = {}) noexcept;
  bool hand_over_receive(const Posted& posted) noexcept;
  void send_held() noexcept;
  void keep_alive() noexcept;
  void completed(const ibv_wc& wc) noexcept;
  void completed_send(const ibv_wc& wc) noexcept;
  void completed_receive(const ibv_wc& wc) noexcept;
  void finish_send(Posted posted, std::uint32_t status) noexcept;
  void finish_receive(Posted posted, std::uint32_t status) noexcept;
  void apply(const LastWord& last) noexcept;
  void flush() noexcept;

  // connect.cpp
  void make_pair();
  void tear_down() noexcept;
  [[nodiscard]] std::uint32_t shape() const noexcept {
    return static_cast<std::uint32_t>(attributes_.reliability);
  }
  [[nodiscard]] PairOffer make_offer() const;
  [[nodiscard]] std::vector<std::byte> last_word(bool refused) const;
  [[nodiscard]] EndWish make_wish(Rank peer, std::uint64_t discriminator);
  bool ask(ControlMessage::Kind form, Rank peer, std::uint64_t discriminator);
  bool attach(const std::vector<std::byte>& data) noexcept;
  void peer_is_ready() noexcept;
  void answer(ConnectResult result) noexcept;
  void drop_pair() noexcept;
  void close_end(ErrorCause cause) noexcept;
  Status done(Queue queue, Descriptor*& out) noexcept override;
  Status wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept override;
  void fail(ErrorCause cause, ErrorCause for_peer, bool refused) noexcept;
  void fail(ErrorCause cause, bool refused = false) noexcept { fail(cause, cause, refused); }
  void peer_closed(ErrorCause cause, const std::vector<std::byte>& word) noexcept;
  void leave_queues() noexcept;

  // Hot.
  ViState state_ = ViState::idle;
  bool peer_ready_ = false;  // it takes packets: sends may go to the device
  bool refused_ = false;     // a descriptor that is not for the device waits for its turn
  bool tried_ = false;       // keep_alive()'s request is under way: number tried_as_
  std::uint32_t held_ = 0;   // sends, at the end of the row, that the device has not
  std::uint32_t send_outstanding_ = 0;  // posted and not reaped by the user
  std::uint32_t receive_outstanding_ = 0;
  std::unique_ptr<QueuePair> pair_;
  Row sends_;
  Row receives_;
  std::uint64_t receives_posted_ = 0;  // to this queue pair
  std::uint64_t receives_taken_ = 0;
  std::uint64_t tried_as_ = 0;
  std::uint32_t sent_ = 0;     // messages, acknowledged
  std::uint32_t arrived_ = 0;  // messages of the peer's
  CompletionQueue* send_cq_ = nullptr;
  CompletionQueue* receive_cq_ = nullptr;
  Nic& nic_;
  // Cool.
  ViAttributes attributes_;
  std::uint32_t id_ = 0;
  Rank peer_{};
  EndName end_;                      // in the NIC's Connector; none: idle
  std::uint64_t flush_address_ = 0;  // at the peer
  std::uint32_t flush_key_ = 0;
  ConnectResult answer_ = ConnectResult::rejected;
  std::deque<std::vector<std::byte>> held_data_;  // the inline data of each held send
  std::unique_ptr<CompletionQueue> own_send_cq_;
  std::unique_ptr<CompletionQueue> own_receive_cq_;
};

}  // namespace viaduct::via::verbs
