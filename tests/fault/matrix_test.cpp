// Rows of the fault matrix that are about one job as a whole: what disturbs it must not change what
// it computes, and what it cannot have must be said in a sentence.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fault/states.hpp"
#include "tests/multiprocess/launcher_driver.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace {

using driver::Environment;
using driver::Program;
using driver::Result;
using Words = std::vector<std::string>;

Words job(int ranks, const Words& program, const Words& prefix = {}) {
  Words words = prefix;
  for (const std::string& word :
       {driver::viaduct_run(), std::string("-n"), std::to_string(ranks), std::string("--timeout"),
        std::to_string(driver::patience_seconds() + 20)})
    words.push_back(word);
  words.push_back(driver::test_program(program.front()));
  words.insert(words.end(), program.begin() + 1, program.end());
  return words;
}

Result run(const Words& words, const Environment& environment = {}) {
  Program program(words, environment);
  return program.finish();
}

/// Value of a counter's sum in the table of VIADUCT_STATS=1; -1 when it is not there.
long counter(const Result& result, const std::string& name) {
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string layer;
    std::string counter_name;
    std::string unit;
    long sum = -1;
    if (fields >> layer >> counter_name >> unit >> sum && counter_name == name) return sum;
  }
  return -1;
}

/// Whether some line of @p text has all @p parts, in this order.
bool has_line(const std::string& text, const Words& parts) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = 0;
    for (const std::string& part : parts)
      if (at != std::string::npos && (at = line.find(part, at)) != std::string::npos)
        at += part.size();
    if (at != std::string::npos) return true;
  }
  return false;
}

void expect_all_right(const Result& result) {
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(driver::count(result.out, "steady: all right"), 1) << result.out;
}

Words without(const std::string& calls) {
  return {driver::test_program("without_syscalls"), calls};
}
Words shell(const std::string& limits) {
  return {"/bin/bash", "-c", limits + "; exec \"$@\"", "bash"};
}

class Ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Fault, Ranks, testing::Values(2, 7));

TEST_P(Ranks, InterruptsDuringWaitsLoseNothing) {
  expect_all_right(run(job(GetParam(), {"steady", "200", "signals"})));
}

TEST_P(Ranks, ChildrenMayExecAndExitUnderTraffic) {
  expect_all_right(run(job(GetParam(), {"steady", "40", "children"})));
}

TEST_P(Ranks, ForkedChildMayNotSend) {
  const Result result = run(job(GetParam(), {"steady", "5", "forked-am"}));
  expect_all_right(result);
  EXPECT_TRUE(has_line(result.err, {"a request was called in a child that a rank forked"}))
      << result.err;
}

TEST_P(Ranks, StoppedRankLosesNothingAndIsNotLost) {
  int fd = -1;
  fault::Page& page = fault::Page::create(fd);
  const std::string tag = driver::new_tag();
  // Many ranks on few cores are slow; what counts is that rounds follow each stop.
  const char* const rounds_in_all = GetParam() > 4 ? "1000" : "3000";
  Program program(job(GetParam(), {"steady", rounds_in_all, "none", std::to_string(fd), tag}));
  const auto rounds = [&](int r) { return page.ranks[static_cast<std::size_t>(r)].rounds.load(); };
  const auto limit =
      std::chrono::steady_clock::now() + std::chrono::seconds(driver::patience_seconds());
  while (rounds(0) < 5 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<pid_t> ranks;
  for (const pid_t pid : driver::processes_with(tag))
    if (driver::parent_of(pid) == program.pid() || driver::name_of(pid) == "steady")
      ranks.push_back(pid);
  ASSERT_FALSE(ranks.empty());
  pid_t victim = 0;
  for (const pid_t pid : ranks)
    if (driver::name_of(pid) == "steady") victim = pid;
  ASSERT_NE(victim, 0);
  for (int i = 0; i < 3; ++i) {
    ::kill(victim, SIGSTOP);
    // The others come to a halt: within a second they can do no more than a round.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto before = rounds(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_LE(rounds(0), before + 1);
    ::kill(victim, SIGCONT);
  }
  expect_all_right(program.finish());
  ::close(fd);
}

TEST_P(Ranks, WithoutCrossMemoryAndMembarrier) {
  const Environment stats{{"VIADUCT_STATS", "1"},  // and every wait that finds nothing sleeps
                          {"VIADUCT_SPIN_NS", "0"},
                          {"VIADUCT_YIELDS", "0"}};
  const Result result = run(job(GetParam(), {"steady", "50", "none"},
                                without("process_vm_readv,process_vm_writev,membarrier")),
                            stats);
  expect_all_right(result);
  EXPECT_EQ(counter(result, "cross_memory"), 0) << result.err;
  EXPECT_EQ(counter(result, "sleeps"), counter(result, "capped_sleeps"))
      << "every sleep must be short";
  const Result with = run(job(GetParam(), {"steady", "50", "none"}), stats);
  EXPECT_LT(counter(with, "capped_sleeps"), counter(with, "sleeps")) << with.err;
}

TEST_P(Ranks, PrivateSegmentWorksOrIsRefusedWithItsRemedy) {
  const Result with = run(job(GetParam(), {"steady", "50", "private"}), {{"VIADUCT_STATS", "1"}});
  expect_all_right(with);
  EXPECT_GT(counter(with, "cross_memory"), 0) << with.err;
  const Result result = run(
      job(GetParam(), {"steady", "50", "private"}, without("process_vm_readv,process_vm_writev")));
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.err.find("peers cannot reach private memory here"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("Nic::allocate"), std::string::npos) << result.err;
}

TEST(Limits, AllToOneWithOneCredit) {
  const Result result = run(job(64, {"steady", "30", "to-one"}), {{"VIADUCT_AM_CREDITS", "1"}});
  expect_all_right(result);
}

TEST(Limits, WindowTooSmallForTheSegment) {
  const Result result =
      run(job(2, {"greedy", "segment", "67108864"}), {{"VIADUCT_SHM_WINDOW", "8M"}});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("raise VIADUCT_SHM_WINDOW"), std::string::npos) << result.err;
}

TEST(Limits, WindowTooSmallForTheMapsSendsMessagesBack) {
  const Result result = run(job(7, {"greedy", "maps"}),
                            {{"VIADUCT_SHM_WINDOW", "1M"}, {"VIADUCT_AM_MEDIUM_BYTES", "256K"}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("raise VIADUCT_SHM_WINDOW"), std::string::npos) << result.err;
  int answered = 0;
  int congestion = 0;
  ASSERT_EQ(
      std::sscanf(result.out.c_str(), "greedy: %d answered, %d congestion", &answered, &congestion),
      2)
      << result.out;
  EXPECT_GT(answered, 0);
  EXPECT_GT(congestion, 0);
}

#ifdef __clang__
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif

TEST(Limits, AddressSpace) {
  if (kAddressSanitizer) GTEST_SKIP() << "the address sanitizer itself needs the address space";
  const Result result = run(job(2, {"steady", "1", "none"}, shell("ulimit -v 4000000")));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("ulimit -v"), std::string::npos) << result.err;
  expect_all_right(run(job(2, {"steady", "1", "none"}, shell("ulimit -v 4000000")),
                       {{"VIADUCT_SHM_WINDOW", "64M"}}));
}

TEST(Limits, FileSize) {
  const Result result = run(job(2, {"steady", "1", "none"}, shell("ulimit -f 1024")));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("ulimit -f"), std::string::npos) << result.err;
}

TEST(Limits, FewDescriptorsAreEnoughForManyPeers) {
  // A rank needs a descriptor for each peer's memory only while it maps it.
  expect_all_right(run(job(16, {"steady", "2", "none"}, shell("ulimit -Sn 16"))));
  const Result result = run(job(16, {"steady", "2", "none"}, shell("ulimit -n 16")));
  EXPECT_EQ(result.code, 125);
  EXPECT_NE(result.err.find("ulimit -Hn"), std::string::npos) << result.err;
}

TEST(Limits, AddressSpaceThatIsShortIsToldOnceAndThenCounted) {
  if (kAddressSanitizer) GTEST_SKIP() << "the address sanitizer itself needs the address space";
  // One window of 16 GiB fits: each try to map a peer's fails.
  const Result result = run(job(4, {"steady", "2", "none"}, shell("ulimit -v 20000000")));
  EXPECT_NE(result.code, 0);
  EXPECT_GE(driver::count(result.err, "address space is short: raise ulimit -v"), 1) << result.err;
  const Result flood = run(job(4, {"refused_windows"}, shell("ulimit -v 20000000")));
  EXPECT_EQ(flood.code, 0) << flood.err;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string line = "[rank " + std::to_string(rank) + "] error: ";
    EXPECT_EQ(driver::count(flood.err, line + "cannot map a shared window"), 1) << flood.err;
    for (const char* times : {"10", "100", "1000"})
      EXPECT_EQ(driver::count(flood.err, line + times + " times by now: cannot map"), 1)
          << flood.err;
  }
}

// --- nonsense in a peer's memory -----------------------------------------------------------------

TEST(Nonsense, EndsTheConnectionOnBothSidesWithASentence) {
  const Result result = run(job(2, {"nonsense"}));
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_GE(driver::count(result.err, "[rank 0] error: the connection with rank 1 ends"), 15)
      << "one for each kind of nonsense; what comes again is counted\n"
      << result.err;
  EXPECT_GE(driver::count(result.err, "rank 0 has ended its connection with this rank"), 1)
      << result.err;
}

TEST(Nonsense, EndsSplitCWithASentence) {
  // The process that finds it is stopped (SIGABRT), or leaves with an Error.
  constexpr int kAborted = 134, kTold = 3;
  const std::pair<std::string, int> kinds[] = {
      {"lines", 4}, {"ring", 3}, {"counters", 1}, {"reply", 2}};
  for (const auto& [what, seeds] : kinds)
    for (int seed = 1; seed <= seeds; ++seed) {
      const Result result = run(job(2, {"splitc_nonsense", what, std::to_string(seed)}),
                                {{"VIADUCT_SPLITC_PATH", "message"}});
      EXPECT_TRUE(result.code == kAborted || result.code == kTold)
          << what << " " << seed << ": " << result.code << "\n"
          << result.err;
      if (result.code == kAborted) {
        EXPECT_TRUE(has_line(result.err, {"viaduct", "[VIA-4016]"})) << result.err;
      }
      EXPECT_TRUE(has_line(result.err, {"viaduct", "process 1"}) ||
                  has_line(result.err, {"viaduct", "rank 1"}))
          << what << " " << seed << "\n"
          << result.err;
    }
}

/// Asks for reports, once @p ranks ranks have said that they go, until each of @p lines was there.
/// None of @p wrong may ever be there.
void expect_reports(const Words& command, int ranks, const std::vector<Words>& lines,
                    const Environment& environment = {}, const std::vector<Words>& wrong = {}) {
  Program program(command, environment);
  ASSERT_TRUE(program.wait_for("goes", ranks));
  const auto are_there = [&] {
    return std::all_of(lines.begin(), lines.end(),
                       [&](const Words& line) { return has_line(program.error_text(), line); });
  };
  for (int i = 1; i <= 400 && !are_there(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    program.signal(SIGUSR1);
    ASSERT_TRUE(program.wait_for_error("\n  rank 0 (pid", i)) << program.error_text();
  }
  for (const Words& line : lines)
    EXPECT_TRUE(has_line(program.error_text(), line))
        << testing::PrintToString(line) << " is not in:\n"
        << program.error_text().substr(program.error_text().rfind("what each rank"));
  for (const Words& line : wrong)
    EXPECT_FALSE(has_line(program.error_text(), line))
        << testing::PrintToString(line) << " is in:\n"
        << program.error_text();
  program.signal(SIGTERM);
  EXPECT_NE(program.finish().code, 0);
}

TEST(Hang, User1NamesWhatEachRankWaitsFor) {
  expect_reports(job(6, {"stuck"}), 6,
                 {{"rank 0 ", "waiting for a message in wait;"},
                  {"rank 1 ", "waiting for a credit in request, for rank 2; credits in ",
                   ", out 0;", " of 1536;", "last poll"},
                  {"rank 3 ", "in a barrier in barrier, not there yet: ranks 0 to 2, 4 and 5;"},
                  {"rank 5 ", "running, in handler ", "on_stuck, run by wait; "},
                  // A rank that waits tells of the one whose handler does not return.
                  {"; meanwhile rank 5 (pid "}},
                 {{"VIADUCT_HANG_REPORT", "300ms"}},
                 // Ranks that sleep, with no handler.
                 {{"  rank 0 ", "in handler"},
                  {"  rank 1 ", "in handler"},
                  {"  rank 3 ", "in handler"},
                  {"  rank 4 ", "in handler"}});
}

TEST(Hang, AReportNamesWhoIsMissing) {
  const Words fence{"rank 0 ", "at a fence of its Bootstrap, not there yet: rank 2;"};
  const Words end{"rank 1 ", "ending its job, not there yet: rank 2;"};
  expect_reports(job(3, {"closing", "say,job,sleep", "say,job,fence"}), 3, {fence});
  expect_reports(job(3, {"closing", "say,sleep", "say,job"}), 3, {fence});
  expect_reports(job(3, {"closing", "say,job,sleep", "say,job,end"}), 3, {end});
  Words threads = job(3, {"closing", "say,sleep", "say,end"});
  threads.insert(threads.begin() + 1, {"--mode", "threads"});
  expect_reports(threads, 3, {end});
  Words thread_fence = job(3, {"closing", "say,job,sleep", "say,job,fence"});
  thread_fence.insert(thread_fence.begin() + 1, {"--mode", "threads"});
  expect_reports(thread_fence, 3, {fence});
  Words hosts = job(3, {"closing", "say,job,sleep", "say,job,fence"});
  hosts.insert(hosts.begin() + 1, {"--hosts", "a:2,b:1", "--remote-command",
                                   "/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}"});
  expect_reports(hosts, 3, {fence});
}

TEST(Hang, SplitCReportsBytesAndWhoIsMissing) {
  const Words stores{"rank 0 ", "in store_sync;", "bytes 8 of 100;"};
  const std::string absent = ", not there yet: ranks 0 and 2;";
  expect_reports(job(4, {"stuck_splitc", "barrier"}), 4,
                 {stores,
                  {"rank 1 ", "in a collective call in barrier" + absent},
                  {"rank 3 ", "in a collective call in barrier" + absent}});
  expect_reports(job(4, {"stuck_splitc", "split"}), 4,
                 {{"rank 1 ", "in a collective call in barrier" + absent}});
  expect_reports(job(4, {"stuck_splitc", "reduce"}), 4,
                 {{"rank 3 ", "in a collective call in all_reduce" + absent}});
  expect_reports(job(4, {"stuck_splitc", "end"}), 4,
                 {{"rank 3 ", "in a barrier in the end of splitc_main" + absent}});
}

TEST(Hang, AWaitForStoresThatALossEndsSaysHowManyHadCome) {
  Words words = job(3, {"stuck_splitc", "lost"});
  words.insert(words.begin() + 1, "--keep-going");
  Program program(words);
  ASSERT_TRUE(program.wait_for_error("store_sync: 8 of 100 bytes have come"))
      << program.error_text();
  ASSERT_TRUE(program.wait_for_error("store_sync: process 1 is lost"));
  program.signal(SIGTERM);
  EXPECT_NE(program.finish().code, 0);
}

}  // namespace
