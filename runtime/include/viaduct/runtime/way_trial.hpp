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

/// Counts turns in blocks. Each trial has eight short blocks, and every other one takes the second
/// way. Of each way the fastest block counts: another program's turn on the core spoils a block or
/// two, not four. The winner's way is taken for a long block. The classes below it differ in what
/// a block costs.
class WayTrial {
 public:
  static constexpr std::uint32_t kBlocks = 8;
  static constexpr std::uint32_t kShortBlock = 8;  // turns
  /// Turns; odd, so that trials do not fall on the same turns of a program that repeats itself.
  static constexpr std::uint32_t kLongBlock = 4099;

 protected:
  [[gnu::noinline]] void end_block(std::uint64_t ticks) noexcept {
    std::uint64_t& least = least_[second_ ? 1 : 0];
    if (block_ != 0 && ticks < least) least = ticks;
    if (block_ < kBlocks) {
      ++block_;
      second_ = !second_;
      turns_left_ = kShortBlock;
    } else {
      second_ = second_won_ = least_[1] < least_[0];
      block_ = 0;
      least_[0] = least_[1] = kNever;
      turns_left_ = kLongBlock;
    }
  }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint32_t turns_left_ = 0;
  std::uint32_t block_ = 0;  // 1 to kBlocks: of a trial; 0: the long one
  bool second_ = false;
  bool second_won_ = false;                    // the last trial
  std::uint64_t least_[2] = {kNever, kNever};  // ticks of a short block: first way, second
};

/// Of turns whose own time is not known, as messages that are sent: a block costs the time from
/// its first turn to the next block's.
class TurnTrial final : public WayTrial {
 public:
  /// Called once a turn: whether it is to take the second way.  Never blocks.  Cost: a comparison
  /// and a store; the clock is read once in eight turns of a trial.
  [[nodiscard]] bool takes_second() noexcept {
    if (turns_left_ == 0) [[unlikely]]
      start_block();
    --turns_left_;
    return second_;
  }

 private:
  [[gnu::noinline]] void start_block() noexcept {
    const std::uint64_t now = ticks_now();
    end_block(now - began_);
    began_ = now;
  }

  std::uint64_t began_ = 0;
};

/// Of turns that are measured one by one: what the program does between them does not count.
class CostTrial final : public WayTrial {
 public:
  /// @return whether the next turn is to take the second way; add() is to follow.  Cost: a load.
  [[nodiscard]] bool takes_second() const noexcept { return second_; }
  /// @return whether the second way was the faster one in the last trial. False: there was none.
  [[nodiscard]] bool prefers_second() const noexcept { return second_won_; }
  /// Behind a turn, which took @p ticks.  Cost: two additions.
  void add(std::uint64_t ticks) noexcept {
    spent_ += ticks;
    if (turns_left_ > 1) [[likely]] {
      --turns_left_;
    } else {
      end_block(spent_);
      spent_ = 0;
    }
  }

 private:
  std::uint64_t spent_ = 0;  // in this block
};

}  // namespace viaduct
