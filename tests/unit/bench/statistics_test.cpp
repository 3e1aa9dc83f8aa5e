#include "benchmarks/common/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace viaduct::bench {
namespace {

TEST(Summarize, NothingIsAllZero) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.n, 0U);
  EXPECT_EQ(summary.min, 0);
  EXPECT_EQ(summary.median, 0);
  EXPECT_EQ(summary.p95, 0);
}

TEST(Summarize, OneSampleIsEverything) {
  const Summary summary = summarize(std::vector<double>{7});
  EXPECT_EQ(summary.n, 1U);
  EXPECT_EQ(summary.min, 7);
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.p95, 7);
}

TEST(Summarize, DoesNotDependOnTheOrder) {
  std::vector<double> samples{9, 1, 5, 3, 7};
  do {
    const Summary summary = summarize(samples);
    ASSERT_EQ(summary.min, 1);
    ASSERT_EQ(summary.median, 5);
    ASSERT_EQ(summary.p95, 9);
  } while (std::next_permutation(samples.begin(), samples.end()));
}

TEST(Summarize, ThePercentileIsTheSmallestSampleThat95PercentDoNotExceed) {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1.0);
  EXPECT_EQ(summarize(samples).p95, 95);
  samples.resize(20);
  EXPECT_EQ(summarize(samples).p95, 19);
  samples.resize(11);
  EXPECT_EQ(summarize(samples).p95, 11);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({}), 0);
}

TEST(MeanBetween, LeavesOutWhatLiesBeyond) {
  const std::vector<double> samples{100, 3, 1, 2, 4, 0, 5, 6, 7, 8};
  EXPECT_DOUBLE_EQ(mean_between(samples, 0.1, 0.9), (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) / 8.0);
  EXPECT_DOUBLE_EQ(mean_between(samples, 0, 0.5), 2);
  EXPECT_DOUBLE_EQ(mean_between(samples, 0, 1), 13.6);
}

TEST(MeanBetween, TakesAtLeastOneOfThoseThereAre) {
  EXPECT_EQ(mean_between({}, 0, 1), 0);
  EXPECT_EQ(mean_between(std::vector<double>{7}, 0, 0.5), 7);
  EXPECT_EQ(mean_between(std::vector<double>{7}, 0.9, 1), 7);
}

TEST(Ratios, AreTakenRoundByRound) {
  // The second half of the rounds ran at half the pace: the ratio is 1.1 in each, though that of
  // the medians is not.
  const std::vector<double> yardstick{100, 100, 200, 200, 200};
  const std::vector<double> values{110, 110, 220, 220, 220};
  for (const double ratio : ratios(values, yardstick)) EXPECT_DOUBLE_EQ(ratio, 1.1);
}

TEST(Ratios, RefuseRoundsThatDoNotMatch) {
  EXPECT_THROW(static_cast<void>(ratios(std::vector<double>{1}, std::vector<double>{1, 2})),
               std::invalid_argument);
}

}  // namespace
}  // namespace viaduct::bench
