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

TEST(RoundsNote, TellsOfSharedCores) {
  Rounds rounds;
  rounds.values = {{1, 2, 3}};
  rounds.shared_pipeline = 2;
  rounds.slowest = 1.84;
  EXPECT_EQ(
      rounds.note(),
      "in 2 of 3 rounds another program used one of the two cores, or its second hardware thread "
      "(instructions took up to 1.8 times as long): compare figures of runs without this "
      "note");
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

TEST(RoundsNote, TellsOfRoundsAtAnotherDistance) {
  Rounds rounds;
  rounds.values = {{1, 2, 3}};
  rounds.probe_ns = 52;
  rounds.elsewhere.emplace_back();
  rounds.elsewhere.back().values = {{9, 8}};
  rounds.elsewhere.back().probe_ns = 251;
  EXPECT_EQ(rounds.note(),
            "2 rounds with the cores at another distance (RTT/2 251 ns, not 52) are apart");
}

TEST(ByDistance, NearAndFarAreNeverInOneList) {
  using Lists = std::vector<std::vector<std::size_t>>;
  const auto sorted = [](std::vector<double> probes) { return by_distance(probes); };
  EXPECT_EQ(sorted({}), Lists{});
  EXPECT_EQ(sorted({52}), (Lists{{0}}));
  EXPECT_EQ(sorted({52, 250, 50, 54, 246}), (Lists{{0, 2, 3}, {1, 4}}));
  EXPECT_EQ(sorted({250, 52, 246, 140, 251}),
            (Lists{{0, 2, 4}, {1}, {3}}));  // the nearer one first
  // A row of small steps does not join what is far apart.
  EXPECT_EQ(sorted({50, 60, 70, 80, 90}), (Lists{{0, 1, 2}, {3, 4}}));
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
