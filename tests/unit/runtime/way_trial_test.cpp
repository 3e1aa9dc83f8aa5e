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
std::uint32_t take_turns(WayTrial& trial, std::uint32_t turns, Costs costs) {
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < turns; ++i) {
    const bool now = trial.takes_second();
    taken += now ? 1 : 0;
    spend(now ? costs.second : costs.first);
  }
  return taken;
}

TEST(WayTrial, TakesTheFasterWay) {
  for (const bool pays : {false, true}) {
    WayTrial trial;
    const Costs costs = pays ? Costs{9'000, 3'000} : Costs{3'000, 9'000};
    EXPECT_EQ(take_turns(trial, kTrial, costs), kTrial / 2);
    EXPECT_EQ(take_turns(trial, WayTrial::kLongBlock, {}), pays ? WayTrial::kLongBlock : 0U);
  }
}

TEST(WayTrial, DelaysInSomeBlocksDoNotCount) {
  WayTrial trial;
  const Costs costs{9'000, 3'000};
  for (std::uint32_t block = 0; block < WayTrial::kBlocks; ++block) {
    if (block % 3 == 0) spend(300'000);  // behind a block: both ways are hit
    (void)take_turns(trial, WayTrial::kShortBlock, costs);
  }
  EXPECT_EQ(take_turns(trial, WayTrial::kLongBlock, {}), WayTrial::kLongBlock);
}

TEST(WayTrial, ChangesItsMindWhenTheCostsChange) {
  WayTrial trial;
  (void)take_turns(trial, kTrial, {9'000, 3'000});
  (void)take_turns(trial, WayTrial::kLongBlock, {});
  EXPECT_EQ(take_turns(trial, kTrial, {6'000, 18'000}), kTrial / 2);
  EXPECT_EQ(take_turns(trial, WayTrial::kLongBlock, {}), 0U);
}

}  // namespace
}  // namespace viaduct
