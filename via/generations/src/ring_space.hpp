#pragma once
/// @file
/// The account that the sender of generation v2 keeps of the ring at its receiver: the sender alone
/// decides which bytes a message takes (docs/generations.md; tests/model/amvia_ring.pml).

#include <cstdint>
#include <optional>
#include <vector>

namespace viaduct::via::generations {

/// Space is given in units. A message takes units that follow one another; the units that are left
/// over at the ring's end count as the next message's, so that they come back with it.
class RingSpace {
 public:
  static constexpr std::uint32_t kUnitBytes = 64;
  /// A ring of @p units for @p messages at once: so many receives has the receiver posted.
  /// Precondition: @p messages is a power of two.
  RingSpace(std::uint32_t units, std::uint32_t messages) : units_(units), lengths_(messages) {}

  /// @return where a message of @p units goes; none: too few are free, or messages() are under way.
  /// Changes nothing.
  [[nodiscard]] std::optional<std::uint32_t> place(std::uint32_t units) const noexcept {
    if (sent_ - returned_ == messages()) return {};
    const std::uint32_t skipped = skip(units);
    if (used_ + skipped + units > units_) return {};
    return skipped == 0 ? tail_ : 0;
  }
  /// The message of @p units at place() has been sent.  Precondition: place() has answered.
  void use(std::uint32_t units) noexcept {
    const std::uint32_t taken = skip(units) + units;
    lengths_[sent_++ & (messages() - 1)] = static_cast<std::uint16_t>(taken);
    used_ += taken;
    tail_ = (tail_ + taken) % units_;
  }
  /// The receiver has taken all messages up to number @p count, modulo 2^32.  @return false: it
  /// cannot have.
  [[nodiscard]] bool give(std::uint32_t count) noexcept {
    if (count - returned_ > sent_ - returned_) return false;
    while (returned_ != count) used_ -= lengths_[returned_++ & (messages() - 1)];
    return true;
  }
  [[nodiscard]] std::uint32_t units() const noexcept { return units_; }
  [[nodiscard]] std::uint32_t messages() const noexcept {
    return static_cast<std::uint32_t>(lengths_.size());
  }
  /// @return the number of messages that the receiver is known to have taken, modulo 2^32.
  [[nodiscard]] std::uint32_t returned() const noexcept { return returned_; }

 private:
  /// Units at the end that a message of @p units leaves out.
  [[nodiscard]] std::uint32_t skip(std::uint32_t units) const noexcept {
    return tail_ + units > units_ ? units_ - tail_ : 0;
  }

  std::uint32_t units_;
  std::uint32_t tail_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t sent_ = 0;
  std::uint32_t returned_ = 0;
  std::vector<std::uint16_t> lengths_;
};

}  // namespace viaduct::via::generations
