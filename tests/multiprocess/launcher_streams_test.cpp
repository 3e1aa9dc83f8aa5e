// Standard streams that are closed, full or blocked: shared memory stays what it was, and a job
// still ends when it is told to.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

using driver::has;
using driver::Program;
using driver::Result;
using driver::Words;

// A job ends within 2 s; the rest is for a machine that is busy. Without an end, it is a minute.
constexpr const char* kStandIn = "/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}";

std::string quoted(const std::string& word) { return "'" + word + "'"; }

/// A shell that executes @p words with @p redirections.
Words shell(const Words& words, const std::string& redirections) {
  std::string line = "exec";
  for (const std::string& word : words) line += " " + quoted(word);
  return {"/bin/sh", "-c", line + " " + redirections};
}

Words closing_all() { return {"<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"}; }

// --- closed --------------------------------------------------------------------------------------

TEST(ClosedStreams, LeaveSharedMemoryAlone) {
  const std::string actor = driver::test_program("launcher_actor");
  const Words alone{actor, "tag", "streams"};
  const Words job{driver::viaduct_run(), "-n", "2", actor, "tag", "streams"};
  const Words labelled{driver::viaduct_run(), "-n", "2", "--label", actor, "tag", "streams"};
  const Words hosts{driver::viaduct_run(),
                    "--hosts",
                    "a:2",
                    "--remote-command",
                    kStandIn,
                    actor,
                    "tag",
                    "streams"};
  for (const std::string& closed : closing_all()) {
    for (const Words& words : {alone, job, labelled, hosts}) {
      // What reads the secret of --hosts needs a standard input of its own, and has one.
      const Result result = Program(shell(words, closed)).finish();
      EXPECT_EQ(result.code, 0) << closed << " " << words[1] << " " << result.err;
    }
  }
}

TEST(ClosedStreams, OfARankAloneOrInTheMiddleOfItsLife) {
  const std::string actor = driver::test_program("launcher_actor");
  const std::string in_rank = quoted(actor) + " tag streams <&- >&- 2>&-";
  EXPECT_EQ(
      Program({driver::viaduct_run(), "-n", "2", "/bin/sh", "-c", "exec " + in_rank}).finish().code,
      0);
  const Result late =
      Program({driver::viaduct_run(), "-n", "2", actor, "tag", "streams", "close"}).finish();
  EXPECT_EQ(late.code, 0) << late.err;
}

TEST(ClosedStreams, OfRanksThatMeet) {
  driver::Rendezvous rendezvous(2, {"streams", "close"});
  rendezvous.start_all(1);
  driver::expect_all_well(rendezvous.finish());
  const std::string address = driver::free_address();
  const std::string tag = driver::new_tag();
  std::vector<std::unique_ptr<Program>> ranks;
  for (const char* rank : {"0", "1"})
    ranks.push_back(std::make_unique<Program>(
        shell({driver::test_program("launcher_actor"), tag, "streams"}, "<&- >&- 2>&-"),
        driver::Environment{{"VIADUCT_RENDEZVOUS", address},
                            {"VIADUCT_RANK", rank},
                            {"VIADUCT_SIZE", "2"},
                            {"VIADUCT_JOB_SECRET", driver::kSecret},
                            {"VIADUCT_JOIN_TIMEOUT", "20s"}}));
  for (auto& rank : ranks) EXPECT_EQ(rank->finish().code, 0);
}

/// A rank's own program may look at its streams: they are open, and inherited.
TEST(ClosedStreams, AreOpenInRanks) {
  const std::string look = "for fd in 0 1; do at=$(readlink /proc/$$/fd/$fd); echo $at >&2; done";
  const Result result =
      Program(shell({driver::viaduct_run(), "-n", "1", "/bin/sh", "-c", look}, "<&- >&-")).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "/dev/null\n/dev/null\n");
}

// --- labels --------------------------------------------------------------------------------------

TEST(Labels, LongLinesLeaveTheOthersWhole) {
  // dd writes 64 KiB at once: with the end of the long line comes the start of others, which bring
  // the unfinished part to more than 1 MiB.
  const std::string rank =
      "{ yes short | head -n 2000; head -c 1040000 /dev/zero | tr '\\0' x; echo; "
      "seq -f 'line %.0f of the output' 20000; } | dd bs=64k iflag=fullblock status=none";
  const Result result =
      Program({driver::viaduct_run(), "-n", "1", "--label", "/bin/sh", "-c", rank}).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  int wrong = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    wrong += line.size() < 100 && line != "[0] short" && !line.ends_with(" of the output") ? 1 : 0;
  EXPECT_EQ(count, 22001);
  EXPECT_EQ(wrong, 0);
}

// --- full ----------------------------------------------------------------------------------------

TEST(FullStreams, AreSaid) {
  const Result result =
      Program(
          shell({driver::viaduct_run(), "-n", "2", "--label", "/bin/echo", "a line"}, ">/dev/full"))
          .finish();
  EXPECT_EQ(driver::count(result.err,
                          "viaduct-run: the ranks' output cannot be written to standard output: "
                          "No space left on device\n"),
            1)
      << result.err;
}

TEST(FullStreams, AreAFailure) {
  const Result result =
      Program(
          shell({driver::viaduct_run(), "-n", "1", "--label", "/bin/echo", "a line"}, ">/dev/full"))
          .finish();
  EXPECT_EQ(result.code, 125) << result.err;
}

TEST(FullStreams, DoNotKeepAJob) {
  for (const char* label : {"--quiet", "--label"}) {
    const Result result =
        Program(shell({driver::viaduct_run(), "-n", "2", label,
                       driver::test_program("launcher_actor"), "tag", "return", "1", "7"},
                      ">/dev/full 2>/dev/full"))
            .finish();
    EXPECT_EQ(result.code, 7) << label;
  }
}

// --- blocked -------------------------------------------------------------------------------------

enum class End { term, two_interrupts, time_limit, rank_killed, launcher_killed };

struct Blocked {
  const char* name;
  End end;
  bool label;
  bool hosts;
  int code;
};
void PrintTo(const Blocked& c, std::ostream* out) { *out << c.name; }

class BlockedStreams : public testing::TestWithParam<Blocked> {};

Words blocked_job(const Blocked& c, const std::string& tag, const Words& verb) {
  Words words{driver::viaduct_run()};
  if (c.hosts)
    words.insert(words.end(), {"--hosts", "a,b", "--remote-command", kStandIn});
  else
    words.insert(words.end(), {"-n", "2"});
  if (c.label) words.emplace_back("--label");
  if (c.end == End::time_limit) words.insert(words.end(), {"--timeout", "5"});
  words.insert(words.end(), {"--grace", "0.5", driver::test_program("launcher_actor"), tag});
  words.insert(words.end(), verb.begin(), verb.end());
  return words;
}

/// Some process of the job that goes by @p name.
pid_t process_named(const std::string& tag, const std::string& name, pid_t except) {
  for (const pid_t pid : driver::processes_with(tag)) {
    if (pid != except && driver::name_of(pid) == name) return pid;
  }
  return 0;
}

/// Whether the process has not taken the signal that was sent to it; false when it has gone.
bool is_pending(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("ShdPnd:", 0) == 0)
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

void end_job(End end, const Program& program, const std::string& tag) {
  if (end == End::term) program.signal(SIGTERM);
  if (end == End::two_interrupts) {
    program.signal(SIGINT);
    while (is_pending(program.pid(), SIGINT))  // or the kernel makes them one
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.signal(SIGINT);
  }
  if (end == End::rank_killed) ::kill(process_named(tag, "launcher_actor", 0), SIGKILL);
  if (end == End::launcher_killed)
    ::kill(process_named(tag, "viaduct-run", program.pid()), SIGKILL);
}

/// Ranks write both streams, and nobody reads.
TEST_P(BlockedStreams, DoNotKeepAJob) {
  const std::string tag = driver::new_tag();
  Program program(blocked_job(GetParam(), tag, {"flood", "ignore"}));
  ASSERT_TRUE(program.wait_until_full());
  end_job(GetParam().end, program, tag);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  EXPECT_EQ(program.finish().code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    Each, BlockedStreams,
    testing::Values(Blocked{"term", End::term, false, false, 128 + SIGTERM},
                    Blocked{"term_label", End::term, true, false, 128 + SIGTERM},
                    Blocked{"term_hosts", End::term, false, true, 128 + SIGTERM},
                    Blocked{"interrupts_label", End::two_interrupts, true, false, 128 + SIGINT},
                    Blocked{"interrupts_hosts", End::two_interrupts, true, true, 128 + SIGINT},
                    Blocked{"time_limit", End::time_limit, false, false, 124},
                    Blocked{"time_limit_label", End::time_limit, true, false, 124},
                    Blocked{"rank_killed_label", End::rank_killed, true, false, 128 + SIGKILL},
                    Blocked{"rank_killed_hosts", End::rank_killed, true, true, 128 + SIGKILL},
                    Blocked{"launcher_killed", End::launcher_killed, true, false, 125}),
    [](const testing::TestParamInfo<Blocked>& info) { return std::string(info.param.name); });

TEST(BlockedOutput, WhatIsDroppedIsCounted) {
  const std::string tag = driver::new_tag();
  const std::string rank = "exec " + quoted(driver::test_program("launcher_actor")) + " " + tag +
                           " flood ignore 2>/dev/null";
  const std::string fifo = testing::TempDir() + tag;
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Program program(
      shell({driver::viaduct_run(), "-n", "2", "--label", "--grace", "0.5", "/bin/sh", "-c", rank},
            "> " + quoted(fifo)));
  ASSERT_TRUE(driver::wait_until_full(reader));
  program.signal(SIGTERM);  // which ranks ignore for half a second of --grace, and write on
  const Result result = program.finish();
  EXPECT_EQ(result.code, 128 + SIGTERM);
  EXPECT_TRUE(has(result.err, " bytes of the ranks' output were dropped, since nobody took them"))
      << result.err;
  ::close(reader);
  ::unlink(fifo.c_str());
}

/// A rank fails while another one writes to a pipe that nobody reads.
TEST(BlockedOutput, ARankThatFailsEndsTheJob) {
  struct Case {
    const char* mode;
    const char* how;
  };
  // A process is given some seconds for its output.
  for (const auto& [mode, how] :
       {Case{"processes", "return"}, Case{"threads", "return"}, Case{"threads", "throw"}}) {
    const std::string tag = driver::new_tag();
    Program program({driver::viaduct_run(), "-n", "2", "--mode", mode,
                     driver::test_program("launcher_actor"), tag, "blocked", how});
    EXPECT_TRUE(driver::all_gone(tag)) << mode << " " << how << ": processes are left";
    const Result result = program.finish();
    EXPECT_NE(result.code, 0) << mode << " " << how << result.err;
    EXPECT_TRUE(has(result.err, "rank 1 ")) << mode << " " << how << result.err;
  }
}

TEST(BlockedOutput, RanksThatIgnoreSigtermAreKilledAfterTheGrace) {
  for (const bool hosts : {false, true}) {
    const std::string tag = driver::new_tag();
    Program program(blocked_job({"", End::term, false, hosts, 0}, tag, {"hang-ignoring"}));
    ASSERT_TRUE(program.wait_for("ready", 2));
    program.signal(SIGTERM);
    const Result result = program.finish();
    EXPECT_EQ(result.code, 128 + SIGTERM) << result.err;
    EXPECT_TRUE(has(result.err, "did not end within 0.5 s of SIGTERM (--grace)")) << result.err;
    EXPECT_TRUE(has(result.err, "[VIA-1009]")) << result.err;
    EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  }
}

/// The launcher itself does nothing any more: its supervisor ends the job, with an interrupt's
/// code.
TEST(BlockedOutput, SecondInterruptEndsAStoppedLauncher) {
  const std::string tag = driver::new_tag();
  Program program(blocked_job({"", End::two_interrupts, false, false, 0}, tag, {"hang"}));
  ASSERT_TRUE(program.wait_for("ready", 2));
  ::kill(process_named(tag, "viaduct-run", program.pid()), SIGSTOP);
  end_job(End::two_interrupts, program, tag);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  const Result result = program.finish();
  EXPECT_EQ(result.code, 128 + SIGINT) << result.err;
  EXPECT_TRUE(has(result.err, "interrupted twice")) << result.err;
  EXPECT_TRUE(has(result.err, "[VIA-1011]")) << result.err;
}

}  // namespace
