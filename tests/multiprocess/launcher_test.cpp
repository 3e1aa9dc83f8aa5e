// viaduct-run's exit status, output and signals.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <csignal>

#include "tests/multiprocess/launcher_driver.hpp"

namespace {

using driver::command;
using driver::has;
using driver::launched;
using driver::launched_script;
using driver::Program;
using driver::Result;
using driver::Words;
using driver::operator+;

// --- exit status ---------------------------------------------------------------------------------

TEST(ExitStatus, ZeroWhenAllEndWell) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "4", "--mode", mode}, {"ok"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
  }
}

TEST(ExitStatus, FirstFailingRanksCode) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "3", "--mode", mode}, {"return", "2", "7"});
    EXPECT_EQ(result.code, 7);
    EXPECT_TRUE(has(result.err, "rank 2 (pid ")) << result.err;
    EXPECT_TRUE(has(result.err, "exited with code 7; it is the first to fail")) << result.err;
  }
}

TEST(ExitStatus, WhatIsNot0DoesNotBecome0) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "2", "--mode", mode}, {"return", "1", "256"});
    EXPECT_EQ(result.code, 1) << mode;
    EXPECT_TRUE(has(result.err, "exited with code 1; it is the first to fail")) << result.err;
  }
}

TEST(ExitStatus, ABodyThatEndsItsThreadIsTold) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "2", "--mode", mode}, {"exit-thread", "1"});
    EXPECT_NE(result.code, 0) << mode;
    EXPECT_TRUE(has(result.err, "[rank 1]")) << result.err;
    EXPECT_TRUE(has(result.err, "pthread_exit() has ended the program's body")) << result.err;
  }
}

TEST(ExitStatus, SignalIs128PlusItsNumber) {
  const Result result =
      launched({"-n", "3", "--keep-going"}, {"die", "1", std::to_string(SIGKILL)});
  EXPECT_EQ(result.code, 128 + SIGKILL);
  EXPECT_TRUE(has(result.err, "rank 1 (pid ")) << result.err;
  EXPECT_TRUE(has(result.err, "was killed by signal 9 (Killed); it is the first to fail"))
      << result.err;
  EXPECT_EQ(driver::count(result.out, "peer lost, lost, first 2"), 2) << result.out;
}

TEST(ExitStatus, ThreadsDieTogether) {
  const Result result =
      launched({"-n", "3", "--mode", "threads"}, {"die", "1", std::to_string(SIGKILL)});
  EXPECT_EQ(result.code, 128 + SIGKILL);
  EXPECT_TRUE(has(result.err, "the process of ranks 0 to 2 (pid ")) << result.err;
}

TEST(ExitStatus, TheThreadWhoseCodeItIsIsNamed) {
  // Both leave the Job's end at one moment, so either can be the first.
  for (int turn = 0; turn < 3; ++turn) {
    const Result result = launched({"-n", "2", "--mode", "threads"}, {"codes", "7", "5"});
    EXPECT_TRUE(has(result.err, result.code == 5 ? "rank 1 (pid " : "rank 0 (pid ")) << result.err;
    EXPECT_TRUE(result.code == 5 || result.code == 7) << result.code;
  }
  // A status has 8 bits of a code.
  const Result rest =
      launched({"-n", "2", "--mode", "threads", "--keep-going"}, {"desert", "1", "256"});
  EXPECT_EQ(rest.code, 1) << rest.err;
  EXPECT_TRUE(has(rest.err, "rank 1 (pid ") && has(rest.err, "exited with code 1")) << rest.err;
}

TEST(ExitStatus, RankThatLeaves) {
  const Result result = launched({"-n", "3", "--keep-going"}, {"leave", "2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "rank 2 (pid ")) << result.err;
  EXPECT_TRUE(has(result.err, "left: it exited with code 0 without finalizing its job"))
      << result.err;
  EXPECT_EQ(driver::count(result.out, "peer lost, lost, first 3"), 2) << result.out;
}

TEST(ExitStatus, RankThatClosesItsConnectionHasLeft) {
  const Result result = launched({"-n", "3"}, {"close-socket"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "rank 1 left: it closed its connection")) << result.err;
  const Result quiet = launched({"-n", "3", "--quiet"}, {"close-socket"});
  EXPECT_EQ(quiet.code, 1);
  EXPECT_FALSE(has(quiet.err, "viaduct-run: ")) << quiet.err;
}

TEST(ExitStatus, RankThatFailsIsNamedWithItsCodeThoughItsProcessEndsSlowly) {
  // Its process ends 1.5 s after its connection: later than the launcher waits for other ranks.
  for (const auto& [given, code] : {std::pair("7", "7"), std::pair("0", "1")}) {
    const Result unnoticed = launched({"-n", "3"}, {"fail-slowly", given, "unnoticed"});
    EXPECT_EQ(unnoticed.code, std::stoi(code)) << unnoticed.err;
    EXPECT_TRUE(has(unnoticed.err, std::string(") exited with code ") + code + "; it is the first"))
        << unnoticed.err;
    EXPECT_FALSE(has(unnoticed.err, "rank 1 left")) << unnoticed.err;
  }
}

TEST(ExitStatus, RankThatEndsSlowlyIsNamedBeforeThoseThatFailWithIt) {
  const Result noticed = launched({"-n", "3"}, {"fail-slowly", "7", "noticed"});
  EXPECT_EQ(noticed.code, 1) << noticed.err;
  EXPECT_TRUE(has(noticed.err, "rank 1 left: it closed its connection")) << noticed.err;
  EXPECT_FALSE(has(noticed.err, "it is the first to fail")) << noticed.err;
}

TEST(ExitStatus, ExceptionIsPrintedWithItsRank) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "3", "--mode", mode, "--keep-going"}, {"throw", "1"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "viaduct: [rank 1] error: thrown on purpose")) << result.err;
    EXPECT_TRUE(has(result.err, "rank 1 (pid ")) << result.err;
  }
}

TEST(ExitStatus, RankThatFailsWhileOthersWaitForItEndsTheJob) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result =
        launched({"-n", "3", "--mode", mode, "--timeout", "60"}, {"desert", "1", "7"});
    EXPECT_EQ(result.code, 7) << mode;
    EXPECT_TRUE(has(result.err, "rank 1 (pid ")) << result.err;
    EXPECT_TRUE(has(result.err, "exited with code 7; it is the first to fail")) << result.err;
  }
}

TEST(ExitStatus, SurvivorsOfARankThatFailsAreTold) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "3", "--mode", mode, "--timeout", "20", "--keep-going"},
                                   {"desert", "1", "7"});
    EXPECT_EQ(result.code, 7) << mode;
    EXPECT_EQ(driver::count(result.out, "deserted: peer lost"), 2) << mode << result.out;
    EXPECT_TRUE(has(result.err, "rank 1 (pid ")) << result.err;
  }
}

TEST(ExitStatus, BarrierWithARankThatHasEndedIsAnError) {
  for (const char* mode : {"processes", "threads"}) {
    const Result result = launched({"-n", "3", "--mode", mode, "--timeout", "20", "--keep-going"},
                                   {"desert", "1", "0"});
    EXPECT_EQ(result.code, 9) << mode;
    EXPECT_EQ(driver::count(result.out, "deserted: peer lost"), 2) << mode << result.out;
    EXPECT_EQ(driver::count(result.err, "barrier waits for rank 1, which has ended its job"), 2)
        << mode << result.err;
  }
}

TEST(ExitStatus, TimeLimit) {
  const Result result = launched({"-n", "2", "--timeout", "0.5"}, {"hang"});
  EXPECT_EQ(result.code, 124);
  EXPECT_TRUE(has(result.err, "the time limit of 0.5 s has passed")) << result.err;
  EXPECT_TRUE(has(result.err, "what each rank waits for:")) << result.err;
}

TEST(ExitStatus, ProgramsWithoutAJobAreFine) {
  EXPECT_EQ(launched_script({"-n", "3"}, "exit 0").code, 0);
  EXPECT_EQ(launched_script({"-n", "3"}, "exit 5").code, 5);
}

TEST(ExitStatus, MissingProgram) {
  const Result result = Program({driver::viaduct_run(), "-n", "2", "/nowhere/program"}).finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "cannot execute /nowhere/program: No such file or directory"))
      << result.err;
}

TEST(ExitStatus, MissingProgramWithoutAFolder) {
  const Result result = Program({driver::viaduct_run(), "no-such-program"}).finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "in no folder of PATH; one of this folder is ./no-such-program"))
      << result.err;
}

TEST(ExitStatus, ProgramThatMayNotBeExecuted) {
  const Result result = Program({driver::viaduct_run(), "/etc/passwd"}).finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "cannot execute /etc/passwd: Permission denied")) << result.err;
}

TEST(ExitStatus, QuietSaysNothingOfRanks) {
  const Result result = launched({"-n", "2", "--quiet"}, {"return", "0", "3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err, "");
}

// --- what kills the rest -------------------------------------------------------------------------

TEST(Failure, RestIsEnded) {
  const Result result = launched_script(
      {"-n", "4"}, "trap '' TERM; test $VIADUCT_RANK = 3 && exit 9; sleep 600 & wait");
  EXPECT_EQ(result.code, 9);
  EXPECT_LT(result.seconds, driver::kHangSeconds);
  EXPECT_TRUE(has(result.err, "ending the other 3 processes")) << result.err;
}

TEST(Failure, StoppedRanksEndToo) {
  const Result result =
      launched_script({"-n", "3"}, "test $VIADUCT_RANK = 0 && exit 9; kill -STOP $$; sleep 600");
  EXPECT_EQ(result.code, 9);
  EXPECT_LT(result.seconds, driver::kHangSeconds);
}

TEST(Failure, ChildrenLeftBehindEndWithTheJob) {
  const Result result = launched({"-n", "2"}, {"leave-child"});
  EXPECT_EQ(result.code, 0);
  EXPECT_LT(result.seconds, driver::kHangSeconds);
}

TEST(Failure, ChildrenWhoseFirstThreadHasEndedEndWithTheJob) {
  const Result result = launched({"-n", "1"}, {"leave-thread"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  ASSERT_TRUE(has(result.out, "child ")) << result.out;
  const pid_t child = std::stoi(result.out.substr(result.out.find("child ") + 6));
  if (::kill(child, SIGKILL) == 0) ADD_FAILURE() << "process " << child << " was left";
}

TEST(Failure, MalformedBytesNameTheRank) {
  for (int seed = 1; seed <= 10; ++seed) {
    const Result result = launched({"-n", "3"}, {"garbage", std::to_string(seed), "1"});
    EXPECT_EQ(result.code, 125) << "seed " << seed;
    EXPECT_TRUE(has(result.err, "rank 1 (pid ")) << result.err;
    EXPECT_TRUE(has(result.err, "to the launcher's socket, which only Viaduct may use"))
        << result.err;
  }
}

TEST(Failure, TooFewDescriptors) {
  const std::string script = "ulimit -n 40; exec " + driver::viaduct_run() + " -n 200 true";
  const Result result = Program({"/bin/sh", "-c", script}).finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "a job of 200 ranks needs 1032 file descriptors and the limit is 40"))
      << result.err;
}

TEST(Failure, ThreadsNeedFewDescriptors) {
  const std::string script =
      "ulimit -n 40; exec " + driver::viaduct_run() + " -n 200 --mode threads --label echo ran";
  const Result result = Program({"/bin/sh", "-c", script}).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "[0-199] ran\n");
}

// --- output and input ----------------------------------------------------------------------------

TEST(Label, LinesStayWholeAndNothingIsLost) {
  constexpr int kLines = 200;
  const Result result = launched({"-n", "3", "--label", "--keep-going", "--quiet"},
                                 {"lines", std::to_string(kLines)});
  EXPECT_EQ(result.code, 128 + SIGKILL);
  for (int rank = 0; rank < 3; ++rank) {
    const std::string label = fmt::format("[{}] ", rank);
    for (int i = 0; i < kLines; ++i) {
      const std::string line = fmt::format("line {} of rank {}\n", i, rank);
      EXPECT_EQ(driver::count(result.out, label + line), 1) << label << line;
    }
    EXPECT_EQ(driver::count(result.out, label + "no end\n"), 1)
        << result.out.substr(result.out.size() - 200);
    EXPECT_EQ(driver::count(result.err, label + "error "), kLines);
  }
  EXPECT_FALSE(has(result.out, "error")) << "the streams are mixed";
}

TEST(Label, GrandchildThatKeepsThePipeOpenIsNotWaitedFor) {
  const Result result = launched({"-n", "2", "--label"}, {"leave-child"});
  EXPECT_EQ(result.code, 0);
  EXPECT_LT(result.seconds, driver::kHangSeconds);
  EXPECT_TRUE(has(result.out, "[1] rank 1 ends\n")) << result.out;
}

TEST(Label, MuchOutputToASlowReader) {
  const Result result = launched_script(
      {"-n", "2", "--label"}, "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(driver::count(result.out, "\n"), 40000);
  EXPECT_EQ(driver::count(result.out, "[0] 19999\n"), 1);
}

/// The output of viaduct-run, as a shell sees it that reads with @p reader, and then its status.
Result run_piped(const std::string& options, const std::string& script, const std::string& reader) {
  const std::string tag = driver::new_tag();
  const std::string line =
      fmt::format("{{ '{}' {} sh -c '{}' {}; echo \"ended with $?\" >&2; }} | {}",
                  driver::viaduct_run(), options, script, tag, reader);
  Result result = Program({"/bin/sh", "-c", line}).finish();
  // The shell that ran the line has the tag in its own.
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  return result;
}

TEST(Label, RanksWhoseReaderHasGoneEndWithSigpipe) {
  const Result result = run_piped("-n 2 --label", "exec yes", "head -n 2");
  EXPECT_EQ(driver::count(result.out, "] y\n"), 2) << result.out;
  EXPECT_TRUE(has(result.err, "was killed by signal 13")) << result.err;
  EXPECT_TRUE(has(result.err, "ended with 141")) << result.err;
}

/// The reader is slower than the rank that writes, so that its pipe is never found empty.
TEST(Label, RankThatWritesWithoutEndLeavesTheOthersTheirTurn) {
  const Result result =
      run_piped("-n 2 --label", "test $VIADUCT_RANK = 0 && exec yes; echo heard; exec sleep 60",
                "while read -r line; do test \"$line\" != \"[1] heard\" || break; done");
  EXPECT_TRUE(has(result.err, "ended with 141")) << result.err;
}

TEST(Input, GoesToRank0Alone) {
  Program program(command({"-n", "3"}, driver::new_tag(), {"stdin"}));
  program.write_stdin("five\n");
  const Result result = program.finish();
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.out, "rank 0 read 5")) << result.out;
  EXPECT_TRUE(has(result.out, "rank 1 read 0")) << result.out;
  EXPECT_TRUE(has(result.out, "rank 2 read 0")) << result.out;
}

// --- signals -------------------------------------------------------------------------------------

TEST(Signals, AreForwarded) {
  const std::string tag = driver::new_tag();
  Program program(command({"-n", "2"}, tag, {"signals"}));
  ASSERT_TRUE(program.wait_for("ready", 2));
  for (const int number : {SIGUSR2, SIGHUP, SIGINT}) {
    program.signal(number);
    EXPECT_TRUE(program.wait_for("signal " + std::to_string(number) + "\n", 2)) << number;
  }
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish().code, 0);
}

TEST(Signals, SecondInterruptKills) {
  const std::string tag = driver::new_tag();
  Program program(command({"-n", "2"}, tag, {"signals"}));
  ASSERT_TRUE(program.wait_for("ready", 2));
  program.signal(SIGINT);
  ASSERT_TRUE(program.wait_for("signal 2\n", 2));
  program.signal(SIGINT);
  EXPECT_EQ(program.finish().code, 128 + SIGINT);
  EXPECT_TRUE(driver::all_gone(tag));
}

TEST(Signals, StopAndContinue) {
  const std::string tag = driver::new_tag();
  Program program(command({"-n", "1"}, tag, {"signals"}));
  ASSERT_TRUE(program.wait_for("ready", 1));
  program.signal(SIGTSTP);  // the rank takes it as any other; the supervisor itself stops
  ASSERT_TRUE(program.wait_for("signal " + std::to_string(SIGTSTP), 1));
  siginfo_t stopped{};  // only now: stopping would throw away a SIGCONT that is already there
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &stopped, WSTOPPED), 0);
  program.signal(SIGCONT);
  EXPECT_TRUE(program.wait_for("signal " + std::to_string(SIGCONT), 1));
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish().code, 0);
}

TEST(Signals, User1ReportsWhatEveryRankWaitsFor) {
  const std::string tag = driver::new_tag();
  Program program(command({"-n", "3"}, tag, {"hang"}));
  ASSERT_TRUE(program.wait_for("ready", 3));
  program.signal(SIGUSR1);
  ASSERT_TRUE(program.wait_for_error("last poll", 3));
  program.signal(SIGTERM);
  const Result result = program.finish();
  EXPECT_EQ(result.code, 128 + SIGTERM);
  EXPECT_TRUE(
      has(result.err,
          "running, waiting for a credit in Endpoint::request, for rank 1; credits in 3, out 0; "
          "bytes 10 of 1000; last poll "))
      << result.err;
}

TEST(Signals, User1ShowsAStoppedRank) {
  const std::string tag = driver::new_tag();
  Program program(command({"-n", "2"}, tag, {"stop", "1"}));
  ASSERT_TRUE(program.wait_for("ready", 2));
  const std::string stopped = "its process is stopped";
  // The rank says that it is ready just before it stops: ask until it has.
  for (int i = 0; i < 1000 && driver::count(program.error_text(), stopped) == 0; ++i) {
    program.signal(SIGUSR1);
    ASSERT_TRUE(program.wait_for_error("rank 1 (pid ", i + 1));
    ASSERT_TRUE(program.wait_for_error("\n", 3 * (i + 1)));
  }
  program.signal(SIGINT);
  program.signal(SIGINT);
  const Result result = program.finish();
  EXPECT_TRUE(has(result.err, stopped)) << result.err;
  EXPECT_TRUE(driver::all_gone(tag));
}

}  // namespace
