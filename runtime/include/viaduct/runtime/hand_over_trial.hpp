#pragma once
/// @file
/// Whether it pays to hand lines over to another process (demote_line()). That costs some 10 ns for
/// each line, and saves a part of the way between the cores. How far the cores are from each other
/// may change while a program runs. So both ways are tried now and then: by each MAP of Active
/// Messages, and by each process of Split-C for its collectives.

#include <cstdint>

#include "viaduct/runtime/clock.hpp"

namespace viaduct {

/// Counts the turns of a conversation in blocks. Each trial has eight short blocks, with the lines
/// handed over in every other one. Of each kind the fastest block counts: another program's turn on
/// the core spoils a block or two, not four. The winner's way is taken for a long block.
class HandOverTrial {
 public:
  /// Called once a turn: whether its lines are to be handed over.  Never blocks.  Cost: a
  /// comparison and a store; the clock is read once in eight turns of a trial.
  [[nodiscard]] bool hands_over() noexcept {
    if (turns_left_ == 0) [[unlikely]]
      end_block();
    --turns_left_;
    return on_;
  }

  static constexpr std::uint32_t kBlocks = 8;
  static constexpr std::uint32_t kShortBlock = 8;  // turns
  /// Turns; odd, so that trials do not fall on the same turns of a program that repeats itself.
  static constexpr std::uint32_t kLongBlock = 4099;

 private:
  [[gnu::noinline]] void end_block() noexcept {
    const std::uint64_t now = ticks_now();
    std::uint64_t& least = least_[on_ ? 1 : 0];
    if (block_ != 0 && now - began_ < least) least = now - began_;
    if (block_ < kBlocks) {
      ++block_;
      on_ = !on_;
      turns_left_ = kShortBlock;
    } else {
      on_ = least_[1] < least_[0];
      block_ = 0;
      least_[0] = least_[1] = kNever;
      turns_left_ = kLongBlock;
    }
    began_ = now;
  }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint32_t turns_left_ = 0;
  std::uint32_t block_ = 0;  // 1 to kBlocks: of a trial; 0: the long one
  bool on_ = false;
  std::uint64_t began_ = 0;
  std::uint64_t least_[2] = {kNever, kNever};  // ticks of a short block, without and with
};

}  // namespace viaduct
