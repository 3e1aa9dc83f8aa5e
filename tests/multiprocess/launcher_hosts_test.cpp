// viaduct-run --hosts, with a remote command that plays the hosts on this machine.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/multiprocess/launcher_driver.hpp"

namespace {

using driver::Environment;
using driver::has;
using driver::Program;
using driver::Result;
using driver::Words;

constexpr const char* kStandIn = "/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}";

Words command(const Words& options, const std::string& tag, const Words& verb,
              const std::string& remote = kStandIn) {
  Words words{driver::viaduct_run(), "--remote-command", remote};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {driver::test_program("launcher_actor"), tag});
  words.insert(words.end(), verb.begin(), verb.end());
  return words;
}

Result launched(const Words& options, const Words& verb, const Environment& environment = {},
                const std::string& remote = kStandIn) {
  const std::string tag = driver::new_tag();
  Result result = Program(command(options, tag, verb, remote), environment).finish();
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  return result;
}

TEST(Hosts, RanksAreOneJob) {
  for (const auto& [hosts, ranks] : std::vector<std::pair<std::string, std::string>>{
           {"a:2,b:2", "4"}, {"a,b,c", "7"}, {"a", "2"}}) {
    const Result result = launched({"--hosts", hosts, "-n", ranks}, {"spread"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(driver::count(result.out, " of " + ranks + " on host "), std::stoi(ranks))
        << result.out;
  }
  const Result blocks = launched({"--hosts", "a,b,c", "-n", "7"}, {"spread"});
  EXPECT_TRUE(has(blocks.out, "rank 2 of 7 on host 0 of 3 with 0 1 2")) << blocks.out;
  EXPECT_TRUE(has(blocks.out, "rank 6 of 7 on host 2 of 3 with 5 6")) << blocks.out;
}

TEST(Hosts, PortsThatAreDownAreKnownToAll) {
  for (const char* hosts : {"a:3", "a:2,b:1,c:2"})
    EXPECT_EQ(launched({"--hosts", hosts}, {"ports"}).code, 0) << hosts;
}

TEST(Hosts, RanksOfOneHostShareMemory) {
  for (const char* verb : {"exchange", "around", "nic"})
    EXPECT_EQ(launched({"--hosts", "a:3"}, {verb, "20"}).code, 0) << verb;
}

TEST(Hosts, WithoutAProviderBetweenHostsANicSaysSo) {
  const Result result = launched({"--hosts", "a,b"}, {"nic"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "provider verbs is missing between them")) << result.err;
}

/// A remote command of a few lines, which gets the host and the command.
class Script {
 public:
  explicit Script(const std::string& lines) : path_(testing::TempDir() + driver::new_tag()) {
    std::ofstream(path_) << lines << "\n";
  }
  ~Script() { ::unlink(path_.c_str()); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string command() const { return "/bin/sh " + path_ + " {host} {command}"; }

 private:
  std::string path_;
};

/// The lines of @p text that begin with @p start.
std::string lines_with(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(start, 0) == 0) found += line + "\n";
  }
  return found;
}

TEST(Hosts, OutputIsCompleteAndLinesStayWhole) {
  constexpr int kLines = 3000;
  const std::string lines = std::to_string(kLines);
  // The ssh that it stands for hands on what it has read, wherever that ends.
  const Script slow(
      "VIADUCT_HOST_KEY=$1 sh -c \"$2\" 2>&1 | { sleep 1; exec dd bs=1000 status=none; }");
  const Result labelled =
      launched({"--hosts", "a:1,b:2", "--label"}, {"lines-well", lines}, {}, slow.command());
  EXPECT_EQ(labelled.code, 0) << labelled.err;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string label = fmt::format("[{}] ", rank);
    std::string wanted;
    for (int i = 0; i < kLines; ++i)
      wanted += label + "line " + std::to_string(i) + " of rank " + std::to_string(rank) + "\n";
    EXPECT_TRUE(lines_with(labelled.out, label + "line ") == wanted) << "of rank " << rank;
  }
  EXPECT_EQ(driver::count(labelled.out, "\n"), 3 * (2 * kLines + 1)) << "lines are missing";
  const Result plain = launched({"--hosts", "a:1,b:2"}, {"lines-well", lines}, {}, slow.command());
  EXPECT_EQ(plain.code, 0) << plain.err;
  std::size_t bytes = 0;  // what comes of two hosts mixes, perhaps within lines
  for (int i = 0; i < kLines; ++i) {
    const std::string number = std::to_string(i);
    bytes += 3 * ("line " + number + " of rank 0\nerror " + number + "\n").size();
  }
  EXPECT_EQ(plain.out.size(), bytes + 3 * std::string("no end").size());
}

TEST(Hosts, OutputWaitsForItsReader) {
  const Script script("VIADUCT_HOST_KEY=$1 sh -c \"$2\" | { sleep 2; cat; }");
  const Result result = launched({"--hosts", "a,b"}, {"describe"}, {}, script.command());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(driver::count(result.out, " of 2"), 2) << result.out;
}

TEST(Hosts, RemoteCommandsWordsAreQuotedAsInAShell) {
  const Script show("for word in \"$@\"; do echo \"<$word>\"; done; exit 3");
  const auto words = [&](const std::string& rest) {
    return launched({"--hosts", "a"}, {"ok"}, {}, "/bin/sh " + show.path() + " " + rest).out;
  };
  const std::string quoted =
      words("-i 'a key' \"it's \\\"so\\\"\" back\\ slash '' {host} x{host}y {command}");
  EXPECT_TRUE(has(quoted, "<-i>\n<a key>\n<it's \"so\">\n<back slash>\n<>\n<a>\n<xay>\n<exec '"))
      << quoted;
  // What is not named stands at the end.
  EXPECT_TRUE(has(words("-p 22"), "<-p>\n<22>\n<a>\n<exec '")) << words("-p 22");
  EXPECT_TRUE(has(words("-p 22 {host}"), "<-p>\n<22>\n<a>\n<exec '"));
  EXPECT_EQ(driver::count(words("{command}"), "<a>"), 0);
}

TEST(Hosts, PathsMayHaveBlanksAndQuotes) {
  const std::string folder = testing::TempDir() + driver::new_tag() + " it's $HOME";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string program = folder + "/an actor";
  const std::string launcher = folder + "/viaduct run";
  std::ofstream(program) << "#!/bin/sh\n[ \"$PWD\" = \"$1\" ] && printf '<%s>\\n' \"$2\"\n";
  ::chmod(program.c_str(), 0700);
  ASSERT_EQ(::symlink(driver::viaduct_run().c_str(), launcher.c_str()), 0);
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const Result result = Program({launcher, "--remote-command", kStandIn, "--hosts", "a,b",
                                 "./an actor", folder, "a b 'c' \"d\" $e \\f *"})
                            .finish();
  std::filesystem::current_path(before);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(driver::count(result.out, "<a b 'c' \"d\" $e \\f *>\n"), 2) << result.out;
  std::filesystem::remove_all(folder);
}

TEST(Hosts, AddressesOfHostsMayBeOfIPv6) {
  const Script script("echo \"host $1\"; VIADUCT_HOST_KEY=$1 exec sh -c \"$2\"");
  const Result result =
      launched({"--hosts", "[::1]:2,[fe80::1%eth0]:1"}, {"spread"}, {}, script.command());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(lines_with(result.out, "host ::1"), "host ::1\n");
  EXPECT_EQ(lines_with(result.out, "host fe80:"), "host fe80::1%eth0\n");
  const Result called =
      launched({"--hosts", "a", "--address", "[::1]"}, {"spread"}, {}, script.command());
  EXPECT_FALSE(has(called.err, "[[")) << called.err;
}

TEST(Hosts, OutputLabelsInputAndSettings) {
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a:2,b:1", "--label"}, tag, {"stdin"}));
  program.write_stdin("some words\n");
  const Result result = program.finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "[0] rank 0 read 11\n")) << result.out;
  EXPECT_TRUE(has(result.out, "[2] rank 2 read 0\n")) << result.out;
  const Result settings = launched({"--hosts", "a,b"}, {"describe"}, {{"VIADUCT_SPIN_NS", "10us"}});
  EXPECT_EQ(driver::count(settings.out, "spins"), 2) << settings.out;
  const Result bad = launched({"--hosts", "a,b"}, {"describe"}, {{"VIADUCT_YIELDS", "many"}});
  EXPECT_EQ(bad.code, 125);  // viaduct-run looks at them first
  EXPECT_TRUE(has(bad.err, "VIADUCT_YIELDS=many is not accepted")) << bad.err;
}

// --- failures
// --------------------------------------------------------------------------------------

TEST(HostsFailure, FirstToFailIsNamedAndTheRestEnds) {
  const Result code = launched({"--hosts", "a:2,b:2"}, {"return", "3", "7"});
  EXPECT_EQ(code.code, 7);
  EXPECT_TRUE(has(code.err, " on b) exited with code 7; it is the first to fail")) << code.err;
  const Result killed = launched({"--hosts", "a:2,b:2"}, {"die", "2", std::to_string(SIGKILL)});
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_TRUE(has(killed.err, "viaduct-run: rank 2 (pid ")) << killed.err;
  EXPECT_TRUE(has(killed.err, "was killed by signal 9 (Killed)")) << killed.err;
  const Result left = launched({"--hosts", "a:2,b:2"}, {"leave", "1"});
  EXPECT_EQ(left.code, 1);
  EXPECT_TRUE(has(left.err, "left: it exited with code 0 without finalizing its job")) << left.err;
}

TEST(HostsFailure, ExitCodesAreTheRanksOwn) {
  for (const int code : {1, 2, 77, 124, 125, 255}) {
    const Result result = launched({"--hosts", "a:2,b:2"}, {"return", "2", std::to_string(code)});
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_TRUE(has(result.err, "rank 2 (pid ")) << result.err;
  }
  for (const int number : {SIGXCPU, SIGTERM}) {
    const Result result = launched({"--hosts", "a:2,b:2"}, {"die", "3", std::to_string(number)});
    EXPECT_EQ(result.code, 128 + number) << result.err;
  }
}

TEST(HostsFailure, RankThatEndsSlowlyIsNamedWithItsCode) {
  const Result unnoticed = launched({"--hosts", "a,b"}, {"fail-slowly", "7", "unnoticed"});
  EXPECT_EQ(unnoticed.code, 7) << unnoticed.err;
  EXPECT_TRUE(has(unnoticed.err, " on b) exited with code 7; it is the first")) << unnoticed.err;
  EXPECT_FALSE(has(unnoticed.err, "left")) << unnoticed.err;
  const Result noticed = launched({"--hosts", "a,b"}, {"fail-slowly", "7", "noticed"});
  EXPECT_EQ(noticed.code, 1) << noticed.err;
  EXPECT_TRUE(has(noticed.err, "rank 1 on b left: it closed its connection")) << noticed.err;
  EXPECT_FALSE(has(noticed.err, "it is the first to fail")) << noticed.err;
}

TEST(HostsFailure, AllKnowWithinTwoSeconds) {
  const Result result = launched({"--hosts", "a:2,b:2,c:1", "--keep-going"}, {"die-behind", "3"});
  EXPECT_EQ(result.code, 128 + SIGKILL) << result.err;
  EXPECT_TRUE(has(result.err, "rank 3 (pid ")) << result.err;
  EXPECT_EQ(driver::count(result.out, "was told"), 4) << result.out;
}

TEST(HostsFailure, KeepGoing) {
  const Result result =
      launched({"--hosts", "a:2,b:2", "--keep-going"}, {"die", "3", std::to_string(SIGXCPU)});
  EXPECT_EQ(result.code, 128 + SIGXCPU);
  EXPECT_EQ(driver::count(result.out, "peer lost, lost, first 4"), 3) << result.out;
}

TEST(HostsFailure, ThoseThatIgnoreTheEndAreKilled) {
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a:2,b:2"}, tag, {"hang-ignoring"}));
  ASSERT_TRUE(program.wait_for("ready", 4));
  for (const pid_t pid : driver::processes_with(tag)) {
    if (driver::name_of(pid) != "launcher_actor") continue;
    ::kill(pid, SIGXCPU);
    break;
  }
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  EXPECT_EQ(program.finish().code, 128 + SIGXCPU);
}

TEST(HostsFailure, TimeLimitReportsAllHosts) {
  const Result result = launched({"--hosts", "a,b", "--timeout", "5"}, {"hang"});
  EXPECT_EQ(result.code, 124);
  EXPECT_TRUE(has(result.err, "the time limit of 5 s has passed")) << result.err;
  for (const char* part :
       {"each rank on a waits for:\n  rank 0 (pid ", "each rank on b waits for:\n  rank 1 (pid "})
    EXPECT_TRUE(has(result.err, part)) << result.err;
  EXPECT_LT(result.seconds, driver::kHangSeconds);
}

TEST(HostsFailure, ProgramThatIsNotThere) {
  const Result result = Program({driver::viaduct_run(), "--remote-command", kStandIn, "--hosts",
                                 "a,b", "/no/such/program"})
                            .finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "host a: cannot execute /no/such/program") ||
              has(result.err, "host b: cannot execute /no/such/program"))
      << result.err;
}

TEST(HostsFailure, RemoteCommandThatFails) {
  const Result b = launched({"--hosts", "b"}, {"ok"}, {}, "/bin/false {host} {command}");
  EXPECT_EQ(b.code, 125);
  EXPECT_TRUE(has(b.err,
                  "host b: its remote command ended with code 1 before the agent had come: "
                  "/bin/false b"))
      << b.err;
  const Result quoted =
      launched({"--hosts", "b"}, {"ok"}, {}, "sh -c 'exit \"$#\"' \"it's\" '' {command}");
  EXPECT_TRUE(has(quoted.err, R"(: sh -c 'exit "$#"' 'it'\''s' '')")) << quoted.err;
  const Result none = launched({"--hosts", "b"}, {"ok"}, {}, "/no/such/command");
  EXPECT_EQ(none.code, 125);
  EXPECT_TRUE(has(none.err, "cannot execute /no/such/command")) << none.err;
}

TEST(HostsFailure, RemoteCommandWithoutStandardInput) {
  const Script script("VIADUCT_HOST_KEY=$1 exec sh -c \"$2\" </dev/null");
  const Result result = launched({"--hosts", "a"}, {"ok"}, {}, script.command());
  EXPECT_EQ(result.code, 125) << result.err;
  EXPECT_TRUE(has(result.err, "the remote command passes no standard input on")) << result.err;
}

TEST(HostsFailure, HostThatDoesNotComeIsNamed) {
  const Script script("[ $1 = b ] && exec sleep 600\nVIADUCT_HOST_KEY=$1 exec sh -c \"$2\"");
  const Result result =
      launched({"--hosts", "a,b"}, {"ok"}, {{"VIADUCT_JOIN_TIMEOUT", "2s"}}, script.command());
  EXPECT_EQ(result.code, 125) << result.err;
  EXPECT_TRUE(has(result.err, "the agent of b has not come within 2 s")) << result.err;
  EXPECT_LT(result.seconds, driver::kHangSeconds);
}

/// With --keep-going, too: the job cannot begin without this host's ranks.
TEST(HostsFailure, AgentKilledBeforeTheJob) {
  const std::string file = testing::TempDir() + driver::new_tag();
  const Script slow(
      "[ $1 = a ] && echo $$ >" + file +
      "; echo \"host $1\"; [ $1 = a ] || sleep 2; VIADUCT_HOST_KEY=$1 exec sh -c \"$2\"");
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a,b", "--keep-going", "--timeout", "20"}, tag, {"spread"},
                          slow.command()));
  ASSERT_TRUE(program.wait_for("host ", 2));
  for (int i = 1; !has(program.error_text(), "waiting for the agent of b\n"); ++i) {
    program.signal(SIGUSR1);
    ASSERT_TRUE(program.wait_for_error("no rank runs yet: waiting for the agent of", i));
  }
  pid_t agent = 0;
  std::ifstream(file) >> agent;
  ::unlink(file.c_str());
  ASSERT_GT(agent, 0);
  ::kill(agent, SIGKILL);
  const Result result = program.finish();
  EXPECT_EQ(result.code, 125) << result.err;
  EXPECT_TRUE(has(result.err, "host a: ")) << result.err;
  EXPECT_FALSE(has(result.err, "time limit")) << "the job has begun: " << result.err;
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

TEST(HostsFailure, AgentKilled) {
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a:2,b:2"}, tag, {"hang"}));
  ASSERT_TRUE(program.wait_for("ready", 4));
  pid_t rank_on_b = 0;
  for (const pid_t pid : driver::processes_with(tag)) {
    if (driver::name_of(pid) == "launcher_actor") rank_on_b = pid;
  }
  ASSERT_NE(rank_on_b, 0);
  ::kill(driver::parent_of(rank_on_b), SIGKILL);
  const Result result = program.finish();
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "its agent is gone; ranks ")) << result.err;
  EXPECT_TRUE(has(result.err, "[VIA-1013]")) << result.err;
}

/// The agent, with its watchdog or its supervisor or both.
TEST(HostsFailure, AgentKilledWithThoseThatWatchIt) {
  for (const int others : {1, 2, 3}) {
    const std::string tag = driver::new_tag();
    Program program(command({"--hosts", "a:2,b:2"}, tag, {"hang"}));
    ASSERT_TRUE(program.wait_for("ready", 4));
    pid_t agent = 0;
    for (const pid_t pid : driver::processes_with(tag)) {
      if (driver::name_of(pid) == "launcher_actor") agent = driver::parent_of(pid);
    }
    ASSERT_NE(agent, 0);
    const pid_t supervisor = driver::parent_of(agent);
    for (const pid_t pid : driver::children_of(supervisor)) {
      if ((others & 1) != 0 && driver::name_of(pid) == "viaduct-watch") ::kill(pid, SIGKILL);
    }
    if ((others & 2) != 0) ::kill(supervisor, SIGKILL);
    ::kill(agent, SIGKILL);
    const Result result = program.finish();
    EXPECT_TRUE(driver::all_gone(tag)) << "processes are left with " << others;
    EXPECT_EQ(result.code, 125) << result.err;
  }
}

TEST(HostsFailure, ViaductRunKilled) {
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a:2,b:2"}, tag, {"hang"}));
  ASSERT_TRUE(program.wait_for("ready", 4));
  program.signal(SIGKILL);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

TEST(HostsSignals, GoToAllRanks) {
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a:2,b:1"}, tag, {"hang"}));
  ASSERT_TRUE(program.wait_for("ready", 3));
  program.signal(SIGUSR1);
  ASSERT_TRUE(program.wait_for_error("waiting for a credit in", 3));
  program.signal(SIGTERM);
  const Result result = program.finish();
  EXPECT_EQ(result.code, 128 + SIGTERM) << result.err;
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

TEST(HostsSignals, ThatComeBeforeTheJobDoNotEndIt) {
  const Script slow(
      "echo \"host $1\"; [ $1 = a ] || sleep 2; VIADUCT_HOST_KEY=$1 exec sh -c \"$2\"");
  const std::string tag = driver::new_tag();
  Program program(command({"--hosts", "a,b"}, tag, {"spread"}, slow.command()));
  ASSERT_TRUE(program.wait_for("host ", 2));
  for (int i = 1; !has(program.error_text(), "waiting for the agent of b\n"); ++i) {
    program.signal(SIGUSR1);
    ASSERT_TRUE(program.wait_for_error("no rank runs yet: waiting for the agent of", i));
  }
  program.signal(SIGCONT);
  program.signal(SIGUSR2);
  const Result result = program.finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  Program hung_up(command({"--hosts", "a,b"}, tag, {"spread"}, slow.command()));
  ASSERT_TRUE(hung_up.wait_for("host ", 2));
  hung_up.signal(SIGHUP);
  EXPECT_EQ(hung_up.finish().code, 128 + SIGHUP);
}

TEST(HostsCommandLine, WhatDoesNotFitIsRefused) {
  const std::vector<std::pair<Words, std::string>> bad{
      {{"--hosts", "a:2,b"}, "give all hosts a number"},
      {{"--hosts", "a:0"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "a:x"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "a,,b"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "a,"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "-oProxyCommand=x"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "[-oProxyCommand=x]"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "[::1:2"}, "is not HOST or HOST:RANKS"},
      {{"--hosts", ""}, "is not HOST or HOST:RANKS"},
      {{"--hosts", "a:2,b:2", "-n", "3"}, "gives places for 4 ranks, -n says 3"},
      {{"--hosts", "a,b,c", "-n", "2"}, "fewer than the hosts"},
      {{"--hosts", "a", "--mode", "threads"}, "--mode threads is for one process"}};
  for (const auto& [options, sentence] : bad) {
    Words words = command(options, "tag", {"ok"});
    const Result result = Program(words).finish();
    EXPECT_EQ(result.code, 2) << sentence;
    EXPECT_TRUE(has(result.err, sentence)) << result.err;
  }
  for (const auto& [remote, sentence] :
       std::vector<std::pair<std::string, std::string>>{{"ssh 'x", "a quote is not closed"},
                                                        {"ssh \"x", "a quote is not closed"},
                                                        {"ssh \\", "a quote is not closed"},
                                                        {" ", "names no command"},
                                                        {"'' x", "names no command"}}) {
    const Result result = Program(command({"--hosts", "a"}, "tag", {"ok"}, remote)).finish();
    EXPECT_EQ(result.code, 2) << remote;
    EXPECT_TRUE(has(result.err, sentence)) << result.err;
  }
  const Result alone = Program({driver::viaduct_run(), "--address", "x", "/bin/true"}).finish();
  EXPECT_EQ(alone.code, 2) << alone.err;
  const Result agent = Program({driver::viaduct_run(), "--agent"}).finish();
  EXPECT_EQ(agent.code, 125);
}

}  // namespace
