#pragma once
/// @file
/// Generation v1 of AMVIA: three VIs, one for each size of message, each with credits of its own.
/// Source: Begel et al. 2001, section 5.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "via/generations/src/credits.hpp"
#include "via/generations/src/lane.hpp"
#include "via/generations/src/message.hpp"
#include "via/generations/src/policy.hpp"

namespace viaduct::via::generations {

class V1 {
 public:
  static constexpr std::uint32_t kSizes = 3;  // short, medium, bulk
  /// The credits of medium and bulk messages. Short ones have as many credits as the channel needs.
  static constexpr std::uint16_t kMediumCredits = 8, kBulkCredits = 4;
  static constexpr std::array<std::uint32_t, kSizes> kBytes{192, 4096 + 192, 16384};
  static constexpr std::uint32_t kLargest = kBytes[2];

  V1(const Common& common, const Room& room, void* owner);
  /// The VI of short messages takes one message of counts for each size besides.
  [[nodiscard]] static Depths depths(const Room& room) noexcept {
    const std::uint32_t messages = room.messages + kMediumCredits + kBulkCredits + kSizes;
    return {messages + kOtherSends, messages};
  }
  /// @return the bytes of its buffers.
  [[nodiscard]] static std::size_t bytes(const Room& room) noexcept {
    return 2 * (std::size_t{room.messages + kSizes} * (kBytes[0] + 64) +
                std::size_t{kMediumCredits} * (kBytes[1] + 64) +
                std::size_t{kBulkCredits} * (kBytes[2] + 64));
  }

  [[nodiscard]] RingName ring() const noexcept { return {}; }
  [[nodiscard]] Status start(Rank peer, std::uint64_t name, const RingName& theirs);
  [[nodiscard]] Status connected() noexcept;
  [[nodiscard]] bool send(const Outgoing& out) noexcept;
  void sent(const Completion& done) noexcept {
    lanes_[place_of(done).which].sent(*done.descriptor);
  }
  [[nodiscard]] bool received(const Completion& done, Receiver& receiver) noexcept;
  [[nodiscard]] bool give_credits() noexcept;
  [[nodiscard]] bool quiet() const noexcept;
  [[nodiscard]] Vi& rdma_vi() noexcept { return lanes_[kShort].vi(); }
  void written() noexcept { write_is_last_ = true; }

 private:
  static constexpr std::uint32_t kShort = 0;

  /// Messages that have come to one VI before their turn, oldest first.
  class Early {
   public:
    /// Never has more than the VI has receives.
    explicit Early(std::uint32_t receives) : ring_(std::bit_ceil(receives)) {}
    void push(Descriptor& d) noexcept { ring_[tail_++ & (ring_.size() - 1)] = &d; }
    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] Descriptor& front() noexcept { return *ring_[head_ & (ring_.size() - 1)]; }
    void pop() noexcept { ++head_; }

   private:
    std::vector<Descriptor*> ring_;
    std::uint32_t head_ = 0, tail_ = 0;
  };

  [[nodiscard]] bool send_by(std::uint32_t size, const Outgoing& out) noexcept;
  [[nodiscard]] bool post(std::uint32_t size, const Outgoing& out) noexcept;
  [[nodiscard]] bool take_next(std::uint32_t size, Receiver& receiver, bool& taken) noexcept;

  std::array<Lane, kSizes> lanes_;
  std::array<Credits, kSizes> credits_;
  std::array<Early, kSizes> early_;
  bool write_is_last_ = false;  // on the VI of short messages, no message has followed it
  std::uint16_t next_out_ = 0;  // the number of the next message to the peer
  std::uint16_t next_in_ = 0;   // and of the next one to be taken
};

}  // namespace viaduct::via::generations
