// Whoever of viaduct-run's processes is killed, whenever: nothing of the job is left within 2 s.

#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "tests/fault/leftovers.hpp"
#include "tests/multiprocess/launcher_driver.hpp"

namespace {

using driver::Program;
using driver::Words;
using driver::operator+;

constexpr int kRanks = 3;

/// How many processes say that they are up: each rank, its child, its orphan, and the one without
/// environment.
int processes_of(const std::string& verb) { return kRanks * (verb == "children-cleared" ? 4 : 3); }

Words command(const std::string& tag, const std::string& verb) {
  return {driver::viaduct_run(),
          "-n",
          std::to_string(kRanks),
          driver::test_program("launcher_actor"),
          tag,
          verb};
}

struct Family {
  pid_t supervisor = 0;
  pid_t launcher = 0;
  pid_t watchdog = 0;
};

/// The supervisor's children: the launcher is made first, the watchdog second, and gets its name a
/// little later.
Family family_of(pid_t supervisor, const std::string& tag) {
  std::vector<pid_t> children = driver::processes_with(tag);
  const auto is_other = [&](pid_t pid) { return driver::parent_of(pid) != supervisor; };
  children.erase(std::remove_if(children.begin(), children.end(), is_other), children.end());
  std::sort(children.begin(), children.end());
  children.resize(2);
  return {supervisor, children[0], children[1]};
}

enum class Victim { launcher, supervisor, both, watchdog_then_launcher, watchdog_then_supervisor };

void kill_victim(Victim victim, const Family& family) {
  const auto end = [](pid_t pid) {
    if (pid > 0) ::kill(pid, SIGKILL);
  };
  if (victim == Victim::watchdog_then_launcher || victim == Victim::watchdog_then_supervisor)
    end(family.watchdog);
  if (victim == Victim::supervisor || victim == Victim::both ||
      victim == Victim::watchdog_then_supervisor)
    end(family.supervisor);
  if (victim == Victim::launcher || victim == Victim::both ||
      victim == Victim::watchdog_then_launcher) {
    end(family.launcher);
  }
}

std::string survivors(const std::string& tag) {
  std::string text;
  for (const pid_t pid : driver::processes_with(tag)) {
    text += std::to_string(pid) + " " + driver::name_of(pid) + " below " +
            std::to_string(driver::parent_of(pid)) + "; ";
  }
  return text;
}

struct Case {
  const char* name;
  Victim victim;
  const char* verb;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Killed : public testing::TestWithParam<Case> {};

/// Ranks that have children, sessions of their own and orphans, rank 0 stopped, all of it up and
/// running.
TEST_P(Killed, WhenAllIsUp) {
  const std::string tag = driver::new_tag();
  fault::Leftovers leftovers;
  Program program(command(tag, GetParam().verb));
  const int processes = processes_of(GetParam().verb);
  ASSERT_TRUE(program.wait_for("ready", processes));
  const Family family = family_of(program.pid(), tag);
  ASSERT_GT(family.launcher, 0);
  ASSERT_GT(family.watchdog, 0);
  ASSERT_EQ(driver::name_of(family.watchdog), "viaduct-watch");
  ASSERT_GE(driver::processes_with(tag).size(),
            3U + static_cast<unsigned>(processes));  // supervisor, launcher, watchdog
  kill_victim(GetParam().victim, family);
  EXPECT_TRUE(driver::all_gone(tag)) << survivors(tag);
  EXPECT_EQ(leftovers.find(tag, driver::patience_seconds()), "");
}

/// At random moments from the start on.
TEST_P(Killed, AtAnyMoment) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    const std::string tag = driver::new_tag();
    Program program(command(tag, GetParam().verb));
    const auto moment =
        std::chrono::microseconds(std::uniform_int_distribution<int>(500, 30000)(random));
    std::this_thread::sleep_for(moment);
    const Family family = family_of(program.pid(), tag);
    kill_victim(GetParam().victim, family);
    // So early there may have been no launcher to kill yet: then it is the supervisor's turn.
    if (family.launcher == 0) program.signal(SIGKILL);
    EXPECT_TRUE(driver::all_gone(tag))
        << "seed " << seed << ", after " << moment.count() << " us: " << survivors(tag);
  }
}

// With both gone at once, a child is known by its environment alone: one that has cleared it is
// beyond reach.
INSTANTIATE_TEST_SUITE_P(
    Each, Killed,
    testing::Values(
        Case{"launcher", Victim::launcher, "children-cleared"},
        Case{"supervisor", Victim::supervisor, "children-cleared"},
        Case{"both", Victim::both, "children"},
        Case{"watchdog_then_launcher", Victim::watchdog_then_launcher, "children-cleared"},
        Case{"watchdog_then_supervisor", Victim::watchdog_then_supervisor, "children-cleared"}),
    [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(Supervisor, SaysThatTheLauncherWasKilled) {
  const std::string tag = driver::new_tag();
  Program program(command(tag, "children"));
  ASSERT_TRUE(program.wait_for("ready", processes_of("children")));
  ::kill(family_of(program.pid(), tag).launcher, SIGKILL);
  const driver::Result result = program.finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_NE(result.err.find("the launcher process was killed by signal 9"), std::string::npos)
      << result.err;
}

TEST(Supervisor, StoppedLauncherEndsWithItsSupervisor) {
  const std::string tag = driver::new_tag();
  Program program(command(tag, "children"));
  ASSERT_TRUE(program.wait_for("ready", processes_of("children")));
  ::kill(family_of(program.pid(), tag).launcher, SIGSTOP);
  program.signal(SIGKILL);
  EXPECT_TRUE(driver::all_gone(tag)) << survivors(tag);
}

/// Without its watchdog a job goes on, and ends as it should.
TEST(Supervisor, AJobOutlivesItsWatchdog) {
  const std::string tag = driver::new_tag();
  Program program(command(tag, "children"));
  ASSERT_TRUE(program.wait_for("ready", processes_of("children")));
  ::kill(family_of(program.pid(), tag).watchdog, SIGKILL);
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish().code, 128 + SIGTERM);
  EXPECT_TRUE(driver::all_gone(tag)) << survivors(tag);
}

TEST(Supervisor, WatchdogEndsWithTheJob) {
  const std::string tag = driver::new_tag();
  Program program(command(tag, "ok"));
  EXPECT_EQ(program.finish().code, 0);
  EXPECT_TRUE(driver::all_gone(tag)) << survivors(tag);
}

/// Where SIGCHLD is ignored, the kernel reaps children without a word. The ranks find it ignored.
TEST(Supervisor, HearsOfEndsWhereSigchldWasIgnored) {
  const Words job{"/usr/bin/env", "--ignore-signal=CHLD", driver::viaduct_run(), "-n", "2"};
  EXPECT_EQ(Program(job + Words{"sh", "-c", "exit $((VIADUCT_RANK * 7))"}).finish().code, 7);
  const driver::Result result =
      Program(job + Words{"grep", "SigIgn:", "/proc/self/status"}).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(driver::count(result.out, "0000000000010000\n"), 2) << result.out;
}

/// A job started by a rank of another job goes when that one's supervisor and launcher go.
TEST(Supervisor, InnerJobEndsWithTheOuter) {
  const std::string tag = driver::new_tag();
  Program program({driver::viaduct_run(), "-n", "1", driver::viaduct_run(), "-n",
                   std::to_string(kRanks), driver::test_program("launcher_actor"), tag,
                   "children"});
  ASSERT_TRUE(program.wait_for("ready", processes_of("children")));
  kill_victim(Victim::both, family_of(program.pid(), tag));
  EXPECT_TRUE(driver::all_gone(tag)) << survivors(tag);
}

/// The same where the kernel refuses pidfds: by asking now and then.
TEST(Supervisor, WithoutPidfds) {
  for (const Victim victim : {Victim::launcher, Victim::supervisor, Victim::both}) {
    const std::string tag = driver::new_tag();
    Words words{driver::test_program("without_syscalls"), "pidfd_open"};
    const Words rest = command(tag, "children");
    words.insert(words.end(), rest.begin(), rest.end());
    Program program(words);
    if (!program.wait_for("ready", processes_of("children"))) {
      const driver::Result result = program.finish();
      if (result.code == 77) GTEST_SKIP() << "seccomp filters are refused here";
      FAIL() << result.err;
    }
    kill_victim(victim, family_of(program.pid(), tag));
    EXPECT_TRUE(driver::all_gone(tag)) << survivors(tag);
  }
}

}  // namespace
