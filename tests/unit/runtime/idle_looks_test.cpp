// How often looks in vain yield the core. The program has a sched_yield() of its own, which counts.

#include <gtest/gtest.h>

#include "viaduct/runtime/wait.hpp"

namespace {

int g_yields = 0;

}  // namespace

extern "C" int sched_yield() noexcept {
  ++g_yields;
  return 0;
}

namespace viaduct {
namespace {

int yields_of(std::uint64_t spin_ticks, int looks) {
  g_yields = 0;
  IdleLooks idle(WaitPolicy{spin_ticks, 0});
  for (int i = 0; i < looks; ++i) idle.pause();
  return g_yields;
}

TEST(IdleLooks, YieldOftenWhereRanksOutnumberCores) {
  EXPECT_EQ(yields_of(0, 63), 0);
  EXPECT_EQ(yields_of(0, 64), 1);
  EXPECT_EQ(yields_of(0, 6400), 100);
}

TEST(IdleLooks, YieldSeldomWhereEachRankHasACore) {
  EXPECT_EQ(yields_of(1000, 16'383), 0);
  EXPECT_EQ(yields_of(1000, 3 * 16'384), 3);
}

}  // namespace
}  // namespace viaduct
