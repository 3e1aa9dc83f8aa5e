// A Job's life as seen from outside: how it finds its launcher, its bootstrap, its settings, its
// counters.

#include <gtest/gtest.h>
#include <csignal>

#include "tests/multiprocess/launcher_driver.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace {

using driver::Environment;
using driver::has;
using driver::launched;
using driver::Program;
using driver::Result;
using driver::Words;

/// The actor without a launcher.
Result alone(const Words& verb, const Environment& environment = {}) {
  Words words{driver::test_program("launcher_actor"), driver::new_tag()};
  words.insert(words.end(), verb.begin(), verb.end());
  return Program(words, environment).finish();
}

// --- environment ---------------------------------------------------------------------------------

TEST(Environment, NoLauncherIsAJobOfOne) {
  const Result result = alone({"describe"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "rank 0 of 1")) << result.out;
}

TEST(Environment, AnotherParallelEnvironmentIsAnErrorWithItsRemedy) {
  const std::vector<std::pair<std::string, Environment>> present{
      {"PMIX_NAMESPACE", {{"PMIX_NAMESPACE", "space"}}},
      {"PMI_RANK", {{"PMI_RANK", "0"}}},
      {"OMPI_COMM_WORLD_SIZE", {{"OMPI_COMM_WORLD_SIZE", "2"}}},
      {"SLURM_STEP_ID", {{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}}}};
  for (const auto& [variable, environment] : present) {
    const Result result = alone({"describe"}, environment);
    EXPECT_EQ(result.code, 1) << variable;
    EXPECT_TRUE(has(result.err, variable + "=")) << result.err;
    EXPECT_TRUE(has(result.err, "start it with viaduct-run")) << result.err;
  }
}

TEST(Environment, WhatIsNoParallelEnvironment) {
  const std::vector<Environment> absent{{{"OMPI_COMM_WORLD_SIZE", "1"}},
                                        {{"SLURM_JOB_ID", "17"}, {"SLURM_NTASKS", "4"}},
                                        {{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "1"}},
                                        {{"SLURM_STEP_ID", "0"}}};
  for (const Environment& environment : absent) {
    EXPECT_EQ(alone({"ok"}, environment).code, 0) << environment.front().first;
  }
}

TEST(Environment, ViaductRunWinsOverOthers) {
  EXPECT_EQ(launched({"-n", "2"}, {"ok"}, {{"PMI_RANK", "0"}}).code, 0);
}

TEST(Environment, ProgramStartedByARankIsNotThatRank) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "2", "--mode", mode}, {"nested"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "this process was started by a rank of a job but is not that rank"))
        << result.err;
  }
}

TEST(Environment, ImpossibleLaunchVariables) {
  const std::vector<Environment> bad{
      {{"VIADUCT_JOB_ID", "x"}},
      {{"VIADUCT_JOB_ID", "x"}, {"VIADUCT_SIZE", "0"}},
      {{"VIADUCT_JOB_ID", "x"}, {"VIADUCT_SIZE", "-3"}},
      {{"VIADUCT_JOB_ID", "x"}, {"VIADUCT_SIZE", "99999999999"}},
      {{"VIADUCT_JOB_ID", "x"}, {"VIADUCT_SIZE", "2"}, {"VIADUCT_PAGE_FD", "77"}},
      {{"VIADUCT_JOB_ID", "x"},
       {"VIADUCT_SIZE", "2"},
       {"VIADUCT_PAGE_FD", "0"},
       {"VIADUCT_RANK", "2"}},
      {{"VIADUCT_JOB_ID", "x"},
       {"VIADUCT_SIZE", "2"},
       {"VIADUCT_PAGE_FD", "0"},
       {"VIADUCT_RANK", "1"},
       {"VIADUCT_BOOTSTRAP_FD", "1"}},
      {{"VIADUCT_JOB_ID", "x"},
       {"VIADUCT_SIZE", "2"},
       {"VIADUCT_PAGE_FD", "0"},
       {"VIADUCT_MODE", "threads"}}};
  for (const Environment& environment : bad) {
    const Result result = alone({"ok"}, environment);
    EXPECT_EQ(result.code, 1) << environment.back().first << " " << result.err;
    EXPECT_TRUE(has(result.err, "viaduct: error:")) << result.err;
  }
}

TEST(Environment, OwnJobNeedsRunForThreads) {
  EXPECT_EQ(launched({"-n", "3"}, {"direct"}).code, 0);
  EXPECT_EQ(launched({"-n", "1", "--mode", "threads"}, {"direct"}).code, 0);
  const Result result = launched({"-n", "3", "--mode", "threads"}, {"direct"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.err, "let it call viaduct::run(), or start it with --mode processes"))
      << result.err;
}

TEST(Environment, SecondJobIsRefused) {
  const Result result = launched({"-n", "2"}, {"second"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "cannot have a second Job")) << result.err;
}

// --- settings ------------------------------------------------------------------------------------

TEST(Settings, UnknownVariableIsNamedOnceWithTheNearest) {
  const Result result = launched({"-n", "3"}, {"ok"}, {{"VIADUCT_SPIN_N", "1"}});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(
      driver::count(result.err,
                    "VIADUCT_SPIN_N is not a variable that Viaduct knows; it is ignored. Did you "
                    "mean VIADUCT_SPIN_NS?"),
      1)
      << result.err;
}

TEST(Settings, BadValueSaysWhatIsAccepted) {
  for (const char* value : {"", "x", "-1", "1.5", "10q", "99999999999999999999", "61s"}) {
    const Result result = alone({"ok"}, {{"VIADUCT_SPIN_NS", value}});
    EXPECT_EQ(result.code, 1) << value;
    EXPECT_TRUE(has(result.err, std::string("VIADUCT_SPIN_NS=") + value + " is not accepted"))
        << result.err;
    EXPECT_TRUE(has(result.err, "a time (suffixes ns, us, ms, s) from 0 to 60s, or auto"))
        << result.err;
  }
}

TEST(Settings, WaitsSpinOnlyWithACoreForEachRank) {
  EXPECT_TRUE(has(alone({"describe"}).out, "spins"));
  EXPECT_EQ(driver::count(launched({"-n", "4"}, {"describe"}, {{"VIADUCT_SPIN_NS", "10us"}}).out,
                          "spins"),
            4);
  const Result crowded =
      Program({"/usr/bin/taskset", "-c", "0", driver::viaduct_run(), "-n", "2",
               driver::test_program("launcher_actor"), driver::new_tag(), "describe"})
          .finish();
  EXPECT_EQ(driver::count(crowded.out, "yields"), 2) << crowded.out << crowded.err;
}

TEST(Settings, WindowTooLargeForTheAddressSpace) {
  const std::string script = "ulimit -v 4000000; exec \"$0\" tag ok";
  const Result result =
      Program({"/bin/sh", "-c", script, driver::test_program("launcher_actor")}).finish();
  if (has(result.err, "Sanitizer")) GTEST_SKIP() << "a sanitizer needs the address space";
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "cannot map a shared window of 17179869184 bytes")) << result.err;
  EXPECT_TRUE(has(result.err, "VIADUCT_SHM_WINDOW")) << result.err;
  EXPECT_TRUE(has(result.err, "[VIA-0204]")) << result.err;
}

TEST(Settings, WithoutMembarrierTheJobKnows) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result =
        Program({driver::test_program("without_syscalls"), "membarrier", driver::viaduct_run(),
                 "-n", "2", "--mode", mode, driver::test_program("launcher_actor"),
                 driver::new_tag(), "describe"})
            .finish();
    if (result.code == 77) GTEST_SKIP() << "seccomp filters are refused here";
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(driver::count(result.out, "no-membarrier"), 2) << result.out;
  }
}

// --- bootstrap and windows -----------------------------------------------------------------------

class Ranks : public testing::TestWithParam<std::pair<int, const char*>> {
 protected:
  static Words options() {
    return {"-n", std::to_string(GetParam().first), "--mode", GetParam().second};
  }
};

TEST_P(Ranks, ExchangeBytesAndDescriptors) {
  const Result result = launched(options(), {"exchange"});
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_TRUE(has(result.out, "rank 0 has put nothing under \"nothing\" before the last fence"))
      << result.out;
}

TEST_P(Ranks, WriteIntoEachOthersWindows) {
  EXPECT_EQ(launched(options(), {"around", "50"}).code, 0);
}

TEST_P(Ranks, CountersMakeOneTable) {
  const int ranks = GetParam().first;
  const Result result = launched(options(), {"stats"}, {{"VIADUCT_STATS", "1"}});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(driver::count(result.err, "viaduct: counters of " + std::to_string(ranks) + " rank"), 1)
      << result.err;
  const std::string numbers = std::to_string(ranks * (ranks + 1) / 2);
  const std::size_t row = result.err.find("actor      things");
  ASSERT_NE(row, std::string::npos) << result.err;
  const std::string line = result.err.substr(row, result.err.find('\n', row) - row);
  EXPECT_TRUE(has(line, " " + numbers + " ")) << line;
  EXPECT_EQ(line.substr(line.rfind(' ') + 1), std::to_string(ranks)) << line;
}

INSTANTIATE_TEST_SUITE_P(Counts, Ranks,
                         testing::Values(std::pair(1, "processes"), std::pair(2, "processes"),
                                         std::pair(7, "processes"), std::pair(64, "processes"),
                                         std::pair(2, "threads"), std::pair(7, "threads")),
                         [](const auto& info) {
                           return info.param.second + std::to_string(info.param.first);
                         });

TEST(Bootstrap, LostRankEndsTheFenceOfTheOthers) {
  // Rank 1 never makes a Job; the others' constructors must not wait for it.
  const std::string script = "test $VIADUCT_RANK = 1 && exit 0; exec \"$0\" tag ok";
  const Result result = Program({driver::viaduct_run(), "-n", "3", "--keep-going", "/bin/sh", "-c",
                                 script, driver::test_program("launcher_actor")})
                            .finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(
      driver::count(result.err, "rank 1 was lost or ended its job before it reached the fence"), 2)
      << result.err;
}

TEST(Bootstrap, SurvivorsFinalize) {
  const Result result =
      launched({"-n", "7", "--keep-going"}, {"die", "3", std::to_string(SIGXCPU)});
  EXPECT_EQ(result.code, 128 + SIGXCPU);
  EXPECT_EQ(driver::count(result.out, "peer lost, lost, first 4"), 6) << result.out;
  EXPECT_EQ(driver::count(result.err, "viaduct-run: rank"), 1) << result.err;
}

TEST(Barrier, RankKilledOnItsWayInIsNotWaitedFor) {
  // Its ticket says that it has arrived, so that the survivors' first barrier is whole.
  const Result result =
      launched({"-n", "4", "--keep-going", "--timeout", "20"}, {"die-arriving", "2"});
  EXPECT_EQ(result.code, 128 + SIGKILL) << result.err;
  EXPECT_EQ(driver::count(result.out, "first ok, second peer lost"), 3) << result.out;
}

TEST(Barrier, SurvivorsAreToldEveryTime) {
  for (int round = 0; round < 10; ++round) {
    const Result result =
        launched({"-n", "4", "--keep-going", "--timeout", "20"}, {"die-twice", "2"});
    EXPECT_EQ(result.code, 128 + SIGKILL) << result.err;
    EXPECT_EQ(driver::count(result.out, "first peer lost, second peer lost"), 3) << result.out;
  }
}

// --- a rank's children ---------------------------------------------------------------------------

TEST(Fork, ChildrenAreRefusedWithAClearSentence) {
  const Result result = launched({"-n", "2"}, {"misuse"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> ends{"window_of code 42",   "barrier signal 6", "fence code 42",
                                      "destructor signal 6", "new Job code 42",  "exit code 7"};
  for (const std::string& end : ends)
    EXPECT_EQ(driver::count(result.out, end + "\n"), 2) << end << "\n" << result.out;
  EXPECT_TRUE(has(result.out, "Job::window_of was called in a child that the rank forked"))
      << result.out;
  EXPECT_TRUE(has(result.err, "must end with exec or _exit, not through the Job's destructor"))
      << result.err;
}

TEST(LongWait, IsReportedOnce) {
  const Result result = launched({"-n", "1"}, {"long-wait"}, {{"VIADUCT_HANG_REPORT", "20ms"}});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(driver::count(result.err, "a wait has lasted"), 1) << result.err;
  EXPECT_TRUE(has(result.err, "waiting for a message in a test's wait")) << result.err;
}

}  // namespace
