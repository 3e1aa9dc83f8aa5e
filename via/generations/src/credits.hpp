#pragma once
/// @file
/// The credits of one kind of message, in both directions of a MAP.
///
/// All counts are modulo 2^16, and their differences are at most the limit, which is far below
/// 2^15. Invariant: sent - known <= limit. The receiver posts a taken message's receive again
/// before it counts the message.

#include <cstdint>

namespace viaduct::via::generations {

class Credits {
 public:
  /// @p limit messages may be on their way.  Never blocks.
  explicit Credits(std::uint16_t limit) noexcept : limit_(limit) {}

  /// @return whether one more message may be sent.  Cost: two loads.
  [[nodiscard]] bool any() const noexcept { return sent_under_way() < limit_; }
  /// One message has been sent.  Precondition: any().
  void use() noexcept { ++sent_; }
  /// The peer says that it has taken @p taken messages.  @return false: it cannot have.
  [[nodiscard]] bool learn(std::uint16_t taken) noexcept {
    if (static_cast<std::uint16_t>(taken - known_) > sent_under_way()) return false;
    known_ = taken;
    return true;
  }
  /// One message of the peer's has been taken.  @return false: the peer had no credit for it.
  [[nodiscard]] bool take() noexcept {
    ++taken_;
    return owed() <= limit_;
  }
  /// @return the count that a message to the peer has in its head. The peer has been told, once
  /// that message goes: told().
  [[nodiscard]] std::uint16_t taken() const noexcept { return taken_; }
  /// A message that has taken() in its head has been sent.
  void told() noexcept { told_ = taken_; }
  /// @return whether a message of counts alone is due: more than half of the credits are owed. So
  /// at most one such message is on its way for each kind.
  [[nodiscard]] bool due() const noexcept { return 2 * owed() > limit_; }

 private:
  [[nodiscard]] std::uint16_t sent_under_way() const noexcept {
    return static_cast<std::uint16_t>(sent_ - known_);
  }
  [[nodiscard]] std::uint16_t owed() const noexcept {
    return static_cast<std::uint16_t>(taken_ - told_);
  }

  std::uint16_t limit_;
  std::uint16_t sent_ = 0;
  std::uint16_t known_ = 0;  // taken by the peer
  std::uint16_t taken_ = 0;
  std::uint16_t told_ = 0;
};

}  // namespace viaduct::via::generations
