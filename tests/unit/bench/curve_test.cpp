#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/common/app_list.hpp"
#include "benchmarks/common/child.hpp"
#include "benchmarks/common/curve.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

using Sizes = std::vector<std::size_t>;
using Bandwidths = std::vector<double>;

TEST(Plateau, IsTheHighestWhereverItIs) {
  EXPECT_EQ(plateau(Bandwidths{1, 9, 4}), 9);
  EXPECT_EQ(plateau(Bandwidths{}), 0);
}

TEST(NHalf, OfALatencyAndABandwidthIsTheirProduct) {
  // 2 us and 4 GB/s: half of the bandwidth at 8000 bytes.
  Sizes sizes;
  Bandwidths curve;
  for (std::size_t size = 8; size <= std::size_t{1} << 30; size *= 2) {
    sizes.push_back(size);
    const auto bytes = static_cast<double>(size);
    curve.push_back(bytes / (2000 + bytes / 4));
  }
  EXPECT_NEAR(n_half(sizes, curve), 8000, 100);
}

TEST(NHalf, IsFoundOnALogarithmicAxis) {
  EXPECT_DOUBLE_EQ(n_half(Sizes{16, 64}, Bandwidths{2, 8}), 16 * std::pow(4, 1.0 / 3));
  EXPECT_DOUBLE_EQ(n_half(Sizes{16, 64, 256}, Bandwidths{1, 4, 8}), 64);
}

TEST(NHalf, IsTheFirstSizeWhereThatIsEnough) {
  EXPECT_EQ(n_half(Sizes{16, 64}, Bandwidths{5, 8}), 16);
  EXPECT_EQ(n_half(Sizes{16}, Bandwidths{5}), 16);
}

TEST(NHalf, NeedsABandwidthForEachSize) {
  EXPECT_THROW((void)n_half(Sizes{16, 64}, Bandwidths{5}), std::invalid_argument);
  EXPECT_THROW((void)n_half(Sizes{}, Bandwidths{}), std::invalid_argument);
}

TEST(SizeName, HasTheGreatestUnitThatIsWhole) {
  EXPECT_EQ(size_name(8), "8b");
  EXPECT_EQ(size_name(1024), "1k");
  EXPECT_EQ(size_name(1536), "1536b");
  EXPECT_EQ(size_name(std::size_t{64} << 20), "64m");
}

TEST(AppOutput, HasATimeAndPerhapsItsVerdict) {
  const auto result = parse_app_output(
      "1000 keys\ntime 0.1250 s, rate 8000 keys/s, 2 processes\nverified: 1000 keys\n");
  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->seconds, 0.125);
  EXPECT_TRUE(result->verified);
  EXPECT_FALSE(parse_app_output("time 1 s, rate 1 x/s\nNOT verified: 1 of 2\n")->verified);
  EXPECT_FALSE(parse_app_output("time 1 s, rate 1 x/s\nit was verified: yes\n")->verified);
}

TEST(AppOutput, WithoutATimeIsNone) {
  EXPECT_FALSE(parse_app_output("").has_value());
  EXPECT_FALSE(parse_app_output("verified: all\n").has_value());
  EXPECT_FALSE(parse_app_output("timeless 3 s\n").has_value());
  EXPECT_FALSE(parse_app_output("time 3 hours\n").has_value());
}

TEST(RunChild, AnswersWhatItSaidAndHowItEnded) {
  const Ended well = run_child({"/bin/sh", "-c", "echo out; echo err >&2; cat"});
  EXPECT_EQ(well.code, 0);
  EXPECT_EQ(well.output, "out\nerr\n");  // and cat found no input
  EXPECT_EQ(run_child({"/bin/sh", "-c", "exit 7"}).code, 7);
  EXPECT_EQ(run_child({"/bin/sh", "-c", "kill -9 $$"}).code, 128 + 9);
  EXPECT_THROW((void)run_child({"/no/such/program"}), Error);
}

TEST(RunChild, TakesMoreThanAPipeHolds) {
  const Ended ended = run_child(
      {"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done"});
  EXPECT_EQ(ended.output.size(), 20000U * 11);
}

}  // namespace
}  // namespace viaduct::bench
