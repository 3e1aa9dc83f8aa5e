#pragma once
/// @file
/// Generation v2 of AMVIA: RDMA writes with immediate values into a ring at the receiver. The
/// sender manages the ring, and the receiver returns its space. Source: Begel et al. 2001, section
/// 5.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "via/generations/src/lane.hpp"
#include "via/generations/src/message.hpp"
#include "via/generations/src/policy.hpp"
#include "via/generations/src/ring_space.hpp"
#include "viaduct/runtime/atomic.hpp"

namespace viaduct::via::generations {

class V2 {
 public:
  static constexpr std::uint32_t kLargest = 4096 + 192;
  static constexpr std::uint32_t kReturns = 2;  // writes that return space, at once

  /// A ring for so many messages of three slots as @p room asks for, and some with data.
  V2(const Common& common, const Room& room, void* owner);
  [[nodiscard]] static Depths depths(const Room& room) noexcept {
    return {messages(room) + kReturns + kOtherSends, messages(room)};
  }
  /// @return the bytes of its ring, and of its copy of the peer's.
  [[nodiscard]] static std::size_t bytes(const Room& room) noexcept {
    return sizeof(Words) + 2 * std::size_t{units(room)} * RingSpace::kUnitBytes;
  }

  [[nodiscard]] RingName ring() const noexcept;
  [[nodiscard]] Status start(Rank peer, std::uint64_t name, const RingName& theirs);
  [[nodiscard]] Status connected() noexcept { return vi_->connect_peer_done(); }
  [[nodiscard]] bool send(const Outgoing& out) noexcept;
  void sent(const Completion& done) noexcept;
  [[nodiscard]] bool received(const Completion& done, Receiver& receiver) noexcept;
  [[nodiscard]] bool give_credits() noexcept;
  [[nodiscard]] bool quiet() const noexcept { return written_ == completed_ && returns_ == 0; }
  [[nodiscard]] Vi& rdma_vi() noexcept { return *vi_; }
  static void written() noexcept {}  // messages follow on the same VI

 private:
  /// The words before the rings.
  struct alignas(64) Words {
    AtomicWord<std::uint64_t> returned;  // the peer writes how many messages it has taken
    std::uint64_t returns[kReturns];     // the counts that this end writes there
  };
  [[nodiscard]] static std::uint32_t messages(const Room& room) noexcept {
    return std::bit_ceil(room.messages);
  }
  [[nodiscard]] static std::uint32_t units(const Room& room) noexcept {
    constexpr std::uint32_t kUnitsOfMessage = 4;
    constexpr std::uint32_t kLeast = 512;
    constexpr std::uint32_t kSpare = 64;
    return std::max(kLeast, kUnitsOfMessage * messages(room) + kSpare);
  }
  [[nodiscard]] Words& words() const noexcept { return *reinterpret_cast<Words*>(arena_.memory()); }
  [[nodiscard]] std::size_t ring_bytes() const noexcept {
    return std::size_t{space_.units()} * RingSpace::kUnitBytes;
  }
  /// The ring that the peer writes to.
  [[nodiscard]] std::byte* ring_in() const noexcept { return arena_.memory() + sizeof(Words); }
  /// This end's messages, at the place that they have at the peer.
  [[nodiscard]] std::byte* ring_out() const noexcept { return ring_in() + ring_bytes(); }
  [[nodiscard]] bool learn_return() noexcept;
  [[nodiscard]] Descriptor& write_at(std::uint32_t number) noexcept {
    return descriptors_[number & (space_.messages() - 1)];
  }

  Place place_;
  RingSpace space_;
  // Destroyed in the reverse order: the VI first.
  Arena arena_;
  std::unique_ptr<Descriptor[]> descriptors_;  // of messages, of returns, of receives
  std::unique_ptr<Vi> vi_;
  RingName theirs_;
  std::uint32_t written_ = 0;    // messages that have been posted
  std::uint32_t completed_ = 0;  // of those, whose descriptors are free again
  std::uint32_t returns_ = 0;    // bits: which return is under way
  std::uint32_t taken_ = 0;      // messages of the peer's
  std::uint32_t told_ = 0;       // of those, the peer has been told of
  std::uint32_t owed_units_ = 0;
  bool nonsense_ = false;  // the peer has returned more than there was
};

}  // namespace viaduct::via::generations
