#pragma once
/// @file
/// Generation v3 of AMVIA: one VI, k credits for messages of all sizes. Source: Begel et al. 2001,
/// section 4.1.

#include <cstddef>
#include <cstdint>

#include "via/generations/src/credits.hpp"
#include "via/generations/src/lane.hpp"
#include "via/generations/src/message.hpp"
#include "via/generations/src/policy.hpp"

namespace viaduct::via::generations {

class V3 {
 public:
  static constexpr std::uint32_t kLargest = 4096 + 192;

  /// k is half of the messages that @p room asks for: k requests and their k replies.
  V3(const Common& common, const Room& room, void* owner);
  /// @return 2k sends and 2k + 1 receives, besides those that a MAP posts itself.
  [[nodiscard]] static Depths depths(const Room& room) noexcept {
    const std::uint32_t both = 2 * credits(room);
    return {both + kOtherSends, both + 1};
  }

  [[nodiscard]] RingName ring() const noexcept { return {}; }
  [[nodiscard]] Status start(Rank peer, std::uint64_t name, const RingName& theirs);
  [[nodiscard]] Status connected() noexcept { return lane_.vi().connect_peer_done(); }
  [[nodiscard]] bool send(const Outgoing& out) noexcept;
  void sent(const Completion& done) noexcept { lane_.sent(*done.descriptor); }
  [[nodiscard]] bool received(const Completion& done, Receiver& receiver) noexcept;
  [[nodiscard]] bool give_credits() noexcept;
  [[nodiscard]] bool quiet() const noexcept { return lane_.quiet(); }
  [[nodiscard]] Vi& rdma_vi() noexcept { return lane_.vi(); }
  static void written() noexcept {}  // messages follow on the same VI
  /// @return the bytes of its buffers.
  [[nodiscard]] static std::size_t bytes(const Room& room) noexcept {
    return (4 * std::size_t{credits(room)} + 1) * (kLargest + 64);
  }

 private:
  [[nodiscard]] static std::uint32_t credits(const Room& room) noexcept {
    return (room.messages + 1) / 2;
  }
  [[nodiscard]] bool post(const Outgoing& out) noexcept;

  Lane lane_;
  Credits credits_;
};

}  // namespace viaduct::via::generations
