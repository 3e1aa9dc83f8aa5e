#pragma once
/// @file
/// Which of two ways of doing the same is the faster one. Where the machine decides that, and the
/// answer may change while a program runs, both ways are tried now and then. Whether it pays to
/// hand lines over to another process (demote_line()) depends on how far the cores are from each
/// other: each MAP of Active Messages tries that, and each process of Split-C for its collectives.
/// Whether a short block of Split-C goes to another host by message or by RDMA depends on the
/// device.

#include <cstdint>

#include "viaduct/runtime/clock.hpp"

namespace viaduct {

/// Counts the turns in blocks. Each trial has eight short blocks, and every other one takes the
/// second way. Of each way the fastest block counts: another program's turn on the core spoils a
/// block or two, not four. The winner's way is taken for a long block.
class WayTrial {
 public:
  /// Called once a turn: whether it is to take the second way.  Never blocks.  Cost: a comparison
  /// and a store; the clock is read once in eight turns of a trial.
  [[nodiscard]] bool takes_second() noexcept {
    if (turns_left_ == 0) [[unlikely]]
      end_block();
    --turns_left_;
    return second_;
  }

  static constexpr std::uint32_t kBlocks = 8;
  static constexpr std::uint32_t kShortBlock = 8;  // turns
  /// Turns; odd, so that trials do not fall on the same turns of a program that repeats itself.
  static constexpr std::uint32_t kLongBlock = 4099;

 private:
  [[gnu::noinline]] void end_block() noexcept {
    const std::uint64_t now = ticks_now();
    std::uint64_t& least = least_[second_ ? 1 : 0];
    if (block_ != 0 && now - began_ < least) least = now - began_;
    if (block_ < kBlocks) {
      ++block_;
      second_ = !second_;
      turns_left_ = kShortBlock;
    } else {
      second_ = least_[1] < least_[0];
      block_ = 0;
      least_[0] = least_[1] = kNever;
      turns_left_ = kLongBlock;
    }
    began_ = now;
  }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint32_t turns_left_ = 0;
  std::uint32_t block_ = 0;  // 1 to kBlocks: of a trial; 0: the long one
  bool second_ = false;
  std::uint64_t began_ = 0;
  std::uint64_t least_[2] = {kNever, kNever};  // ticks of a short block: first way, second
};

}  // namespace viaduct
