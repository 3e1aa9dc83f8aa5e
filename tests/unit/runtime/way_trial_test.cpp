#include "viaduct/runtime/way_trial.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "viaduct/runtime/clock.hpp"

namespace viaduct {
namespace {

constexpr std::uint32_t kTrial = WayTrial::kBlocks * WayTrial::kShortBlock;

void spend(std::uint64_t ticks) {
  const std::uint64_t start = ticks_now();
  while (ticks_now() - start < ticks) {
  }
}

struct Costs {
  std::uint64_t first = 0;  // ticks of a turn
  std::uint64_t second = 0;
};

/// Takes turns, each of which costs what its way costs.  @return how many went the second way.
std::uint32_t take_turns(TurnTrial& trial, std::uint32_t turns, Costs costs) {
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < turns; ++i) {
    const bool now = trial.takes_second();
    taken += now ? 1 : 0;
    spend(now ? costs.second : costs.first);
  }
  return taken;
}

TEST(TurnTrial, TakesTheFasterWay) {
  for (const bool pays : {false, true}) {
    TurnTrial trial;
    const Costs costs = pays ? Costs{9'000, 3'000} : Costs{3'000, 9'000};
    EXPECT_EQ(take_turns(trial, kTrial, costs), kTrial / 2);
    EXPECT_EQ(take_turns(trial, WayTrial::kLongBlock, {}), pays ? WayTrial::kLongBlock : 0U);
  }
}

TEST(TurnTrial, DelaysInSomeBlocksDoNotCount) {
  TurnTrial trial;
  const Costs costs{9'000, 3'000};
  for (std::uint32_t block = 0; block < WayTrial::kBlocks; ++block) {
    if (block % 3 == 0) spend(300'000);  // behind a block: both ways are hit
    (void)take_turns(trial, WayTrial::kShortBlock, costs);
  }
  EXPECT_EQ(take_turns(trial, WayTrial::kLongBlock, {}), WayTrial::kLongBlock);
}

TEST(TurnTrial, ChangesItsMindWhenTheCostsChange) {
  TurnTrial trial;
  (void)take_turns(trial, kTrial, {9'000, 3'000});
  (void)take_turns(trial, WayTrial::kLongBlock, {});
  EXPECT_EQ(take_turns(trial, kTrial, {6'000, 18'000}), kTrial / 2);
  EXPECT_EQ(take_turns(trial, WayTrial::kLongBlock, {}), 0U);
}

/// Takes turns that say what they cost.  @return how many went the second way.
std::uint32_t add_turns(CostTrial& trial, std::uint32_t turns, Costs costs) {
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < turns; ++i) {
    const bool second = trial.takes_second();
    taken += second ? 1 : 0;
    trial.add(second ? costs.second : costs.first);
  }
  return taken;
}

TEST(CostTrial, TakesTheFasterWay) {
  for (const bool pays : {false, true}) {
    CostTrial trial;
    EXPECT_FALSE(trial.prefers_second());
    const Costs costs = pays ? Costs{3, 2} : Costs{2, 3};
    EXPECT_EQ(add_turns(trial, 1, costs), 0U);  // begins the first trial
    EXPECT_EQ(add_turns(trial, kTrial, costs), kTrial / 2);
    EXPECT_EQ(trial.prefers_second(), pays);
    EXPECT_EQ(add_turns(trial, CostTrial::kLongBlock, costs), pays ? CostTrial::kLongBlock : 0U);
  }
}

TEST(CostTrial, WhatIsBetweenTheTurnsDoesNotCount) {
  CostTrial trial;
  (void)add_turns(trial, 1, {});
  for (std::uint32_t block = 0; block < CostTrial::kBlocks; ++block) {
    if (block % 2 == 0) spend(100'000);  // always the same way is hit
    (void)add_turns(trial, CostTrial::kShortBlock, {9, 3});
  }
  EXPECT_TRUE(trial.prefers_second());
}

TEST(CostTrial, TheFastestBlockOfEachWayCounts) {
  CostTrial trial;
  (void)add_turns(trial, 1, {});
  constexpr std::uint32_t kLastOfSecond = CostTrial::kBlocks - 2;
  for (std::uint32_t block = 0; block < CostTrial::kBlocks; ++block)
    (void)add_turns(trial, CostTrial::kShortBlock,
                    block == kLastOfSecond ? Costs{9, 100} : Costs{9, 3});
  EXPECT_TRUE(trial.prefers_second());
}

TEST(CostTrial, PrefersWhatTheLastTrialHasFound) {
  CostTrial trial;
  (void)add_turns(trial, 1 + kTrial + CostTrial::kLongBlock, {9, 3});
  (void)add_turns(trial, 3 * CostTrial::kShortBlock, {3, 9});  // in the midst of the next one
  EXPECT_TRUE(trial.prefers_second());
  (void)add_turns(trial, kTrial, {3, 9});
  EXPECT_FALSE(trial.prefers_second());
}

}  // namespace
}  // namespace viaduct
