#pragma once
// Waits that let no requests run (Endpoint::set_wait_run), and the inquiries that end them when
// they wait for each other. docs/am-protocol.md, "Waits for replies alone".

#include <cstdint>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/endpoint.hpp"

namespace viaduct::am {

/// An inquiry goes from a rank that waits for replies alone to the rank that it waits for, and on
/// from there. An inquiry travels in a notice, takes no credit, and may be lost.
struct Inquiry {
  std::uint32_t asker = 0;  // the rank that has sent it first
  std::uint32_t hops = 0;
  std::uint64_t number = 0;  // of the asker's wait

  static constexpr std::uint32_t kBytes = 16;
};

/// One wait of EndpointCore::send_long for credit or room, while it lasts.
class Bundle::ReplyWait {
 public:
  /// How long a wait lasts before its rank sends an inquiry, and passes on those of others; and the
  /// time between two inquiries. A program that stands still
  /// loses so much time; all others pay a look at the clock.
  static constexpr std::int64_t kAskEveryNs = 100'000'000;

  ReplyWait(detail::EndpointCore& core, Index to) noexcept;
  ~ReplyWait();
  ReplyWait(const ReplyWait&) = delete;
  ReplyWait& operator=(const ReplyWait&) = delete;

  /// Sends an inquiry when it is time for one, and passes on an inquiry that waits for room.
  void look(std::uint64_t now) noexcept;
  /// @return how long the rank may sleep until it looks again.
  [[nodiscard]] std::int64_t most_ns() const noexcept {
    return held_.asker == kNone ? kAskEveryNs : kRoomEveryNs;
  }
  /// Handles @p inquiry, which has come over @p map.
  static void take(detail::Map& map, const Inquiry& inquiry) noexcept;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::int64_t kRoomEveryNs = 5'000'000;

  [[nodiscard]] bool lasts(std::uint64_t now) const noexcept;
  [[nodiscard]] bool try_send(const Inquiry& inquiry) const noexcept;
  void found(detail::Map& map) const noexcept;

  detail::EndpointCore& core_;
  Index to_;
  std::uint64_t start_ns_;
  std::uint64_t next_inquiry_ns_;
  std::uint64_t number_;
  Inquiry held_{kNone, 0, 0};  // to be passed on, where a remote channel has had no room for it
  ReplyWait* next_;            // of the rank's other waits
};

}  // namespace viaduct::am
