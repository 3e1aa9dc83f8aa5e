// Counters: adding up sources, keeping what is removed, and the job's one table.

#include "viaduct/runtime/stats.hpp"

#include <gtest/gtest.h>
#include <array>
#include <sstream>

#include "runtime/src/stats_table.hpp"

namespace {

using viaduct::CounterName;
using viaduct::Stats;

constexpr std::array<CounterName, 2> kNames{{{"messages", "messages"}, {"bytes", "bytes"}}};

TEST(Stats, EqualCountersAddUpInTheOrderOfAdding) {
  std::array<std::uint64_t, 2> first{1, 10};
  const std::array<std::uint64_t, 2> second{2, 20};
  const std::array<std::uint64_t, 2> other{5, 50};
  Stats stats;
  stats.add("am", kNames, first);
  stats.add("shm", kNames, other);
  stats.add("am", kNames, second);
  first[0] = 4;  // values are read when asked for
  const auto rows = stats.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].layer, "am");
  EXPECT_EQ(rows[0].name, "messages");
  EXPECT_EQ(rows[0].value, 6U);
  EXPECT_EQ(rows[1].unit, "bytes");
  EXPECT_EQ(rows[1].value, 30U);
  EXPECT_EQ(rows[2].layer, "shm");
  EXPECT_EQ(rows[2].value, 5U);
}

TEST(Stats, RemovedSourcesKeepTheirFinalValues) {
  Stats stats;
  {
    const std::array<std::uint64_t, 2> values{3, 30};
    stats.add("am", kNames, values);
    stats.remove(values);
  }
  const std::array<std::uint64_t, 2> more{4, 40};
  stats.add("am", kNames, more);
  stats.remove(std::array<std::uint64_t, 1>{0});  // unknown: nothing happens
  const auto rows = stats.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].value, 7U);
  EXPECT_EQ(rows[1].value, 70U);
}

TEST(StatsTable, RowsSurviveTheirText) {
  const std::vector<Stats::Row> rows{{"am", "short requests", "messages", 18446744073709551615U},
                                     {"x", "y", "", 0}};
  const auto back = viaduct::unpack_rows(viaduct::pack_rows(rows));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].name, "short requests");
  EXPECT_EQ(back[0].value, 18446744073709551615U);
  EXPECT_EQ(back[1].unit, "");
}

TEST(StatsTable, NonsenseIsNoRow) {
  EXPECT_TRUE(viaduct::unpack_rows("nonsense\n\t\t\tx\na\tb\n").empty());
}

TEST(StatsTable, SumLeastAndGreatestOverRanks) {
  const std::string table =
      viaduct::format_stats({{{"am", "sent", "messages", 5}},
                             {{"am", "sent", "messages", 2}, {"am", "odd", "calls", 9}},
                             {{"am", "sent", "messages", 11}}});
  std::istringstream lines(table);
  std::string title;
  std::string heading;
  std::getline(lines, title);
  std::getline(lines, heading);
  EXPECT_EQ(title, "viaduct: counters of 3 ranks");
  std::string layer;
  std::string name;
  std::string unit;
  std::uint64_t sum = 0;
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;
  lines >> layer >> name >> unit >> sum >> least >> greatest;
  EXPECT_EQ(name, "sent");
  EXPECT_EQ(sum, 18U);
  EXPECT_EQ(least, 2U);
  EXPECT_EQ(greatest, 11U);
  lines >> layer >> name >> unit >> sum >> least >> greatest;
  EXPECT_EQ(name, "odd");
  EXPECT_EQ(sum, 9U);
}

}  // namespace
