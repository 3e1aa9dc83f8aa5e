#pragma once
/// @file
/// A reliable connection's queue pair, with exact accounts of its send queue.
///
/// Every work request takes a place in the send queue. Only signalled requests report their
/// completion, and each frees its own place and those of all before it. A device need not notice
/// when more is posted than fits, and Soft-RoCE frees unsignalled requests by itself: so the places
/// are counted here, and a post without room stops the program.

#include <infiniband/verbs.h>

#include <cstdint>

#include "via/verbs/src/device.hpp"

namespace viaduct::via::verbs {

/// The facts that a peer must know of a queue pair, beside the Address.
struct QueuePairName {
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;
};

class QueuePair {
 public:
  struct Size {
    std::uint32_t sends = 0;     // work requests
    std::uint32_t receives = 0;  // 0 with a shared receive queue
    std::uint32_t segments = 1;
    std::uint32_t inline_bytes = 0;
  };

  /// In state INIT: receives can be posted.  Throws Error.
  QueuePair(Device& device, ibv_pd* domain, ibv_cq* send_queue, ibv_cq* receive_queue,
            const Size& size, ibv_srq* shared_receives = nullptr);

  [[nodiscard]] QueuePairName name() const noexcept { return {pair_->qp_num, first_packet_}; }
  [[nodiscard]] std::uint32_t inline_bytes() const noexcept { return inline_bytes_; }

  /// Goes to RTR and RTS: from here on it takes packets and may send.  Throws Error.
  void connect(const Address& peer, const QueuePairName& theirs);
  /// Goes to the error state: the device flushes what is posted.
  void fail() noexcept;

  [[nodiscard]] std::uint64_t posted() const noexcept { return posted_; }
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return posted_ - reaped_; }
  [[nodiscard]] bool has_room(std::uint32_t requests) const noexcept {
    return posted_ + requests <= limit_;
  }
  /// Posts a chain of @p count requests with one doorbell. False: the device refuses, which nothing
  /// but a broken device does.  Precondition: has_room(count).
  [[nodiscard]] bool post(ibv_send_wr& chain, std::uint32_t count) noexcept {
    if (!has_room(count)) [[unlikely]]
      stop_overrun(count);
    return post_into_room(chain, count);
  }
  /// The same for a caller that has asked has_room() just before.
  [[nodiscard]] bool post_into_room(ibv_send_wr& chain, std::uint32_t count) noexcept {
    posted_ += count;
    return ibv_post_send(pair_.get(), &chain, &refused_) == 0;
  }
  /// Request number @p low (its low 32 bits) has completed, and so have all before it. Answers its
  /// whole number.
  std::uint64_t reap(std::uint32_t low) noexcept {
    const std::uint64_t number = reaped_ + (low - static_cast<std::uint32_t>(reaped_));
    if (number >= posted_) [[unlikely]]
      stop_unknown(number);
    reaped_ = number + 1;
    limit_ = reaped_ + depth_;
    return number;
  }
  [[nodiscard]] bool post_receive(ibv_recv_wr& request) noexcept {
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(pair_.get(), &request, &bad) == 0;
  }

 private:
  [[noreturn, gnu::cold]] void stop_overrun(std::uint32_t count) const noexcept;
  [[noreturn, gnu::cold]] void stop_unknown(std::uint64_t number) const noexcept;

  OwnedPair pair_;
  std::uint64_t posted_ = 0;
  std::uint64_t reaped_ = 0;
  std::uint64_t limit_ = 0;  // requests that may be posted in all: reaped_ + depth_
  std::uint32_t depth_ = 0;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t first_packet_ = 0;
  ibv_send_wr* refused_ = nullptr;  // written when the device refuses, and not read
  Device& device_;
};

}  // namespace viaduct::via::verbs
