// The name of provider fault, and the sequences by which it decides what fails.

#include "via/fault/src/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::fault {
namespace {

TEST(FaultPlan, ReadsEverySetting) {
  const Plan plan = read_plan(
      "fault(verbs:soft0,o_s=1,o_r=2.5,L=3000,g=4,G=0.25,drop=0.1,duplicate=0.2,corrupt=0.3,"
      "error=0.4,disconnect=0.5,full=0.6,refuse=1,seed=18446744073709551615)");
  EXPECT_EQ(plan.provider, "verbs:soft0");
  EXPECT_EQ(plan.seed, 18'446'744'073'709'551'615U);
  EXPECT_EQ(plan.send_ns, 1);
  EXPECT_EQ(plan.receive_ns, 2.5);
  EXPECT_EQ(plan.latency_ns, 3000);
  EXPECT_EQ(plan.gap_ns, 4);
  EXPECT_EQ(plan.byte_ns, 0.25);
  const std::vector<std::pair<Kind, double>> chances{
      {Kind::drop, 0.1},       {Kind::duplicate, 0.2}, {Kind::corrupt, 0.3}, {Kind::error, 0.4},
      {Kind::disconnect, 0.5}, {Kind::full, 0.6},      {Kind::refuse, 1}};
  ASSERT_EQ(chances.size(), kKinds);
  for (const auto& [kind, chance] : chances) EXPECT_EQ(plan.chance_of(kind), chance);
  EXPECT_TRUE(plan.delays());
}

TEST(FaultPlan, WithoutSettingsNothingHappens) {
  const Plan plan = read_plan("fault(shm)");
  EXPECT_EQ(plan.provider, "shm");
  EXPECT_FALSE(plan.delays());
  Dice dice(plan, 0);
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    EXPECT_FALSE(dice.falls_on(static_cast<Kind>(kind)));
  EXPECT_EQ(read_plan("fault(shm,o=7)").send_ns, 7);
  EXPECT_EQ(read_plan("fault(shm,o=7)").receive_ns, 7);
}

TEST(FaultPlan, AroundAnotherOne) {
  const Plan outer = read_plan("fault(fault(shm,L=2000,g=5),drop=0.5)");
  EXPECT_EQ(outer.provider, "fault(shm,L=2000,g=5)");
  EXPECT_EQ(outer.latency_ns, 0);
  EXPECT_EQ(outer.chance_of(Kind::drop), 0.5);
  EXPECT_EQ(read_plan(outer.provider).latency_ns, 2000);
}

TEST(FaultPlan, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"fault(", "write fault(PROVIDER)"},
      {"fault()", "write fault(PROVIDER)"},
      {"fault(shm", "write fault(PROVIDER)"},
      {"fault(shm))", "write fault(PROVIDER)"},
      {"fault(shm,L)", "\"L\" is no setting: write KEY=VALUE"},
      {"fault(shm,)", "\"\" is no setting"},
      {"fault(shm,X=1)", "there is no setting \"X\"; there are o, o_s, o_r, L, g, G, drop,"},
      {"fault(shm,L=)", "L is \"\": give nanoseconds from 0 to"},
      {"fault(shm,L=-1)", "L is \"-1\": give nanoseconds"},
      {"fault(shm,L=2us)", "L is \"2us\""},
      {"fault(shm,L=nan)", "L is \"nan\""},
      {"fault(shm,drop=1.5)", "drop is \"1.5\": give a probability from 0 to 1"},
      {"fault(shm,seed=-3)", "seed is \"-3\": give a whole number"},
      {"fault(shm,seed=1e3)", "seed is \"1e3\""},
      {"fault(shm,L=5,L=6)", "L is given twice"},
      {"fault(shm,o=5,L=1,o_r=6)", "o_r is given twice"}};
  for (const auto& [name, sentence] : cases) {
    try {
      (void)read_plan(name);
      ADD_FAILURE() << name << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(error.sentence().find(sentence), std::string::npos)
          << name << " says: " << error.sentence();
      EXPECT_NE(error.sentence().find("\"" + name + "\""), std::string::npos);
    }
    EXPECT_NE(config::provider_problem(name), "");
  }
}

TEST(FaultPlan, IsAProvider) {
  for (const char* name : {"shm", "fault(shm)", "fault(fault(shm,L=1),G=2)", "fault(verbs:mlx5_0)"})
    EXPECT_EQ(config::provider_problem(name), "") << name;
  for (const char* name :
       {"", "fault", "fault(myrinet)", "fault(fault(myrinet))", "shm:1", "verbs:", "fault(verbs:)"})
    EXPECT_NE(config::provider_problem(name), "") << name;
}

std::string decisions(const std::string& name, std::uint32_t rank, Kind kind) {
  const Plan plan = read_plan(name);
  Dice dice(plan, rank);
  std::string all;
  for (int i = 0; i < 200; ++i) all += dice.falls_on(kind) ? '1' : '0';
  return all;
}

TEST(FaultPlan, TheSeedDecides) {
  const std::string first = decisions("fault(shm,drop=0.3,seed=7)", 0, Kind::drop);
  EXPECT_EQ(first, decisions("fault(shm,drop=0.3,seed=7)", 0, Kind::drop));
  EXPECT_NE(first, decisions("fault(shm,drop=0.3,seed=8)", 0, Kind::drop));
  EXPECT_NE(first, decisions("fault(shm,drop=0.3,seed=7)", 1, Kind::drop));
  // Another kind beside it changes nothing.
  EXPECT_EQ(first, decisions("fault(shm,drop=0.3,error=0.5,seed=7)", 0, Kind::drop));
  const auto count = std::count(first.begin(), first.end(), '1');
  EXPECT_GT(count, 30);
  EXPECT_LT(count, 90);
}

}  // namespace
}  // namespace viaduct::via::fault
