#include "viaduct/runtime/hand_over_trial.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "viaduct/runtime/clock.hpp"

namespace viaduct {
namespace {

constexpr std::uint32_t kTrial = HandOverTrial::kBlocks * HandOverTrial::kShortBlock;

void spend(std::uint64_t ticks) {
  const std::uint64_t start = ticks_now();
  while (ticks_now() - start < ticks) {
  }
}

struct Costs {
  std::uint64_t without = 0;  // ticks of a turn
  std::uint64_t with = 0;
};

/// Takes turns, each of which costs what its way costs.  @return in how many lines were handed
/// over.
std::uint32_t take_turns(HandOverTrial& trial, std::uint32_t turns, Costs costs) {
  std::uint32_t handed_over = 0;
  for (std::uint32_t i = 0; i < turns; ++i) {
    const bool now = trial.hands_over();
    handed_over += now ? 1 : 0;
    spend(now ? costs.with : costs.without);
  }
  return handed_over;
}

TEST(HandOverTrial, TakesTheFasterWay) {
  for (const bool pays : {false, true}) {
    HandOverTrial trial;
    const Costs costs = pays ? Costs{9'000, 3'000} : Costs{3'000, 9'000};
    EXPECT_EQ(take_turns(trial, kTrial, costs), kTrial / 2);
    EXPECT_EQ(take_turns(trial, HandOverTrial::kLongBlock, {}),
              pays ? HandOverTrial::kLongBlock : 0U);
  }
}

TEST(HandOverTrial, DelaysInSomeBlocksDoNotCount) {
  HandOverTrial trial;
  const Costs costs{9'000, 3'000};
  for (std::uint32_t block = 0; block < HandOverTrial::kBlocks; ++block) {
    if (block % 3 == 0) spend(300'000);  // behind a block: both ways are hit
    (void)take_turns(trial, HandOverTrial::kShortBlock, costs);
  }
  EXPECT_EQ(take_turns(trial, HandOverTrial::kLongBlock, {}), HandOverTrial::kLongBlock);
}

TEST(HandOverTrial, ChangesItsMindWhenTheCostsChange) {
  HandOverTrial trial;
  (void)take_turns(trial, kTrial, {9'000, 3'000});
  (void)take_turns(trial, HandOverTrial::kLongBlock, {});
  EXPECT_EQ(take_turns(trial, kTrial, {6'000, 18'000}), kTrial / 2);
  EXPECT_EQ(take_turns(trial, HandOverTrial::kLongBlock, {}), 0U);
}

}  // namespace
}  // namespace viaduct
