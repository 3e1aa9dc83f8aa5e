#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/expected.hpp"
#include "benchmarks/common/pair.hpp"
#include "benchmarks/common/yardsticks.hpp"

namespace viaduct::bench {
namespace {

constexpr double kSecond = 1e9;

TEST(Suspect, ARateIsSoBelowNineTenths) {
  const Expected rate{"r", 100, Better::higher, ""};
  EXPECT_TRUE(is_suspect(rate, 89.9));
  EXPECT_FALSE(is_suspect(rate, 90.1));
  EXPECT_FALSE(is_suspect(rate, 500));
}

TEST(Suspect, ATimeIsSoAboveOneOverNineTenths) {
  const Expected time{"t", 90, Better::lower, ""};
  EXPECT_TRUE(is_suspect(time, 100.1));
  EXPECT_FALSE(is_suspect(time, 99.9));
  EXPECT_FALSE(is_suspect(time, 1));
}

TEST(Suspect, ExpectedYardsticksHaveNamesOfTheirOwnAndPositiveValues) {
  std::set<std::string_view> names;
  for (const Expected& entry : expected_yardsticks()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_GT(entry.value, 0) << entry.name;
    EXPECT_EQ(expected_yardstick(entry.name)->value, entry.value);
  }
  EXPECT_TRUE(names.count("hand_over_ns") == 1 && names.count("ring_rate_mps") == 1);
  EXPECT_FALSE(expected_yardstick("no_such_yardstick").has_value());
}

TEST(JudgeRound, AQuietOneIsSound) {
  EXPECT_EQ(judge_round(140, 150, 0, kSecond), Verdict::sound);
  EXPECT_EQ(judge_round(60, 58, 3, kSecond / 1000), Verdict::sound);
}

TEST(JudgeRound, OneCoreForBothIsSeenBeforeOrAfter) {
  EXPECT_EQ(judge_round(25, 25, 0, kSecond), Verdict::shared_core);
  EXPECT_EQ(judge_round(140, 25, 0, kSecond), Verdict::shared_core);
  EXPECT_EQ(judge_round(25, 140, 0, kSecond), Verdict::shared_core);
}

TEST(JudgeRound, AChangeOfPaceIsAnInterruption) {
  EXPECT_EQ(judge_round(140, 260, 0, kSecond), Verdict::interrupted);
  EXPECT_EQ(judge_round(260, 140, 0, kSecond), Verdict::interrupted);
}

TEST(JudgeRound, SoIsACoreThatOthersTookAgainAndAgain) {
  EXPECT_EQ(judge_round(140, 140, 100, kSecond), Verdict::interrupted);
  EXPECT_EQ(judge_round(140, 140, 100, 10 * kSecond), Verdict::sound);
  EXPECT_EQ(judge_round(140, 140, 4, kSecond / 1000), Verdict::interrupted);
}

TEST(RoundsNote, IsSilentWhenNothingWasDiscarded) { EXPECT_EQ(Rounds{}.note(), ""); }

TEST(RoundsNote, CountsWhatWasDiscardedAndAdmitsWhenItWasUsed) {
  Rounds rounds;
  rounds.shared_core = 3;
  rounds.interrupted = 2;
  EXPECT_NE(rounds.note().find("3 rounds were discarded"), std::string::npos) << rounds.note();
  EXPECT_EQ(rounds.note().find("quiet machine"), std::string::npos);
  rounds.kept_unsound = true;
  EXPECT_NE(rounds.note().find("quiet machine"), std::string::npos) << rounds.note();
}

TEST(SumWords, AddsEveryWordOfAnyLength) {
  for (std::uint64_t words = 0; words < 40; ++words) {
    std::vector<std::uint64_t> data(words);
    for (std::uint64_t word = 0; word < words; ++word) data[word] = std::uint64_t{1} << word;
    const auto* const bytes = reinterpret_cast<const std::byte*>(data.data());
    EXPECT_EQ(sum_words(bytes, words * 8), (std::uint64_t{1} << words) - 1);
  }
}

TEST(RingLayouts, HaveDistinctNames) {
  std::set<std::string> names;
  for (const RingLayout layout : kRingLayouts) names.insert(to_string(layout));
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(names.count("unknown"), 0U);
}

}  // namespace
}  // namespace viaduct::bench
