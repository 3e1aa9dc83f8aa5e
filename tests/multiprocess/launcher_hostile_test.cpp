// Ranks and other users that do their worst to the launcher and the agents.

#include <gtest/gtest.h>
#include <csignal>

#include "tests/multiprocess/launcher_meeting.hpp"

namespace {

using driver::agent_beside;
using driver::has;
using driver::Meeting;
using driver::Program;
using driver::Result;
using driver::Words;

Result scribbled(int seed, const std::string& where, const std::string& then) {
  const std::string tag = driver::new_tag();
  Program job({driver::viaduct_run(), "-n", "3", driver::test_program("launcher_actor"), tag,
               "scribble", std::to_string(seed), where, then});
  Result result = job.finish();
  EXPECT_TRUE(driver::all_gone(tag, 0)) << "processes are left";
  return result;
}

TEST(JobPage, RandomBytesEndTheJobAndNotTheLauncher) {
  constexpr int kSeeds = 12;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Result result = scribbled(seed, "page", "exit");
    EXPECT_EQ(result.code, 125) << result.err;
    EXPECT_TRUE(has(result.err, "viaduct-run: the job page holds nonsense (its head, 3 records)"))
        << result.err;
    EXPECT_FALSE(has(result.err, "the launcher process was killed")) << result.err;
  }
}

TEST(JobPage, TheRankOfADamagedRecordIsNamed) {
  for (const char* then : {"exit", "hang"}) {
    const Result result = scribbled(100, "record", then);
    EXPECT_EQ(result.code, 125) << result.err;
    EXPECT_TRUE(has(result.err, "viaduct-run: rank 1's record in the job page holds nonsense"))
        << result.err;
  }
}

TEST(JobPage, NobodyIsKilledOnItsWord) {
  Program victim({"/bin/sleep", "600"});
  Meeting meeting(2, {"name-victim", std::to_string(victim.pid())});
  const Program& first = meeting.start(0, 0);
  Program& second = meeting.start(1, 0);
  ASSERT_TRUE(second.wait_for("ready"));
  ::kill(agent_beside(meeting.tag(), {first.pid(), second.pid()}), SIGKILL);
  for (const Result& result : meeting.finish()) EXPECT_EQ(result.code, 128 + SIGKILL) << result.err;
  victim.signal(SIGTERM);
  EXPECT_EQ(victim.finish().code, 128 + SIGTERM) << "the agent's guard has killed it";
}

}  // namespace
